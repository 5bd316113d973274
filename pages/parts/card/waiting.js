// @ts-check
// Keys pressed while an answer is being sent: those that act on the card itself apply to the next question.

import { activeIn, buttonOf } from "./state.js";

/** @import { State } from "./types.js" */

const MEANT_FOR_NEXT = new Set("mwtfz0h?,");

/**
 * Holds such a key and text typed after it; the card accepts nothing else meanwhile. Returns whether it
 * handled the key.
 *
 * @param {Pick<State, "busy" | "waiting">} state
 * @param {Pick<KeyboardEvent, "key" | "repeat" | "shiftKey">} event
 * @param {string} name of the key
 */
export function keepForNext(state, event, name) {
  const { busy, waiting } = state;
  if (!busy) return false;
  if (!waiting) {
    if (event.repeat || !MEANT_FOR_NEXT.has(name) || (event.shiftKey && name !== "?")) return false;
    state.waiting = { name, text: "" };
  } else if (event.key === "Escape") state.waiting = null;
  else if (event.key === "Backspace") waiting.text = waiting.text.slice(0, -1);
  else if (event.key.length === 1) waiting.text += event.repeat ? "" : event.key;
  else return event.key === "Enter";
  return true;
}

/**
 * Once the next question is drawn, presses the held key and types the text into the field that it opened, if
 * any.
 *
 * @param {State} state
 */
export function pressWaiting(state) {
  const { waiting } = state;
  state.waiting = null;
  if (!waiting) return;
  buttonOf(state, waiting.name)?.click();
  const field = activeIn(state);
  if (!waiting.text || !(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)) return;
  field.value += waiting.text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}
