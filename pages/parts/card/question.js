// @ts-check
// Head and foot shared by every kind's questions.

import { actionButton, answerGroup } from "./actions.js";
import { key, make } from "./elements.js";
import { openExamples } from "./examples.js";
import { press } from "./posting.js";

/** @import { KnownQuestion, Question, Room, State } from "./types.js" */

// A known row before someone starts: the answer is judged at once, and not stored among the answers.

/** @type {Room<KnownQuestion>} */
export const qualifying = {
  keys: [
    ["1 – 9, then letters", "It is this one"],
    ["Enter", "Next row, after you see the result"],
  ],
  bare: true,
  asking,
  actions: (state, question) => (question.judged ? answerGroup(nextButton(state)) : answerGroup()),
  entering: (state, question) => (question.judged ? () => press(state, null, "next", []) : null),
};

/** @param {State} state */
const nextButton = (state) =>
  actionButton("Enter", "Go on", () => press(state, null, "next", []), { class: "action strong" });

/**
 * @param {State} state
 * @param {KnownQuestion} question
 */
function asking(state, question) {
  const { judged } = question;
  return make(
    "section",
    { class: "ask", "aria-label": "Classes" },
    make(
      "div",
      { class: "asked" },
      make("h2", { text: "Which one is it?" }),
      make("p", { class: "quiet small", text: question.about }),
    ),
    make("div", { class: "choices" }, ...question.rows.map((line) => choice(state, question, line))),
    judged &&
      make(
        "div",
        { class: "judged" },
        make("strong", { text: judged.words }),
        judged.note && make("p", { class: "because", dir: "auto", text: judged.note }),
      ),
  );
}

/**
 * @param {State} state
 * @param {KnownQuestion} question
 * @param {KnownQuestion["rows"][number]} line
 */
function choice(state, { judged }, { key: its, label, about }) {
  const mark = judged?.label === label ? "✓" : judged?.said === label ? "✕" : "";
  const button = make(
    "button",
    {
      class: "choice known",
      type: "button",
      disabled: Boolean(judged),
      "data-key": judged ? null : its,
      "data-label": label,
      "aria-keyshortcuts": its || null,
      "aria-label": mark ? `${label}: ${mark === "✓" ? "right" : "yours"}` : null,
      onclick: () => press(state, button, "qualify", [label]),
    },
    its ? key(its.toUpperCase()) : make("span"),
    make(
      "span",
      { class: "what" },
      make("span", { class: "label", text: label }),
      about && make("span", { class: "about", text: about }),
    ),
    make("span", { class: "mark", text: mark }),
  );
  return make("div", { class: "candidate" }, button);
}

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
