// @ts-check
// Panels that are filled on demand: examples of the classes, and the rows of a person's last answers.

import { closeButton, openDialog } from "./dialog.js";
import { make } from "./elements.js";
import { alone } from "./playing.js";
import { aboutOf } from "./similar.js";

/** @import { PanelRows, SimilarRow, State } from "./types.js" */

/** @param {State} state */
export function openExamples(state) {
  const dialog = openDialog(
    state,
    "examples",
    "Examples",
    make("h2", { text: "Examples of the classes" }),
    make("div", { class: "likes", "aria-live": "polite" }, make("p", { class: "quiet", text: "Looking…" })),
    make(
      "div",
      { class: "row" },
      closeButton(() => dialog.close()),
    ),
  );
  dialog.keys = (name, event) => {
    if (name !== "g" || !event.shiftKey) return false;
    dialog.close();
    return true;
  };
  want(state, "examples", fillExamples);
}

/**
 * Fills a panel now, or asks the server for its rows, which arrive as part of the card's data.
 *
 * @param {State} state
 * @param {string} what
 * @param {(state: State) => void} fill
 */
export function want(state, what, fill) {
  const { turn, height, token, panel } = state.data;
  const wanted = `${what} ${turn} ${height} ${token}`;
  state.wanted = wanted;
  if (panel?.wanted === wanted) fill(state);
  else state.send("panel", { wanted });
}

/**
 * Content for the open panel of this class; null if it is for another panel.
 *
 * @param {State} state
 * @param {string} name
 */
export const cameFor = ({ data: { panel }, wanted, dialog }, name) =>
  panel && dialog && panel.wanted === wanted && dialog.classList.contains(name) ? panel : null;

/** @param {State} state */
export function fillExamples(state) {
  const panel = cameFor(state, "examples");
  if (panel) state.dialog?.querySelector(".likes")?.replaceChildren(...listed(panel));
}

/** @param {PanelRows} panel */
function listed({ refused, rows }) {
  if (refused !== null || !rows.length)
    return [make("p", { text: refused ?? "No example can be shown next to this row." })];
  const labels = [...new Set(rows.map((row) => row.labels[0]))];
  return labels.map((label) =>
    make(
      "section",
      { class: "exemplified" },
      make("h3", { dir: "auto", text: label }),
      make(
        "ol",
        { class: "past" },
        ...rows
          .filter((row) => row.labels[0] === label)
          .map((row) =>
            make(
              "li",
              { class: "like" },
              ...look(row, row.note && make("p", { class: "because", dir: "auto", text: row.note })),
            ),
          ),
      ),
    ),
  );
}

/**
 * A row in a list, with its image, text and recording.
 *
 * @param {SimilarRow} row
 * @param {Parameters<typeof make>[2]} first what is above its text
 * @param {boolean} named whether its name is shown even if it has an image
 */
export const look = (row, first = null, named = true) => [
  ...(row.image ? [make("img", { class: "thumb", src: row.image, alt: `Image of row ${row.id}` })] : []),
  make(
    "div",
    { class: "told" },
    first,
    row.text && make("p", { class: "excerpt", dir: "auto", text: row.text }),
    row.audio &&
      alone(
        make("audio", { controls: true, preload: "none", src: row.audio, "aria-label": `Recording of row ${row.id}` }),
      ),
    (named || !(row.image || row.text || row.audio)) && make("span", { class: "about", text: aboutOf(row) }),
  ),
];
