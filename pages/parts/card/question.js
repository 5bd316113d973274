// @ts-check
// What the questions of every kind begin and end with.

import { make } from "./elements.js";

/** @import { Question } from "./types.js" */

/**
 * What is asked, and which model the shares come from.
 *
 * @param {Question} question
 * @param {string} words
 */
export const questionHead = (question, words) =>
  make(
    "div",
    { class: "asked" },
    make("h2", { text: words }),
    make("p", {
      class: "quiet small model",
      text: question.model,
      title:
        "How likely each label is by this model. Its number is the last line of the answer log that it has learnt.",
    }),
  );

/**
 * @param {Question} question
 * @param {string} words
 */
export const reason = (question, words) =>
  make("p", { class: "why" }, make("strong", { text: `${words} ` }), question.why);
