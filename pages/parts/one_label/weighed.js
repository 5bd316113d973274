// @ts-check
// The evidence for a candidate in the file, or of a model that has scored the rows since, next to the model's: dots for
// a few votes, else a notch on the bar and the number.

import { make } from "../card/elements.js";

/** @import { Candidate, CandidateQuestion } from "./types.js" */

/** Maximum of votes shown as dots. */
const DOTS = 8;

/** @param {Pick<CandidateQuestion, "votes">} question */
const hasDots = ({ votes }) => votes > 0 && votes <= DOTS;

/** @param {Pick<CandidateQuestion, "rows">} question */
const mostOf = ({ rows }) => Math.max(0, ...rows.map(({ given }) => given ?? 0));

/**
 * Position of the notch on a bar, 0 to 1; the largest is at 1.
 *
 * @param {Pick<CandidateQuestion, "rows">} question
 * @param {Pick<Candidate, "given">} candidate
 */
export const placeOf = (question, { given = 0 }) => given / (mostOf(question) || 1);

/**
 * Dots next to the name; null if the file has no votes, or too many.
 *
 * @param {CandidateQuestion} question
 * @param {Candidate} candidate
 */
export function dotsOf(question, candidate) {
  if (!hasDots(question)) return null;
  const { given = 0 } = candidate;
  return make(
    "span",
    { class: "weight dots", title: titleOf(question, candidate) },
    make("span", { class: "unseen", text: candidate.weight }),
    ...Array.from({ length: question.votes }, (_, place) => make("i", { class: place < given ? "" : "none" })),
  );
}

/**
 * The notch on the bar and the number next to it; nothing if there are dots, or the file has no evidence.
 *
 * @param {CandidateQuestion} question
 * @param {Candidate} candidate
 */
export function notchOf(question, candidate) {
  if (hasDots(question) || !candidate.given) return null;
  return {
    notch: make("span", { class: "notch", style: `left:${100 * placeOf(question, candidate)}%` }),
    number: make("span", { class: "weight", text: candidate.weight, title: titleOf(question, candidate) }),
  };
}

/**
 * @param {Pick<CandidateQuestion, "weighedBy">} question
 * @param {Candidate} candidate
 */
const titleOf = ({ weighedBy }, { weight, voters }) => {
  const source = weighedBy ? `Weight by ${weighedBy}` : "Evidence in the imported file";
  return [weight, voters ? `Voted for by ${voters}` : source].filter(Boolean).join(". ");
};

/**
 * Legend of dots or notches, for the line under the question; null if there are none.
 *
 * @param {CandidateQuestion} question
 */
export function legendOf(question) {
  if (!mostOf(question)) return null;
  const dots = hasDots(question);
  return make(
    "span",
    {},
    make("i", { class: dots ? "dot" : "notched" }),
    dots ? "a vote in your file" : (question.weighedBy ?? "in your file"),
  );
}
