// @ts-check
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
