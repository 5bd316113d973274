// @ts-check
// Answers about label vectors that give no label.

import { answerButton, NEAR } from "../card/actions.js";

/** @import { State } from "../card/types.js" */

/**
 * Cannot tell, skip, bad item.
 *
 * @param {State} state
 */
export const setAside = (state) => [
  answerButton(state, "c", "unsure", "Cannot tell", { ...NEAR, title: "You are not asked this again" }),
  answerButton(state, "s", "skip", "Skip", { ...NEAR, title: "It comes back later" }),
  answerButton(state, "x", "bad", "Bad item", { title: "Exclude the row: it is broken or off topic" }),
];

/**
 * Their last two lines on the key help.
 *
 * @type {[string, string][]}
 */
export const setAsideKeys = [
  ["S", "Skip: asked again later"],
  ["X", "Bad item: exclude the row"],
];
