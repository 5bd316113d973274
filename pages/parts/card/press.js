// @ts-check
// One press per question: it carries the token of the question on screen, and the card then ignores input
// until the server has moved on (`turn`).

import { goesByRoute, post } from "./posting.js";
import { nameOf } from "./state.js";

/** @import { EntryKind, OtherPress, State } from "./types.js" */

/** Actions that are not answers: the question stays. */
const NO_ANSWERS = new Set([
  "undo",
  "redo",
  "pause",
  "resume",
  "open",
  "export",
  "begin",
  "next",
  "look",
  "discuss",
  "many",
  "one",
  "go",
]);

/**
 * @param {State} state
 * @param {HTMLElement | null} button that was pressed
 * @param {EntryKind | OtherPress} kind
 * @param {string[]} labels
 * @param {number | null} seq of the answer to undo, redo or open
 * @param {number | null} at the project of that answer, if it is another one
 */
export function press(state, button, kind, labels, seq = null, at = null) {
  if (state.busy) return;
  state.busy = true;
  state.late = setTimeout(() => whenLate(state), 4000);
  if (!NO_ANSWERS.has(kind)) state.answered = nameOf(state.data);
  state.leftNote = kind === "discuss";
  const said = {
    kind,
    labels,
    seq,
    at,
    token: state.data.token,
    shown: state.data.question?.shown ?? null,
    note: state.note,
    flagged: state.flagged,
  };
  if (goesByRoute(state, kind)) post(state, said);
  else state.send("press", said);
  // After it was sent. Most answers are stored before the style would be noticed; painting it would only
  // delay the next question.
  setTimeout(() => state.busy && button?.classList.add("pressed"));
  state.saving = setTimeout(() => {
    state.saved.className = "saved waiting";
    state.saved.textContent = "Saving…";
  }, 150);
}

/**
 * The server has not replied: it may be slow, or has restarted and lost this page's session. Once it replies
 * again, the page is reloaded; the token prevents storing the press twice.
 *
 * @param {State} state
 */
async function whenLate(state) {
  state.saved.textContent = "Still saving… Until an answer is shown as saved it may not be stored.";
  while (state.busy && state.listener) {
    await new Promise((resolve) => setTimeout(resolve, 2000));
    if (state.posted) continue; // the direct route retries by itself
    const answer = await fetch("healthz", { cache: "no-store" }).catch(() => null);
    if (state.busy && answer?.ok) window.location.reload();
  }
}
