// @ts-check
// The files of the row that is likely to be asked next, fetched while no one waits for anything.

import { isLog } from "./sound.js";
import { addressOf } from "./spectrogram.js";

/** @import { Coming } from "./types.js" */

/** Bytes of a recording that are fetched ahead: of a longer one the player asks for what it needs. */
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
      // It is fetched when it is asked about.
    }
  });
}

/**
 * Into what the browser keeps, to its last byte.
 *
 * @param {string} address
 */
const into = async (address) => (await fetch(address, { priority: "low" })).blob();

/** @param {string} address */
async function lengthOf(address) {
  const answer = await fetch(address, { method: "HEAD", priority: "low" });
  return Number(answer.headers.get("content-length") ?? Number.POSITIVE_INFINITY);
}
