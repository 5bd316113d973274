// @ts-check
// The cells of a list of rows, one function a column, and what they share with the facts in the drawer.

import { make, percentOf } from "../card/elements.js";

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
 * A bar of the largest shares, and their labels under it.
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

/** @param {string} name */
export function initials(name) {
  const text = name
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => [...word][0] ?? "")
    .join("");
  return make("span", { class: "initials", "aria-hidden": "true", text: text.toUpperCase() });
}

const UNITS = /** @type {const} */ ([
  [60, 1, "s"],
  [3600, 60, "min"],
  [86400, 3600, "h"],
]);

/**
 * How long ago it was; null for a day and more.
 *
 * @param {number} seconds
 */
export function ago(seconds) {
  const unit = UNITS.find(([limit]) => seconds < limit);
  return unit ? `${Math.max(1, Math.round(seconds / unit[1]))} ${unit[2]} ago` : null;
}

/**
 * A moment: how long ago it was within a day, else the date. Its title has it in full, with the time zone.
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

/**
 * A line drawing of 16 by 16 points.
 *
 * @param {string} path
 * @param {"fill" | "stroke"} how
 */
export function drawing(path, how = "stroke") {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("d", path);
  svg.append(line);
  for (const [name, value] of Object.entries({ viewBox: "0 0 16 16", class: how, "aria-hidden": "true" }))
    svg.setAttribute(name, value);
  return svg;
}
