// @ts-check
// A known row before someone starts: the answer is judged at once, and not stored among the answers.

import { actionButton, answerGroup } from "./actions.js";
import { key, make } from "./elements.js";
import { press } from "./press.js";

/** @import { KnownQuestion, Room, State } from "./types.js" */

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
