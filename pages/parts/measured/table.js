// @ts-check
// Parts of the tables of people and models: a figure as a dot with its 95% interval on an axis shared by all
// lines, buttons, and redrawing only what has changed.

import { make, percentOf } from "../card/elements.js";

/** @import { Measured } from "./types.js" */

/** @typedef {readonly [low: number, high: number]} Axis */

/**
 * Position of a value on the axis, in per cent of its width.
 *
 * @param {number} value
 * @param {Axis} axis
 */
export const placeOn = (value, [low, high]) => `${Math.min(100, Math.max(0, ((value - low) / (high - low)) * 100))}%`;

/**
 * @param {Measured} measured
 * @param {{ axis?: Axis, goal?: number | null, look?: string }} [how] look : "hollow", "bad"
 */
export function dot({ value, low, high }, { axis = [0, 1], goal = null, look = "" } = {}) {
  const line = make("span", { class: `interval ${look}`, "aria-hidden": "true" });
  if (goal !== null) line.append(make("s", { style: `left:${placeOn(goal, axis)}` }));
  if (value === null) return line;
  if (low !== null && high !== null) {
    const width = Number.parseFloat(placeOn(high, axis)) - Number.parseFloat(placeOn(low, axis));
    line.append(make("u", { style: `left:${placeOn(low, axis)};width:${width}%` }));
  }
  line.append(make("i", { style: `left:${placeOn(value, axis)}` }));
  return line;
}

/**
 * A share in words, with its interval; while it is unknown, a dash and the count so far.
 *
 * @param {Measured} measured
 */
export function shareWords({ value, low, high, sofar }) {
  if (value === null) return make("span", { class: "words unknown", text: `– ${sofar}` });
  const range = low === null || high === null ? null : `${percentOf(low)} to ${percentOf(high)}`;
  return make(
    "span",
    { class: "words" },
    make("b", { text: `${percentOf(value)}%` }),
    range && " ",
    range && make("span", { class: "range", title: "95% confidence interval", text: range }),
  );
}

/**
 * @param {string} text
 * @param {() => void} onclick
 * @param {string} [look]
 * @param {string} [name] for screen readers, if the text is not enough
 */
export const button = (text, onclick, look = "", name = "") =>
  make("button", { type: "button", class: `button ${look}`, text, onclick, "aria-label": name || null });

const PRESSED = "button, summary, a[href]";

/** @typedef {(name: string, value: unknown) => void} Send */

/**
 * Content of each place, and the current callback of its buttons.
 *
 * @type {WeakMap<Node, { said: string, send: Send }>}
 */
const drawn = new WeakMap();

/**
 * Redraws the parts if the data has changed; open details and the keyboard focus are preserved.
 *
 * @param {ParentNode & Node} root
 * @param {string} look class of what is drawn
 * @param {unknown} data
 * @param {Send} send
 * @param {(send: Send) => (Node | string | false | null | undefined | 0)[]} parts
 */
export function drawAgain(root, look, data, send, parts) {
  const said = JSON.stringify(data);
  const before = drawn.get(root);
  drawn.set(root, { said, send });
  if (before?.said === said) return;
  const old = root.querySelector(`.${look}`);
  const open = new Set([...(old?.querySelectorAll("details[open]") ?? [])].map((one) => one.id));
  const next = make("div", { class: look }, ...parts((name, value) => drawn.get(root)?.send(name, value)));
  for (const one of next.querySelectorAll("details")) one.open = open.has(one.id);
  const { activeElement } = /** @type {Document | ShadowRoot} */ (root.getRootNode());
  const place = activeElement ? [...(old?.querySelectorAll(PRESSED) ?? [])].indexOf(activeElement) : -1;
  if (old) old.replaceWith(next);
  else root.append(next);
  /** @type {HTMLElement | undefined} */ (next.querySelectorAll(PRESSED)[place])?.focus();
}
