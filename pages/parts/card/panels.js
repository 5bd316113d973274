// @ts-check
// The key help that every kind's card opens over itself.

import { key, make } from "./elements.js";
import { roomOf } from "./state.js";

/** @import { Panel, State } from "./types.js" */

// Panels over the card, one at a time. Escape closes each.

/**
 * @param {State} state
 * @param {string} name its class
 * @param {string} title
 * @param {Parameters<typeof make>[2][]} children
 * @returns {Panel}
 */
export function openDialog(state, name, title, ...children) {
  state.dialog?.close();
  /** @type {Panel} */
  const dialog = make("dialog", { class: `panel ${name}`, "aria-label": title }, ...children);
  dialog.onclose = () => {
    dialog.remove();
    if (state.dialog === dialog) state.dialog = null;
  };
  dialog.onpointerdown = (event) => {
    if (event.target === dialog) dialog.close(); // a click outside
  };
  state.dialog = dialog;
  state.over.append(dialog);
  dialog.showModal();
  return dialog;
}

/** @param {() => void} close */
export const closeButton = (close) =>
  make(
    "button",
    { class: "action", type: "button", autofocus: true, onclick: close },
    key("Esc"),
    make("span", { text: "Close" }),
  );

/**
 * Last lines of every key help.
 *
 * @type {[string, string][]}
 */
export const COMMON_KEYS = [
  ["H", "Your last ten answers with their rows, and the earlier ones"],
  [", (comma)", "The answered rows most like this one"],
  ["T / F", "Note, flag: stored with the answer"],
  ["Z", "Zoom into the image; wheel or + and −, arrows move it, B shows it brighter"],
  ["Shift + Z", "Show or hide the boxes of a detector, if the picture has any"],
  ["← / →", "The other pictures of the row; zoomed in, comma and full stop"],
  ["P", "Play or pause the recording, or the segment asked about"],
  ["R / L / −", "Play it again, loop it, at half speed"],
  ["← / →", "Half a second back or forward in the recording"],
  ["G", "Guidelines, if the owner has written any"],
  ["Shift + G", "Examples of the classes, if the owner has marked any"],
  ["Shift + P", "Take a break: the question is hidden and its clock stops"],
  ["Tab", "Move to the next button; Enter clicks it"],
  ["? / Esc", "Show these keys; close the open panel"],
];

/** @param {State} state */
export function openKeys(state) {
  const dialog = openDialog(
    state,
    "sheet",
    "Keys",
    make("h2", { text: "Keys" }),
    make(
      "dl",
      { class: "sheet", tabindex: "0" }, // can be scrolled with the arrow keys
      ...roomOf(state).keys.flatMap(([name, does]) => [
        make("dt", {}, make("kbd", { text: name })),
        make("dd", { text: does }),
      ]),
    ),
    make(
      "div",
      { class: "row" },
      closeButton(() => dialog.close()),
    ),
  );
  dialog.keys = closedBy("?", () => dialog.close());
}

/**
 * @param {string} its the key that opened it, which also closes it
 * @param {() => void} close
 * @returns {(name: string) => boolean}
 */
export const closedBy = (its, close) => (name) => {
  if (name !== its) return false;
  close();
  return true;
};
