// @ts-check
// The answered rows most similar to the one on screen. They are not sent with the question but requested by a
// key.

import { closeButton, openDialog } from "./dialog.js";
import { find, make } from "./elements.js";
import { alone } from "./playing.js";

/** @import { SimilarRow, State } from "./types.js" */

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
