// @ts-check
// Panels that are filled on demand: examples of the classes, and the rows of a person's last answers.

import { find, make } from "./elements.js";
import { closeButton, openDialog } from "./panels.js";
import { alone } from "./sound.js";

/** @import { PanelRows, SimilarRow, State } from "./types.js" */

// The answered rows most similar to the one on screen. They are not sent with the question but requested by a
// key.

/** @param {State} state */
export function openSimilar(state) {
  const { token } = state.data;
  if (!token) return;
  const dialog = openDialog(
    state,
    "similar",
    "Similar answered rows",
    make("h2", { text: "Similar answered rows" }),
    make("div", { class: "likes", "aria-live": "polite" }, make("p", { class: "quiet", text: "Looking…" })),
    make(
      "div",
      { class: "row" },
      closeButton(() => dialog.close()),
    ),
  );
  dialog.keys = (name) => {
    if (name !== ",") return false;
    dialog.close();
    return true;
  };
  if (state.data.similar?.token === token) fillSimilar(state);
  else state.send("similar", { token });
}

/**
 * Puts the server's response into the open panel, if it is about the question on screen.
 *
 * @param {State} state
 */
export function fillSimilar(state) {
  const { similar, token } = state.data;
  if (!similar || similar.token !== token || !state.dialog?.classList.contains("similar")) return;
  const place = find(state.dialog, ".likes");
  if (similar.refused !== null || !similar.rows.length) {
    place.replaceChildren(make("p", { text: similar.refused ?? "No answered row can be compared with this one yet." }));
  } else place.replaceChildren(make("ol", { class: "past" }, ...similar.rows.map(line)));
}

/** @param {SimilarRow} row */
const line = (row) =>
  make(
    "li",
    { class: "like" },
    row.image && make("img", { class: "thumb", src: row.image, alt: `Image of row ${row.id}` }),
    make(
      "div",
      { class: "told" },
      make("strong", { dir: "auto", text: row.labels.join(", ") }),
      row.text && make("p", { class: "excerpt", dir: "auto", text: row.text }),
      row.audio &&
        alone(
          make("audio", {
            controls: true,
            preload: "none",
            src: row.audio,
            "aria-label": `Recording of row ${row.id}`,
          }),
        ),
      make("span", { class: "about", text: aboutOf(row) }),
    ),
  );

/**
 * The row's name and, without text, image or recording, its first features.
 *
 * @param {Pick<SimilarRow, "id" | "text" | "image" | "audio" | "features">} row
 */
export function aboutOf({ id, text, image, audio, features }) {
  const shown = text || image || audio ? [] : features.map(([name, value]) => `${name} ${value || "–"}`);
  return [`Row ${id}`, ...shown].join(" · ");
}

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
