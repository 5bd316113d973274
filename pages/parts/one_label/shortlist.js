// @ts-check
// The choices that are shown first, and the others, which a key shows.

import { key, make } from "../card/elements.js";
import { nameOf, say } from "../card/state.js";

/** @import { State } from "../card/types.js" */
/** @import { Candidate, CandidateQuestion } from "./types.js" */

/** @typedef {(candidate: Candidate) => HTMLElement} DrawRow */

const KEY = ".";

/**
 * Name of the question whose choices are all shown: they stay until the next question.
 *
 * @type {WeakMap<State, string | null>}
 */
const opened = new WeakMap();

/**
 * Whether some choices are hidden behind the key now.
 *
 * @param {State} state
 * @param {CandidateQuestion} question
 */
export const isShort = (state, question) => question.first !== null && opened.get(state) !== nameOf(state.data);

/**
 * The choices on screen, and the button that shows the others.
 *
 * @param {State} state
 * @param {CandidateQuestion} question
 * @param {DrawRow} row
 * @returns {HTMLElement[]}
 */
export function choicesNow(state, question, row) {
  if (!isShort(state, question)) return question.rows.map(row);
  const more = make(
    "button",
    {
      class: "more",
      type: "button",
      "data-key": KEY,
      "aria-keyshortcuts": KEY,
      "aria-label": `${behind(question)} more choices`,
      title: "Less likely choices; one of them may still be right.",
      onclick: () => showAll(state, question, row),
    },
    key(KEY),
    make("span", { text: `${behind(question)} more choices` }),
  );
  return [...question.rows.slice(0, question.first ?? 0).map(row), more];
}

/**
 * Shows the hidden choices and focuses the first of them.
 *
 * @param {State} state
 * @param {CandidateQuestion} question
 * @param {DrawRow} row
 */
export function showAll(state, question, row) {
  const { holder } = state;
  opened.set(state, nameOf(state.data));
  const others = question.rows.slice(question.first ?? 0).map(row);
  if (holder.querySelector(".card.marking"))
    for (const other of others) other.querySelector(".choice")?.setAttribute("aria-pressed", "false");
  holder.querySelector(".more")?.replaceWith(...others);
  holder.querySelector(".beyond")?.removeAttribute("hidden");
  /** @type {HTMLElement | null | undefined} */ (others[0]?.querySelector(".choice"))?.focus();
  say(state, `${behind(question)} more choices. If it is none of all these, press 0.`);
}

/**
 * The number of choices not shown first, in words.
 *
 * @param {CandidateQuestion} question
 */
export const behind = (question) => (question.rows.length + question.hidden - (question.first ?? 0)).toLocaleString();
