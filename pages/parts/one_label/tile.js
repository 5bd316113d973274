// @ts-check
// One tile of the rows that are confirmed together: a summary of the row, on the button that excludes it.

import { key, make, percentOf } from "../card/elements.js";
import { contexts } from "../card/reading.js";
import { sound } from "../card/sound.js";

/** @import { Tile } from "./types.js" */

/** Features that a tile shows; the zoomed view has all. */
const FEW = 6;

/**
 * @param {Tile} tile
 * @param {string} label of the batch
 * @param {boolean} out whether the row is excluded
 * @param {{ take: (out: boolean) => void, closer: () => void }} does take: excludes or includes the row; closer: opens the zoomed view
 */
export function drawTile({ key: its, row, share, view }, label, out, does) {
  const percent = `${percentOf(share)}%`;
  const about = `tile-${row}`;
  const tick = make(
    "button",
    {
      class: "tick",
      type: "button",
      "data-key": its,
      "data-row": row,
      "aria-keyshortcuts": its || null,
      "aria-pressed": String(out),
      "aria-label": `Exclude row ${view.id}; the model's share of ${label} is ${percent}`,
      // The aria-label replaces the button's content, which is therefore read as its description.
      "aria-describedby": about,
      onclick: () => does.take(tick.getAttribute("aria-pressed") !== "true"),
    },
    make(
      "span",
      { class: "corner" },
      its ? key(its.toUpperCase()) : make("span"),
      make("span", { class: "out-words", text: "asked alone" }),
      make("span", { class: "share", text: percent }),
    ),
    content(view, about),
  );
  const nearer = make("button", {
    class: "closer",
    type: "button",
    text: "⤢",
    "aria-label": `Enlarge row ${view.id}`,
    title: "Zoom (Z)",
    onclick: does.closer,
  });
  const player = view.audio && sound(view, { keyed: false, eager: false }).element;
  return make("div", { class: view.audio && !view.images.length ? "tile heard" : "tile" }, tick, player, nearer);
}

/**
 * A summary of a row.
 *
 * @param {Tile["view"]} view
 * @param {string} id of the element
 */
function content(view, id) {
  if (view.images.length) {
    const alt = ["Image", ...view.caption.map((pair) => pair.join(": "))].join(", ");
    return make("img", { class: "seen", id, src: view.images[0], alt, decoding: "async" });
  }
  if (view.text) return make("span", { class: "read", id, dir: "auto" }, ...contexts(view), view.text);
  if (view.audio) return make("span", { id, hidden: true, text: "A recording: P plays it" });
  const few = view.features
    .slice(0, FEW)
    .map(([name, value]) =>
      make(
        "span",
        { class: "feature" },
        make("span", { class: "quiet", text: name }),
        " ",
        make("span", { text: value || "–" }),
      ),
    );
  return make("span", { class: "few", id }, make("span", { class: "quiet", text: `Row ${view.id}` }), ...few);
}
