// @ts-check
// The answer history that every kind's card opens over itself. It is not sent with the question but requested
// by its key.

import { make } from "./elements.js";
import { cameFor, look, want } from "./examples.js";
import { closeButton, closedBy, openDialog } from "./panels.js";
import { press } from "./posting.js";

/** @import { Given, State } from "./types.js" */

/** Answers that the history shows with their rows. */
const LAST = 10;

/** @param {State} state */
export function openHistory(state) {
  const dialog = openDialog(
    state,
    "history",
    "Your last answers",
    make("h2", { text: "Your last answers" }),
    make("div", { class: "list", "aria-live": "polite" }, make("p", { class: "quiet", text: "Looking…" })),
    make(
      "div",
      { class: "row" },
      closeButton(() => dialog.close()),
    ),
  );
  dialog.keys = closedBy("h", () => dialog.close());
  want(state, "history", fillHistory);
}

/**
 * Puts the server's response into the history, if it is open and still waits for it.
 *
 * @param {State} state
 */
export function fillHistory(state) {
  const panel = cameFor(state, "history");
  const list = state.dialog?.querySelector(".list");
  if (!panel || !list) return;
  const { refused, given, rows } = panel;
  if (refused !== null || !given.length) {
    list.replaceChildren(make("p", { text: refused ?? "You have not answered here yet." }));
    return;
  }
  list.replaceChildren(make("ol", { class: "past" }, ...given.map((one, place) => line(state, one, place))));
  for (const row of rows)
    list.querySelector(`.look[data-seq="${row.seq}"]`)?.replaceChildren(...look(row, null, false));
}

/**
 * @param {State} state
 * @param {Given} one
 * @param {number} place in the list
 */
function line(state, one, place) {
  const back = one.withdrawn;
  const button = make(
    "button",
    {
      class: "action",
      type: "button",
      disabled: back && !one.redoable,
      "aria-label": `${back ? "Redo" : "Undo"}: ${one.words}`,
      title: back && !one.redoable ? "Answered again, or the row's candidates have changed" : null,
      onclick: () => {
        state.dialog?.close();
        press(state, null, back ? "redo" : "undo", [], one.seq);
      },
    },
    make("span", { text: back ? "Redo" : "Undo" }),
  );
  return make(
    "li",
    { class: back ? "back" : "" },
    make(
      "div",
      { class: "told" },
      make("span", { class: "words", text: one.words }),
      place < LAST && make("div", { class: "look", "data-seq": one.seq }),
      back && make("span", { class: "about", text: "taken back" }),
      one.flagged && make("span", { class: "about", text: "flagged" }),
      one.note && make("span", { class: "about", text: `“${one.note}”` }),
    ),
    make(
      "div",
      { class: "either" },
      place < LAST &&
        make(
          "button",
          {
            class: "action",
            type: "button",
            "aria-label": `Open: ${one.words}`,
            title: "Open the row on the Review page, with all your answers to it",
            onclick: () => {
              state.dialog?.close();
              press(state, null, "open", [], one.seq);
            },
          },
          make("span", { text: "Open" }),
        ),
      button,
    ),
  );
}
