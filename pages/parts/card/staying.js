// @ts-check
// While a question is on screen its row is kept for who looks at it: the server is told now and then.

/** @import { State } from "./types.js" */

const EVERY = 50_000;

/**
 * Begins to tell it, if it is not told already. A tab in the background tells nothing: its row goes to others.
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
