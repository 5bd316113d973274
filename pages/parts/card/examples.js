// @ts-check
// Panels that are filled on demand: examples of the classes, and the rows of one's last answers.

import { closeButton, openDialog } from "./dialog.js";
import { make } from "./elements.js";
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
  want(state, "examples");
}

/**
 * Fills a panel now, or asks the server for its rows as they are at this drawing of the card.
 *
 * @param {State} state
 * @param {string} what
 */
export function want(state, what) {
  const wanted = `${what} ${state.data.turn}`;
  if (state.data.panel?.wanted === wanted) fillPanel(state);
  else state.send("panel", { wanted });
}

/**
 * Puts what the server has sent into the panel that is open, where that is what it wants.
 *
 * @param {State} state
 */
export function fillPanel({ data: { panel, turn }, dialog }) {
  if (!panel || !dialog) return;
  if (panel.wanted === `examples ${turn}` && dialog.classList.contains("examples"))
    dialog.querySelector(".likes")?.replaceChildren(...listed(panel));
  if (panel.wanted === `history ${turn}` && dialog.classList.contains("history"))
    for (const row of panel.rows)
      dialog.querySelector(`.look[data-seq="${row.seq}"]`)?.replaceChildren(...look(row, null, false));
}

/** @param {PanelRows} panel */
function listed({ refused, rows }) {
  if (refused !== null || !rows.length)
    return [make("p", { text: refused ?? "No example can be shown beside this row." })];
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
 * A row as it is seen, read and heard in a list.
 *
 * @param {SimilarRow} row
 * @param {Parameters<typeof make>[2]} first what stands above its text
 * @param {boolean} named whether its name is said even where there is something to see
 */
const look = (row, first = null, named = true) => [
  ...(row.image ? [make("img", { class: "thumb", src: row.image, alt: `Image of row ${row.id}` })] : []),
  make(
    "div",
    { class: "told" },
    first,
    row.text && make("p", { class: "excerpt", dir: "auto", text: row.text }),
    row.audio &&
      make("audio", { controls: true, preload: "none", src: row.audio, "aria-label": `Recording of row ${row.id}` }),
    (named || !(row.image || row.text || row.audio)) && make("span", { class: "about", text: aboutOf(row) }),
  ),
];
