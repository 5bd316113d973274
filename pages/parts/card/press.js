// @ts-check
// One press per question: it carries the token of the question on screen, and the card is deaf after it until the
// server has moved on (`turn`).

import { goesByRoute, post } from "./posting.js";

/** @import { EntryKind, OtherPress, State } from "./types.js" */

/** Actions that are not answers: the question stays as it is. */
const NO_ANSWERS = new Set([
  "undo",
  "redo",
  "pause",
  "resume",
  "open",
  "begin",
  "next",
  "look",
  "discuss",
  "many",
  "one",
]);

/**
 * @param {State} state
 * @param {HTMLElement | null} button that was pressed
 * @param {EntryKind | OtherPress} kind
 * @param {string[]} labels
 * @param {number | null} seq of the answer that undo, redo or open means
 */
export function press(state, button, kind, labels, seq = null) {
  if (state.busy) return;
  state.busy = true;
  state.late = setTimeout(() => whenLate(state), 4000);
  if (!NO_ANSWERS.has(kind)) state.answered = state.data.token;
  state.leftNote = kind === "discuss";
  const said = {
    kind,
    labels,
    seq,
    token: state.data.token,
    shown: state.data.question?.shown ?? null,
    note: state.note,
    flagged: state.flagged,
  };
  if (goesByRoute(state, kind)) post(state, said);
  else state.send("press", said);
  // Once it is on its way. Most answers are stored before the words would be read; painting them would only delay what comes.
  setTimeout(() => state.busy && button?.classList.add("pressed"));
  state.saving = setTimeout(() => {
    state.saved.className = "saved waiting";
    state.saved.textContent = "Saving…";
  }, 150);
}

/**
 * No word from the server: it may be slow, or it was restarted and knows this page no more. Once it answers
 * again the page is reloaded; the token makes sure that nothing is stored twice.
 *
 * @param {State} state
 */
async function whenLate(state) {
  state.saved.textContent = "Still saving… Until an answer is shown as saved it may not be stored.";
  while (state.busy && state.listener) {
    await new Promise((resolve) => setTimeout(resolve, 2000));
    if (state.posted) continue; // what the route was sent is sent again by itself
    const answer = await fetch("healthz", { cache: "no-store" }).catch(() => null);
    if (state.busy && answer?.ok) window.location.reload();
  }
}
