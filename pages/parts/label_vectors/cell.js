// @ts-check
// A question about one label of a row: yes, no, or cannot tell.

import { answerGroup, noteField } from "../card/actions.js";
import { key, make, percentOf, shareBar } from "../card/elements.js";
import { hearSwipes } from "../card/keys.js";
import { COMMON_KEYS } from "../card/panels.js";
import { press } from "../card/posting.js";
import { questionHead, reason } from "../card/question.js";
import { setAside, setAsideKeys } from "./labels.js";

/** @import { EntryKind, Room, State } from "../card/types.js" */
/** @import { CellLine, VectorQuestion } from "./types.js" */

/** @type {Room<VectorQuestion>} */
export const cell = {
  keys: [
    ["Y", "Yes, the label is right"],
    ["N", "No, it is not"],
    ["C", "Cannot tell: you are not asked this again"],
    ["U / Shift + U", "Undo, redo: over your last 50 answers"],
    ...setAsideKeys,
    ...COMMON_KEYS,
  ],
  asking,
  drawn: hearSwipes,
  actions: (state) => answerGroup(...setAside(state).slice(1)), // "cannot tell" is next to yes and no
};

/** Known labels of the row named at most. */
const NAMED = 12;

/**
 * @param {State} state
 * @param {VectorQuestion} question
 */
function asking(state, question) {
  const row = /** @type {CellLine} */ (question.asked);
  /** @type {(name: string, kind: EntryKind, text: string, words: string) => HTMLElement} */
  const verdict = (name, kind, text, words) => {
    const button = make(
      "button",
      {
        class: "choice verdict",
        type: "button",
        "data-key": name,
        "aria-keyshortcuts": name,
        "aria-label": words,
        onclick: () => press(state, button, kind, []),
      },
      key(name.toUpperCase()),
      make("span", { class: "label", text }),
    );
    return button;
  };
  return make(
    "section",
    { class: "ask", "aria-label": "Label" },
    questionHead(state, question, "Is this label right?"),
    make(
      "div",
      { class: "single" },
      make("p", { class: "named", text: row.label }),
      row.about && make("p", { class: "about", text: row.about }),
      make("div", { class: "believed" }, ...shareBar(percentOf(row.probability))),
    ),
    make(
      "div",
      { class: "choices verdicts", role: "group", "aria-label": "Answer" },
      verdict("y", "yes", "Yes", `Yes, ${row.label} is right`),
      verdict("n", "no", "No", `No, ${row.label} is not right`),
      verdict("c", "unsure", "Cannot tell", "Cannot tell"),
    ),
    make("p", { class: "small quiet swiping", text: "or swipe: right is yes, left is no" }),
    knownOf(question),
    noteField(state),
    reason(question, "Why this one?"),
  );
}

/**
 * The labels of the row that are known already.
 *
 * @param {VectorQuestion} question
 */
function knownOf(question) {
  const known = question.rows.filter((one) => one.cell !== -1);
  if (!known.length) return null;
  const chips = known
    .slice(0, NAMED)
    .map((one) =>
      make("span", { class: one.cell ? "chip yes" : "chip", text: `${one.cell ? "✓" : "✗"} ${one.label}` }),
    );
  return make(
    "p",
    { class: "chips small" },
    make("span", { class: "quiet", text: "Known labels of this row:" }),
    ...chips,
    known.length > chips.length &&
      make("span", { class: "quiet", text: `and ${(known.length - chips.length).toLocaleString()} more` }),
  );
}
