// @ts-check
// Settings of the card, stored in the browser; if it stores nothing, they last until the page is closed.

const BEGIN = "winnow-";

/** @type {Map<string, boolean>} */
const here = new Map();

/**
 * @param {string} name
 * @returns {boolean} false if it was never set
 */
export function isOn(name) {
  try {
    return here.get(name) ?? localStorage.getItem(BEGIN + name) === "on";
  } catch {
    return false;
  }
}

/**
 * @param {string} name
 * @param {boolean} on
 */
export function setOn(name, on) {
  here.set(name, on);
  try {
    localStorage.setItem(BEGIN + name, on ? "on" : "off");
  } catch {
    // The browser's settings forbid storage.
  }
}
