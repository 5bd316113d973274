// @ts-check
// While a question is on screen its row stays reserved for this person: the server is notified regularly.

/** @import { State } from "./types.js" */

const EVERY = 50_000;

/**
 * Starts the notifications, unless they run already. A tab in the background sends nothing, so its row is offered to
 * others.
 *
 * @param {State} state
 */
export function stay(state) {
  state.staying ??= setInterval(() => {
    const { token } = state.data;
    if (token && !state.busy && document.visibilityState === "visible") state.send("here", { token });
  }, EVERY);
}

/** @param {State} state */
export function leave(state) {
  clearInterval(state.staying);
  state.staying = undefined;
}
