// @ts-check
// The text of a row: in its own box, in a size that depends on its length, with parts highlighted.

import { make } from "./elements.js";

/** @import { View } from "./types.js" */

/** @typedef {{ start: number, end: number, strength: number }} Span characters of a text, and the strength of the highlight */
/** @typedef {{ text: string, strength: number }} Piece strength 0: not highlighted */

/** Characters of scripts without spaces: Thai and Lao, Myanmar, Khmer, kana, Han. */
const UNSPACED = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]/g;

/**
 * Size class of a text: the fewer words, the larger the type. Two characters of a script without spaces count
 * as a word.
 *
 * @param {string} text
 * @returns {"short" | "middle" | "long"}
 */
export function lengthOf(text) {
  const signs = text.match(UNSPACED)?.length ?? 0;
  const words = (text.replace(UNSPACED, " ").match(/\S+/g)?.length ?? 0) + signs / 2;
  if (words <= 40) return "short";
  return words <= 120 ? "middle" : "long";
}

/** Characters of the longest caption that is shown next to the row's name; a longer one is a text of its own. */
const ON_NAME = 40;

/**
 * Captions that fit next to the row's name.
 *
 * @param {View["caption"]} caption
 */
export const shortOf = (caption) => caption.filter(([, text]) => text.length <= ON_NAME);

/** @param {View["caption"]} caption */
const longOf = (caption) => caption.filter(([, text]) => text.length > ON_NAME);

/** @param {string} column */
const columnName = (column) => make("span", { class: "column", dir: "auto", text: column });

/**
 * Long captions: each is a text of its own below its column's name.
 *
 * @param {View} view
 */
export const contexts = ({ caption }) =>
  longOf(caption).map(([column, text]) => make("span", { class: "context", dir: "auto" }, columnName(column), text));

/**
 * The texts of the row, each in an element of its own. If there are several, or long captions above, each follows its
 * column's name. All look alike and keep the order of the file: people would prefer a larger one.
 *
 * @param {View} view
 * @param {(text: string) => HTMLElement} draw
 */
export const textsOf = ({ texts, caption, images, audio }, draw) => {
  const named = texts.length > 1 || (longOf(caption).length > 0 && !images.length && !audio);
  return texts.flatMap(([column, text]) => (named ? [columnName(column), draw(text)] : [draw(text)]));
};

/**
 * The texts of the row in a scrollable box, none without texts. The first letter of each sets its direction.
 *
 * @param {View} view
 */
export function reading(view) {
  if (!view.texts.length) return [];
  const size = lengthOf(view.texts.map(([, text]) => text).join(" "));
  const texts = textsOf(view, (text) => make("p", { class: `text ${size}`, dir: "auto", text }));
  return [
    make("div", { class: "reading", tabindex: "0", role: "region", "aria-label": "Text" }, make("div", {}, ...texts)),
  ];
}

/**
 * The text in highlighted and plain pieces. Overlapping highlights merge, with the stronger's strength.
 *
 * @param {string} text
 * @param {Span[]} spans in code points, some of which are two UTF-16 units
 * @returns {Piece[]}
 */
export function piecesOf(text, spans) {
  const signs = Array.from(text);
  const strengths = new Array(signs.length).fill(0);
  for (const { start, end, strength } of spans) {
    for (let at = start; at < Math.min(end, signs.length); at += 1) strengths[at] = Math.max(strengths[at], strength);
  }
  /** @type {Piece[]} */
  const pieces = [];
  for (const [at, sign] of signs.entries()) {
    const last = pieces.at(-1);
    if (last && last.strength > 0 === strengths[at] > 0) {
      last.text += sign;
      last.strength = Math.max(last.strength, strengths[at]);
    } else pieces.push({ text: sign, strength: strengths[at] });
  }
  return pieces;
}

/** From this strength on, a highlight is drawn twice as thick. */
const STRONG = 0.6;

/**
 * Highlights exactly these spans in the text.
 *
 * @param {Element} place the text's paragraph
 * @param {string} text
 * @param {Span[]} spans
 */
export function showMarks(place, text, spans) {
  place.replaceChildren(
    ...piecesOf(text, spans).map((piece) =>
      piece.strength > 0
        ? make("mark", { class: piece.strength >= STRONG ? "speaks most" : "speaks", text: piece.text })
        : piece.text,
    ),
  );
}
