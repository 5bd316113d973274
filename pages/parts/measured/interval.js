// @ts-check
// A figure as a dot with its 95% interval, on an axis that all lines of a table share.

import { make, percentOf } from "../card/elements.js";

/** @import { Measured } from "./types.js" */

/** @typedef {readonly [low: number, high: number]} Axis */

/**
 * Where a value is on the axis, in per cent of its width.
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
 * A share in words, with its interval; a dash and the count so far while it is unknown.
 *
 * @param {Measured} measured
 * @param {string} unit of what is counted
 */
export function shareWords({ value, low, high, of, needed }, unit) {
  if (value === null) return make("span", { class: "words unknown" }, `– ${of} of ${needed} ${unit}`);
  const range = low === null || high === null ? null : `${percentOf(low)} to ${percentOf(high)}`;
  return make(
    "span",
    { class: "words" },
    make("b", { text: `${percentOf(value)}%` }),
    range && " ",
    range && make("span", { class: "range", title: "95% confidence interval", text: range }),
  );
}
