// @ts-check
// Facts about an open row: the shares of its candidates, and every entry about it.

import { initials, make, percentOf } from "../card/elements.js";
import { date } from "../card/words.js";

/** @import { Component } from "../card/types.js" */
/** @import { Entry, Facts } from "./types.js" */

/** @param {Component<Facts>} component */
export default function facts({ parentElement, data: { shares, notes, history, zone } }) {
  const place = parentElement.querySelector(".facts") ?? make("div", { class: "facts" });
  /** @type {HTMLElement[]} */
  const parts = [];
  if (shares.length)
    parts.push(make("h3", { text: "Candidates" }), make("ul", { class: "shares" }, ...shares.map(bar)));
  parts.push(...notes.map((text) => make("p", { class: "note", text })));
  if (history?.length)
    parts.push(
      make("h3", { text: "History" }),
      make("ol", { class: "history" }, ...history.map((one) => entry(one, zone))),
      make("p", { class: "note", text: `Corrections are added, nothing is overwritten. Times: ${zone}.` }),
    );
  else if (history) parts.push(make("h3", { text: "History" }), make("p", { class: "note", text: "No answers yet." }));
  place.replaceChildren(...parts);
  parentElement.append(place);
}

/** @param {[string, number]} candidate */
const bar = ([label, share]) =>
  make(
    "li",
    {},
    make("span", { class: "label", dir: "auto", text: label }),
    make("span", { class: "bar", "aria-hidden": "true" }, make("i", { style: `width:${100 * share}%` })),
    make("span", { class: "percent", text: `${percentOf(share)}%` }),
  );

/**
 * @param {Entry} entry
 * @param {string} zone
 */
const entry = ({ person, words, at, details }, zone) =>
  make(
    "li",
    {},
    initials(person),
    make(
      "div",
      {},
      make("p", {}, make("b", { dir: "auto", text: person }), " ", make("span", { dir: "auto", text: words })),
      make("p", { class: "note" }, make("time", { datetime: at, text: date(at, zone) })),
      ...details.map(([name, value]) => make("p", { class: "note", dir: "auto", text: `${name}: ${value}` })),
    ),
  );
