// @ts-check
// Which of two data is the newer. Answers reach the card past Streamlit, which keeps what it drew last and hands it to the
// card again: for another theme, in another place of the page, or late.

/** @import { Data } from "./types.js" */

/**
 * State of a tab's screen, for any of its cards: one that is put instead of another continues from there.
 * drawing : the latest of the page that has come
 *
 * @type {{ data: Data, drawing: number } | null}
 */
let known = null;

/**
 * Content of the card after the page was drawn.
 *
 * @param {Data} given
 * @returns {Data}
 */
export function newest(given) {
  const here = known && isSamePage(known.data, given) ? known : null;
  if (here && given.drawing <= here.drawing) return here.data; // no news
  if (!here || !isOlder(given, here.data)) return keep(given, given.drawing);
  // The page's drawing is older than the screen; what else it was asked for is not.
  const { turn, drawing, similar, panel, examples, saved } = given;
  const refused = turn !== here.data.turn && saved?.tone === "bad" ? { saved } : null;
  return keep({ ...here.data, turn, drawing, similar, panel, examples, ...refused }, given.drawing);
}

/**
 * Content of the card after the route's reply.
 *
 * @param {Data} shown by the card, as the page has drawn it last
 * @param {Partial<Data>} told
 * @returns {Data}
 */
export function after(shown, told) {
  const data = { ...shown, ...told };
  if (!isOlder(data, shown)) return keep(data, shown.drawing);
  return told.saved?.tone === "bad" ? keep({ ...shown, saved: told.saved }, shown.drawing) : shown;
}

/**
 * @param {Data} data
 * @param {number} drawing
 */
function keep(data, drawing) {
  known = { data, drawing };
  return data;
}

/**
 * @param {Data} one
 * @param {Data} other
 */
const isSamePage = (one, other) => one.tab === other.tab && one.project === other.project;

/**
 * @param {Data} one
 * @param {Data} other
 */
const isOlder = (one, other) => one.height !== null && other.height !== null && one.height < other.height;
