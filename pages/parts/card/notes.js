// @ts-check
// Note and flag: held with the question until it is answered, and stored with the answer.

import { find, make } from "./elements.js";
import { activeIn, say } from "./state.js";

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
    placeholder: `A note, stored with your answer.${matchMedia("(hover: none)").matches ? "" : " Escape goes back to the keys."}`,
    oninput: () => {
      state.note = field.value;
    },
  });
  field.value = state.note;
  field.hidden = !state.note;
  return field;
}

/**
 * Cursor selection in the note of this question, which is about to be redrawn; null if its note is not
 * focused. Without restoring it, the next letters would act as keys of the card.
 *
 * @param {State} state
 * @param {string | null} name of the question
 * @returns {[number, number] | null}
 */
export function typedAt(state, name) {
  const field = /** @type {HTMLTextAreaElement | null} */ (state.holder.querySelector(".note"));
  if (!field || field !== activeIn(state)) return null;
  const of = /** @type {HTMLElement | null} */ (field.closest(".card"))?.dataset.question;
  return of === (name ?? "") ? [field.selectionStart, field.selectionEnd] : null;
}

/**
 * @param {State} state
 * @param {[number, number] | null} at what is selected in it, if someone was typing
 */
export function openNote(state, at = null) {
  const field = /** @type {HTMLTextAreaElement} */ (find(state.holder, ".note"));
  field.hidden = false;
  find(state.holder, "[data-key=t]").setAttribute("aria-expanded", "true");
  field.focus({ preventScroll: at !== null });
  if (at) field.setSelectionRange(...at);
}
