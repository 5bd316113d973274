// @ts-check
// Head and foot shared by every kind's questions.

import { actionButton } from "./actions.js";
import { make } from "./elements.js";
import { openExamples } from "./examples.js";

/** @import { Question, State } from "./types.js" */

/**
 * The question, a link to examples of the classes, and the model that the bars come from.
 *
 * @param {State} state
 * @param {Question} question
 * @param {string} words
 * @param {(Node | null)[]} more further explanations in the line below
 */
export const questionHead = (state, question, words, ...more) =>
  make(
    "div",
    { class: "asked" },
    state.data.walk && make("p", { class: "walk small", text: state.data.walk.words }),
    make("h2", { text: words }),
    state.data.examples &&
      actionButton("Shift+g", "Examples", () => openExamples(state), {
        "aria-haspopup": "dialog",
        title: "Examples of the classes, marked by the owner",
      }),
    make(
      "p",
      { class: "quiet small scale" },
      make(
        "span",
        {
          class: "model",
          title: question.learnt === null ? "" : learntFrom(question.learnt),
        },
        make("i"),
        question.model,
      ),
      ...more,
    ),
  );

/** @param {number} line */
const learntFrom = (line) =>
  `How likely each label is by the model, which has learnt from ${
    line ? `the answers up to line ${line.toLocaleString()} of the log` : "the table alone so far"
  }.`;

/**
 * @param {Question} question
 * @param {string} words
 */
export const reason = (question, words) =>
  make("p", { class: "why" }, make("strong", { text: `${words} ` }), question.why);
