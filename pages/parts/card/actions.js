// @ts-check
// The buttons under a question: answers without a label, then undo and redo, notes and help.

import { find, key, make } from "./elements.js";
import { openSimilar } from "./examples.js";
import { openHistory } from "./history.js";
import { openKeys } from "./panels.js";
import { press } from "./posting.js";
import { activeIn, say } from "./state.js";

/** @import { EntryKind, State } from "./types.js" */

// Note and flag: held with the question until it is answered, and stored with the answer.

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

/**
 * @param {string} name the button's key, which may begin with "Shift+"
 * @param {string} text
 * @param {() => void} does
 * @param {Record<string, unknown>} more attributes
 */
export function actionButton(name, text, does, more = {}) {
  const shifted = name.startsWith("Shift+");
  const its = name.replace("Shift+", "");
  return make(
    "button",
    {
      class: "action",
      type: "button",
      [shifted ? "data-shift" : "data-key"]: its,
      "aria-keyshortcuts": name,
      onclick: does,
      ...more,
    },
    key((shifted ? "⇧" : "") + its.toUpperCase()),
    make("span", { text }),
  );
}

/** Style of buttons that stay in sight on a phone, if there is room for four. */
export const NEAR = { class: "action near" };

/**
 * An answer without a label.
 *
 * @param {State} state
 * @param {string} name its key
 * @param {EntryKind} kind
 * @param {string} text
 * @param {Record<string, unknown>} more attributes
 */
export function answerButton(state, name, kind, text, more = {}) {
  const button = actionButton(name, text, () => press(state, button, kind, []), more);
  return button;
}

/** @param {Parameters<typeof make>[2][]} buttons */
export const answerGroup = (...buttons) =>
  make("div", { class: "actions", role: "group", "aria-label": "Other answers" }, ...buttons);

/**
 * Undo and redo.
 *
 * @param {State} state
 */
export function backButtons(state) {
  const { data } = state;
  /**
   * @param {string} name
   * @param {EntryKind} kind
   * @param {string} text
   * @param {number | null} seq
   * @param {string} label
   * @param {Record<string, unknown>} more attributes
   * @param {number | null} at the project of that answer, if it is another one
   */
  const back = (name, kind, text, seq, label, more = {}, at = null) => {
    const button = actionButton(name, text, () => press(state, button, kind, [], seq, at), {
      disabled: seq === null,
      "aria-label": label,
      ...more,
    });
    return button;
  };
  return [
    back("u", "undo", "Undo", data.undoable, "Undo my last answer", NEAR, data.walk?.undoAt),
    // Every other letter may belong to a candidate, a verdict or the player.
    back("Shift+u", "redo", "Redo", data.redoable, "Redo my last undo"),
  ];
}

/**
 * The area under a question. On a phone only the `near` buttons are visible, and one button unfolds the
 * others; all keep their keys.
 *
 * @param {HTMLElement[]} groups
 */
export function folding(...groups) {
  const more = make("button", {
    class: "action near unfold",
    type: "button",
    text: "More",
    "aria-expanded": "false",
  });
  const foot = make("footer", { class: "foot folds" }, ...groups, more);
  foot.onclick = ({ target }) => {
    const open = target === more && !foot.classList.contains("open");
    foot.classList.toggle("open", open);
    more.setAttribute("aria-expanded", String(open));
  };
  return foot;
}

/** @param {State} state */
export function otherActions(state) {
  const { data } = state;
  return make(
    "div",
    { class: "actions minor", role: "group", "aria-label": "Back, notes and help" },
    ...backButtons(state),
    data.question && actionButton("t", "Note", () => openNote(state), { "aria-expanded": String(Boolean(state.note)) }),
    data.question &&
      actionButton("f", "Flag", () => setFlag(state, !state.flagged), {
        "aria-pressed": String(state.flagged),
        title: "Marks the row for a second look, with your answer",
      }),
    data.question &&
      actionButton(",", "Similar", () => openSimilar(state), {
        "aria-haspopup": "dialog",
        title: "Answered rows that are most like this one",
      }),
    data.question &&
      actionButton("Shift+p", "Take a break", () => press(state, null, "pause", []), {
        title: "Hides the question and stops its clock. Others may get the row meanwhile",
      }),
    actionButton("h", "History", () => openHistory(state), { "aria-haspopup": "dialog" }),
    actionButton("?", "Keys", () => openKeys(state), { "aria-haspopup": "dialog" }),
  );
}
