// @ts-check
// Note and flag: kept with the question until it is answered, and stored with the answer.

import { find, make } from "./elements.js";
import { say } from "./state.js";

/** @import { State } from "./types.js" */

/**
 * @param {State} state
 * @param {boolean} on
 */
export function setFlag(state, on) {
  state.flagged = on;
  find(state.holder, "[data-key=f]").setAttribute("aria-pressed", String(on));
  say(state, on ? "Flagged; it is stored with your answer." : "The flag is removed.");
}

/** @param {State} state */
export function noteField(state) {
  const field = make("textarea", {
    class: "note",
    rows: "2",
    maxlength: "2000",
    "aria-label": "Note",
    placeholder: "A note, stored with your answer. Escape goes back to the keys.",
    oninput: () => {
      state.note = field.value;
    },
  });
  field.value = state.note;
  field.hidden = !state.note;
  return field;
}

/** @param {State} state */
export function openNote(state) {
  const field = find(state.holder, ".note");
  field.hidden = false;
  find(state.holder, "[data-key=t]").setAttribute("aria-expanded", "true");
  field.focus();
}
