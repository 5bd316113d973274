// @ts-check
// Seconds of a recording in words.

/** @import { Segment } from "./types.js" */

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
