// @ts-check
// The cells of a list of rows, one function per column, and parts shared with the facts in the drawer.

import { drawing, initials, make, percentOf } from "../card/elements.js";
import { moment } from "../card/words.js";

/** @import { ColumnName, Line } from "./types.js" */

/** @type {Record<ColumnName, (line: Line, zone: string) => (Node | string)[]>} */
export const CELLS = {
  shares: ({ shares = [], more = 0 }) => sharesOf(shares, more),
  words: ({ words = "" }) => [words],
  near: ({ near = "" }) => [near],
  answer({ answer }) {
    if (!answer) return [];
    const { mark, words, flagged, note } = answer;
    return [
      make("span", { class: `state ${mark}`, dir: "auto", text: words }),
      ...(flagged ? [make("span", { class: "flag" }, flagMark(), "Flagged")] : []),
      ...(note ? [make("span", { class: "remark", dir: "auto", title: note, text: note })] : []),
    ];
  },
  predicted: ({ predicted }) =>
    predicted?.words
      ? [make("span", { class: predicted.differs ? "chip" : "quiet", dir: "auto", text: predicted.words })]
      : [make("span", { class: "quiet", text: "–", title: "The model made no prediction" })],
  person: ({ person = "" }) => [initials(person), make("span", { class: "who", dir: "auto", text: person })],
  at: ({ at = "" }, zone) => [moment(at, zone)],
};

/**
 * A bar of the largest shares, with their labels below.
 *
 * @param {[string, number | null][]} shares
 * @param {number} more
 */
function sharesOf(shares, more) {
  const words = shares.flatMap(([label, share], place) => [
    place ? " · " : "",
    make(place ? "span" : "b", { dir: "auto", text: label }),
    share === null ? "" : ` ${percentOf(share)}%`,
  ]);
  const bar = shares.filter(([, share]) => share !== null);
  return [
    ...(bar.length
      ? [
          make(
            "span",
            { class: "bar", "aria-hidden": "true" },
            ...bar.map(([, share]) => make("i", { style: `width:${100 * (share ?? 0)}%` })),
          ),
        ]
      : []),
    make("span", { class: "labels" }, ...words.slice(1), more > 0 && ` · ${more} more`),
  ];
}

/**
 * @param {string} id
 * @param {() => void} play
 */
export const playMark = (id, play) =>
  make(
    "button",
    { class: "play", type: "button", tabindex: "-1", "aria-label": `Play row ${id}`, onclick: play },
    drawing("M5 3v10l8-5z", "fill"),
  );

const flagMark = () => drawing("M3.5 15V2h8l-2 3 2 3h-8", "stroke");
