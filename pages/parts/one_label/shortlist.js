// @ts-check
// The choices that are shown first, and the others, which one key brings.

import { key, make } from "../card/elements.js";
import { say } from "../card/state.js";

/** @import { State } from "../card/types.js" */
/** @import { Candidate, CandidateQuestion } from "./types.js" */

/** @typedef {(candidate: Candidate) => HTMLElement} DrawRow */

const KEY = ".";

/**
 * The question of which a card shows all choices, by its token: they stay while it does.
 *
 * @type {WeakMap<State, string | null>}
 */
const opened = new WeakMap();

/**
 * Whether some choices are behind the key now.
 *
 * @param {State} state
 * @param {CandidateQuestion} question
 */
export const isShort = (state, question) => question.first !== null && opened.get(state) !== state.data.token;

/**
 * The choices on the screen now, and the button that brings the others.
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
 * Brings the choices behind the key; the focus goes to the first of them.
 *
 * @param {State} state
 * @param {CandidateQuestion} question
 * @param {DrawRow} row
 */
export function showAll(state, question, row) {
  const { holder } = state;
  opened.set(state, state.data.token);
  const others = question.rows.slice(question.first ?? 0).map(row);
  if (holder.querySelector(".card.marking"))
    for (const other of others) other.querySelector(".choice")?.setAttribute("aria-pressed", "false");
  holder.querySelector(".more")?.replaceWith(...others);
  holder.querySelector(".beyond")?.removeAttribute("hidden");
  /** @type {HTMLElement | null | undefined} */ (others[0]?.querySelector(".choice"))?.focus();
  say(state, `${behind(question)} more choices. If it is none of all these, press 0.`);
}

/**
 * How many choices are not shown first, in words.
 *
 * @param {CandidateQuestion} question
 */
export const behind = (question) => (question.rows.length + question.hidden - (question.first ?? 0)).toLocaleString();
