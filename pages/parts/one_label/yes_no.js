// @ts-check
// A yes/no question: is it this candidate, or one of this group? One key shows all candidates instead.

import { actionButton, NEAR } from "../card/actions.js";
import { key, make, percentOf, shareBar } from "../card/elements.js";
import { press } from "../card/posting.js";
import { nameOf } from "../card/state.js";
import { firstOf } from "./groups.js";

/** @import { EntryKind, State } from "../card/types.js" */
/** @import { CandidateQuestion, YesNo } from "./types.js" */

/**
 * Name of the question for which all candidates are shown on request.
 *
 * @type {WeakMap<State, string | null>}
 */
const opened = new WeakMap();

/** Letters that answer or end a yes/no question, and are candidate keys in a long list. */
const LETTERS = ["a", "n"];

/** Milliseconds afterwards in which they do nothing: pressed twice, they would choose a candidate. */
const TWICE = 500;

/**
 * Whether the card asks a yes/no question, and since when, in milliseconds.
 *
 * @type {WeakMap<State, { asked: boolean, since: number }>}
 */
const form = new WeakMap();

/**
 * Stores the form of the question drawn.
 *
 * @param {State} state
 * @param {CandidateQuestion} question
 * @param {number} now
 */
export function noteForm(state, question, now) {
  const asked = asksYesNo(state, question) !== null;
  const before = form.get(state);
  if (asked !== before?.asked) form.set(state, { asked, since: before ? now : -TWICE });
}

/**
 * Whether this key was meant for the yes/no question that has just gone.
 *
 * @param {State} state
 * @param {string} name of the key
 * @param {number} now
 */
export function isTooLate(state, name, now) {
  const { asked, since } = form.get(state) ?? { asked: true, since: 0 };
  return !asked && LETTERS.includes(name) && now - since < TWICE;
}

/**
 * The yes/no question on screen; null if all candidates are shown.
 *
 * @param {State} state
 * @param {CandidateQuestion} question
 */
export const asksYesNo = (state, question) => (opened.get(state) === nameOf(state.data) ? null : question.yesNo);

/**
 * The label or the group, and the two answers. Enter is neither, so that no one agrees with the model by
 * accident.
 *
 * @param {State} state
 * @param {YesNo} asked
 */
export function yesNo(state, asked) {
  const name = asked.name || firstOf(asked.labels);
  const one = asked.labels.length === 1;
  /** @type {(keys: string, kind: EntryKind, labels: string[], text: string, words: string) => HTMLElement} */
  const verdict = (keys, kind, labels, text, words) => {
    const button = make(
      "button",
      {
        class: "choice verdict",
        type: "button",
        "data-key": keys,
        "aria-keyshortcuts": keys,
        "aria-label": words,
        onclick: () => press(state, button, kind, labels),
      },
      ...keys.split(" ").map((its) => key(its.toUpperCase())),
      make("span", { class: "label", text }),
    );
    return button;
  };
  return [
    make(
      "div",
      { class: "single" },
      make("p", { class: "named", text: name }),
      asked.about && make("p", { class: "about", text: asked.about }),
      make("div", { class: "believed" }, ...shareBar(percentOf(asked.probability))),
    ),
    make(
      "div",
      { class: "choices verdicts two", role: "group", "aria-label": "Answer" },
      verdict("1 y", one ? "is" : "among", asked.labels, "Yes", `Yes, it is ${name}`),
      one
        ? verdict("2 n", "not", asked.labels, "No", `No, it is not ${name}`)
        : verdict("2 n", asked.rest.length === 1 ? "is" : "among", asked.rest, "No", `No, it is none of ${name}`),
    ),
    make("p", { class: "small quiet swiping", text: "or swipe: right is yes, left is no" }),
    make("p", { class: "small quiet", text: `No leaves ${asked.leaves}.` }),
  ];
}

/**
 * The button that shows all candidates instead of yes and no.
 *
 * @param {State} state
 * @param {CandidateQuestion} question
 * @param {() => void} redraw redraws question and answers
 */
export const openButton = (state, question, redraw) =>
  actionButton(
    "a",
    `All ${question.rows.length + question.hidden} choices`,
    () => {
      opened.set(state, nameOf(state.data));
      redraw();
    },
    NEAR,
  );
