// @ts-check
// Times in words.

import { make } from "./elements.js";

const UNITS = /** @type {const} */ ([
  [60, 1, "s"],
  [3600, 60, "min"],
  [86400, 3600, "h"],
]);

/**
 * Time since then; null for a day and more.
 *
 * @param {number} seconds
 */
export function ago(seconds) {
  const unit = UNITS.find(([limit]) => seconds < limit);
  return unit ? `${Math.max(1, Math.round(seconds / unit[1]))} ${unit[2]} ago` : null;
}

/**
 * A time: how long ago within a day, else the date. Its title has the full time with the time zone.
 *
 * @param {string} at
 * @param {string} zone
 */
export function moment(at, zone) {
  const words = ago((Date.now() - Date.parse(at)) / 1000) ?? date(at, zone);
  return make("time", { datetime: at, title: `${date(at, zone)} (${zone})`, text: words });
}

/**
 * @param {string} at
 * @param {string} zone
 */
export const date = (at, zone) =>
  new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone: zone }).format(new Date(at));
