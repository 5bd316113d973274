// @ts-check
// Which data is newer. Answers by the direct route reach the card without Streamlit, which may send the data
// of its last redraw again: after a change of theme, at another place of the page, or late.

/** @import { Data } from "./types.js" */

/**
 * State of this tab's screen, shared by its cards: a card that replaces another continues from there. drawing
 * : the latest redraw received from the page
 *
 * @type {{ data: Data, drawing: number } | null}
 */
let known = null;

/**
 * Content of the card after a redraw of the page.
 *
 * @param {Data} given
 * @returns {Data}
 */
export function newest(given) {
  const here = known && isSamePage(known.data, given) ? known : null;
  if (here && given.drawing <= here.drawing) return here.data; // nothing new
  if (!here || !isOlder(given, here.data)) return keep(given, given.drawing);
  // The page's data is older than the screen, but it holds the content that the card requested.
  const { turn, drawing, similar, panel, examples, saved } = given;
  const refused = turn !== here.data.turn && saved?.tone === "bad" ? { saved } : null;
  return keep({ ...here.data, turn, drawing, similar, panel, examples, ...refused }, given.drawing);
}

/**
 * Content of the card after the direct route's reply.
 *
 * @param {Data} shown by the card at the page's last redraw
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
