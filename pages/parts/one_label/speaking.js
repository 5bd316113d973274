// @ts-check
// Highlights the words of the text that support a candidate: the first one, or the one hovered or focused.

import { make } from "../card/elements.js";
import { showMarks } from "../card/reading.js";

/** @import { State } from "../card/types.js" */
/** @import { CandidateQuestion } from "./types.js" */

/**
 * Highlights the text of the question, following pointer and focus.
 *
 * @param {State} state
 * @param {CandidateQuestion} question
 */
export function markText(state, question) {
  const { text } = question.view;
  const place = state.holder.querySelector(".text");
  const list = state.holder.querySelector(".choices");
  if (!question.marks.length || text === null || !place || !list) return;
  state.holder.querySelector(".legend")?.remove();
  const legend = make("p", { class: "small quiet legend" });
  place.parentElement?.after(legend);
  const show = (/** @type {number} */ candidate) => {
    const spans = question.marks
      .filter(([, , whose]) => whose === candidate)
      .map(([start, end, , strength]) => ({ start, end, strength }));
    showMarks(place, text, spans);
    legend.replaceChildren(...legendOf(question.rows[candidate].label, spans.length > 0));
  };
  const rows = () => [...list.querySelectorAll(".candidate")]; // a key may add others
  const of = (/** @type {EventTarget | null} */ node) =>
    node instanceof Element ? rows().findIndex((row) => row.contains(node)) : -1;
  const follow = (/** @type {Event} */ event) => {
    const candidate = of(event.target);
    if (candidate >= 0) show(candidate);
  };
  // If no candidates are listed, use the one in question.
  const first = rows().length ? 0 : question.rows.findIndex((row) => question.yesNo?.labels.includes(row.label));
  const back = () => show(Math.max(of(list.querySelector(":focus")), first, 0));
  list.addEventListener("pointerover", follow);
  list.addEventListener("focusin", follow);
  list.addEventListener("pointerleave", back);
  list.addEventListener("focusout", back);
  back();
}

/**
 * @param {string} label
 * @param {boolean} any whether anything is highlighted
 * @returns {(Node | string)[]}
 */
const legendOf = (label, any) =>
  any
    ? [make("mark", { class: "speaks", text: "Underlined" }), ": evidence for ", make("bdi", { text: label })]
    : ["Nothing in the text supports ", make("bdi", { text: label }), " more than for the others"];
