// @ts-check
// Prefetches the files of the likely next row while the browser is idle.

import { isLog } from "./sound.js";
import { addressOf } from "./spectrogram.js";

/** @import { Coming } from "./types.js" */

/** Maximum size in bytes of a prefetched recording; the player requests parts of a longer one as needed. */
const MOST = 8_000_000;

/**
 * Files of a row that are fetched without a size check.
 *
 * @param {Coming} row
 * @param {boolean} log
 */
export const addressesOf = ({ images, audio, segment }, log) => [
  ...images,
  ...(audio ? [addressOf(audio, segment, log)] : []),
];

/** @param {Coming} row */
export function fetchAhead(row) {
  const later = window.requestIdleCallback ?? ((/** @type {() => void} */ does) => setTimeout(does, 300));
  later(async () => {
    try {
      for (const address of addressesOf(row, isLog())) await into(address);
      if (row.audio && (await lengthOf(row.audio)) <= MOST) await into(row.audio);
    } catch {
      // It is fetched with its question.
    }
  });
}

/**
 * Into the browser's cache, to the last byte.
 *
 * @param {string} address
 */
const into = async (address) => (await fetch(address, { priority: "low" })).blob();

/** @param {string} address */
async function lengthOf(address) {
  const answer = await fetch(address, { method: "HEAD", priority: "low" });
  return Number(answer.headers.get("content-length") ?? Number.POSITIVE_INFINITY);
}
