// @ts-check
// Words of the card: times, spans of sound, and text compared without case and accents.

import { make } from "./elements.js";

/** @import { Segment } from "./types.js" */

// Times in words.

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

// Seconds of a recording in words.

/**
 * Duration of a recording: `8.5 s`, `5 min`, `1 h 2 min`.
 *
 * @param {number} seconds
 */
export function lengthWords(seconds) {
  if (seconds < 60) return `${Number(seconds.toFixed(1))} s`;
  const all = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(all / 3600), Math.floor((all % 3600) / 60), all % 60];
  const parts = hours ? [`${hours} h`, minutes && `${minutes} min`] : [`${minutes} min`, rest && `${rest} s`];
  return parts.filter(Boolean).join(" ");
}

/**
 * Segment of a recording, `14.0 to 17.0 s of 5 min`, or its whole duration.
 *
 * @param {Segment | null} segment
 * @param {number | null} seconds of the whole, null if unknown
 */
export function spanWords(segment, seconds) {
  const whole = seconds === null ? "" : lengthWords(seconds);
  if (!segment) return whole;
  const [start, end] = segment;
  const from = (start ?? 0).toFixed(1);
  const part = end === null ? `from ${from} s on` : `${from} to ${end.toFixed(1)} s`;
  return whole ? `${part} of ${whole}` : part;
}

// Text as a search compares it: without accents, ignoring case. `workflow/rows/finding.py` does the same.

/**
 * Lower-case letters that Unicode does not decompose, and their usual substitutes.
 *
 * @type {Record<string, string>}
 */
const LETTERS = { ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ð: "d", þ: "th", ħ: "h", ı: "i", ς: "σ" };

/** @param {string} text */
export const folded = (text) =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, "")
    .replace(/[ßæœøłđðþħıς]/g, (letter) => LETTERS[letter]);

/**
 * Whether a text holds all words of a query, in any order.
 *
 * @param {string} sought the text, folded
 * @param {string} query as typed
 */
export const holdsWords = (sought, query) =>
  folded(query)
    .split(/\s+/)
    .every((word) => sought.includes(word));
