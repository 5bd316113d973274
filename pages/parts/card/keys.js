// @ts-check
// One listener on the window, before Streamlit's own keys. A key press clicks the button that has the key.

import { typesText } from "./elements.js";
import { keyName, typed } from "./key_names.js";
import { seek, soundOf } from "./sound.js";
import { buttonOf, roomOf } from "./state.js";
import { keepForNext } from "./waiting.js";

/** @import { State } from "./types.js" */

/** Elements that handle Enter themselves if focused. */
const HAS_ENTER = "a[href], button, summary, audio, [role=button], [role=tab], [role=option]";

/** Elements that handle the arrow keys themselves if focused. */
const HAS_ARROWS =
  "audio, video, .scroll, .reading, [role=tab], [role=slider], [role=option], [role=menuitem], [role=radio], [role=grid]";

/**
 * Seconds that an arrow key moves in a recording.
 *
 * @type {Record<string, number>}
 */
const SEEKS = { ArrowLeft: -0.5, ArrowRight: 0.5 };

/**
 * @param {State} state
 * @param {KeyboardEvent} event
 */
export function onKey(state, event) {
  if (!(event instanceof KeyboardEvent)) return; // form autofill sends a keydown without a key
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  const path = event.composedPath();
  const typing = path.some(typesText);
  const take = () => {
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  const dialog = state.dialog?.open ? state.dialog : null;
  const { question } = state.data;
  const name = keyName(event);
  // In a batch each tile has its letter, so a key pressed while waiting was meant for the tiles on screen.
  if (!typing && !roomOf(state).whole && keepForNext(state, event, name)) {
    take();
    return;
  }
  if (event.key === "Escape") {
    if (dialog) return; // it closes itself
    const note = /** @type {HTMLElement | null} */ (state.holder.querySelector(".note"));
    if (note && path.includes(note)) {
      take();
      note.blur();
    } else if (question && roomOf(state).escape?.(state)) take();
    return;
  }
  if (typing) return;
  // A held Enter would press the focused key again at every following question.
  if (event.key === "Enter" && event.repeat && (path.includes(state.holder) || path.includes(state.over))) {
    take();
    return;
  }
  if (dialog) {
    if (dialog.keys?.(typed(event), event)) take();
    else if (event.key.length === 1 && event.key !== " ") event.stopImmediatePropagation();
    return;
  }
  const enter = event.key === "Enter" && (question ? roomOf(state).entering?.(state, question) : offered(state));
  if (enter) {
    const other = path.find((node) => node instanceof Element && node.matches(HAS_ENTER));
    if (other instanceof Element && !other.matches(".choice, .tick")) return; // Enter belongs to that element
    take();
    if (!event.repeat) enter();
    return;
  }
  if (name.startsWith("Arrow") && path.some((node) => node instanceof Element && node.matches(HAS_ARROWS))) return;
  const does = commandOf(state, event, name);
  if (does) {
    take();
    if (!event.repeat) does();
  } else if (name === "c" || name === "r") {
    event.stopImmediatePropagation(); // Streamlit would clear its caches, or rerun the page
  }
}

/**
 * Without a question: Enter clicks the offer's button.
 *
 * @param {State} state
 */
function offered({ holder }) {
  /** @type {HTMLElement | null} */
  const button = holder.querySelector(".offer");
  return button && (() => button.click());
}

/**
 * Action of this key on the current card, null if none.
 *
 * @param {State} state
 * @param {KeyboardEvent} event
 * @param {string} name of the key
 */
function commandOf(state, event, name) {
  const { question } = state.data;
  const own = question && roomOf(state).command?.(state, question, event, name);
  if (own) return own;
  /** @type {HTMLElement | null} */
  const guidelines = document.querySelector(".st-key-winnow_guidelines summary");
  if (name === "g" && guidelines && !event.shiftKey) return () => guidelines.click();
  // Some keyboards type signs with Shift, such as the full stop on a French one.
  const shifted = event.shiftKey && name !== "?" && name !== ".";
  const button = buttonOf(state, name, shifted ? "data-shift" : "data-key");
  if (button) return () => button.click();
  const sound = soundOf(state.holder);
  return sound && name in SEEKS && !event.shiftKey ? () => seek(sound, SEEKS[name]) : null;
}
