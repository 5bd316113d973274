// @ts-check
// The candidates of a row, each on its key, and all other answers.

import { actionButton, answerButton, answerGroup, NEAR } from "../card/actions.js";
import { find, key, make, percentOf, shareBar } from "../card/elements.js";
import { noteField } from "../card/notes.js";
import { COMMON_KEYS } from "../card/panels.js";
import { press } from "../card/press.js";
import { questionHead, reason } from "../card/question.js";
import { hearSwipes } from "../card/swipe.js";
import { openBatch } from "./batch.js";
import { openGroups } from "./groups.js";
import { isMarking, markingBar, saveMarked, setMarking, toggleMark } from "./marking.js";
import { openSearch } from "./search.js";
import { behind, choicesNow, isShort, showAll } from "./shortlist.js";
import { markText } from "./speaking.js";
import { dotsOf, legendOf, notchOf } from "./weighed.js";
import { asksYesNo, isTooLate, noteForm, openButton, yesNo } from "./yes_no.js";

/** @import { Room, State } from "../card/types.js" */
/** @import { Candidate, CandidateQuestion } from "./types.js" */

/** @type {Room<CandidateQuestion>} */
export const candidates = {
  keys: [
    ["1 – 9, then letters (a label that is a digit: that digit)", "It is this one"],
    ["Shift + its key", "Rule it out"],
    ["M, keys, Enter", "Mark several: it is one of these"],
    ["W, key", "Wider: it is one of a group, such as a genus, if the row has groups"],
    ["Y or 1, N or 2", "Yes, no: if one candidate or a group is asked about. A shows all choices"],
    [".", "More: show the remaining choices"],
    ["0 (− if labels are digits)", "None of these: search all classes and groups, or say that you cannot name it"],
    ["C", "Cannot tell: you are not asked about this row again"],
    ["S", "Skip: asked again later"],
    ["X", "Bad item: exclude the row"],
    ["Shift + M", "Batch: confirm rows that the model is confident about in one click"],
    ["U / Shift + U", "Undo, redo: over your last 50 answers"],
    ...COMMON_KEYS,
  ],
  asking,
  actions,
  drawn,
  command: (state, _, event, name) => (isTooLate(state, name, event.timeStamp) ? () => {} : null),
  entering: (state) => (isMarking(state) ? () => saveMarked(state) : null),
  escape: (state) => {
    if (!isMarking(state)) return false;
    setMarking(state, false);
    return true;
  },
};

/**
 * @param {State} state
 * @param {CandidateQuestion} question
 */
function drawn(state, question) {
  noteForm(state, question, performance.now());
  markText(state, question);
  if (asksYesNo(state, question)) hearSwipes(state);
}

/**
 * @param {State} state
 * @param {CandidateQuestion} question
 */
function asking(state, question) {
  const asked = asksYesNo(state, question);
  if (asked) {
    return make(
      "section",
      { class: "ask", "aria-label": "Yes or no" },
      questionHead(state, question, asked.labels.length === 1 ? "Is it this one?" : "Is it one of these?"),
      ...yesNo(state, asked),
      noteField(state),
      reason(question, "Why this row?"),
    );
  }
  return make(
    "section",
    { class: "ask", "aria-label": "Candidates" },
    questionHead(
      state,
      question,
      "Which one is it?",
      legendOf(question),
      make("span", { class: "most", text: "longest bar = most likely" }),
    ),
    make(
      "div",
      { class: question.nClasses > FEW ? "choices many" : "choices" },
      ...choicesNow(state, question, (candidate) => candidateRow(state, question, candidate)),
    ),
    question.hidden &&
      make("p", {
        class: "small quiet beyond",
        hidden: isShort(state, question),
        text: `${question.hidden.toLocaleString()} more candidates with smaller shares: find them with 0.`,
      }),
    markingBar(state),
    noteField(state),
    reason(question, "Why this row?"),
  );
}

/**
 * Up to this many classes choices are tall, with more they are lower, so that most are visible; the same at
 * every question.
 */
const FEW = 7;

/**
 * @param {State} state
 * @param {CandidateQuestion} question
 * @param {Candidate} candidate
 */
function candidateRow(state, question, candidate) {
  const percent = percentOf(candidate.probability);
  const most = Math.max(...question.rows.map((row) => row.probability));
  const weighed = notchOf(question, candidate);
  const about = candidate.about ? `, ${candidate.about}` : "";
  const weight = candidate.weight ? `, in the file ${candidate.weight}` : "";
  const choose = make(
    "button",
    {
      class: "choice",
      type: "button",
      "data-key": candidate.key,
      "data-label": candidate.label,
      "aria-keyshortcuts": candidate.key || null,
      "aria-label": `${candidate.label}${about}${weight}, the model's share ${percent}%`,
      onclick: () => (isMarking(state) ? toggleMark(state, choose) : press(state, choose, "is", [candidate.label])),
    },
    candidate.key ? key(candidate.key.toUpperCase()) : make("span"),
    make(
      "span",
      { class: "what" },
      make("span", { class: "label", text: candidate.label }),
      candidate.about && make("span", { class: "about", text: candidate.about, title: candidate.about }),
      dotsOf(question, candidate),
    ),
    ...shareBar(percent, most && Math.round((100 * candidate.probability) / most), weighed?.notch),
    weighed?.number,
  );
  const out = make("button", {
    class: "out",
    type: "button",
    "data-shift": candidate.key,
    text: "✕",
    "aria-label": `Rule out ${candidate.label}`,
    title: candidate.key ? `Rule out (Shift+${candidate.key.toUpperCase()})` : "Rule out",
    "aria-keyshortcuts": candidate.key ? `Shift+${candidate.key}` : null,
    onclick: () => press(state, out, "not", [candidate.label]),
  });
  return make("div", { class: "candidate" }, choose, out);
}

/**
 * @param {State} state
 * @param {CandidateQuestion} question
 */
function actions(state, question) {
  const listed = !asksYesNo(state, question);
  return answerGroup(
    !listed &&
      openButton(state, question, () => {
        find(state.holder, ".ask").replaceWith(asking(state, question));
        find(state.holder, ".foot .actions").replaceWith(actions(state, question));
        drawn(state, question);
      }),
    actionButton(question.noneKey, question.none ? "None of these…" : "Find a class…", () => noneOf(state, question), {
      ...(listed && NEAR),
      "aria-haspopup": "dialog",
    }),
    listed &&
      question.rows.length > 1 &&
      actionButton("m", "Mark several", () => setMarking(state, !isMarking(state)), { "aria-pressed": "false" }),
    question.groups.length > 0 &&
      actionButton("w", "A group…", () => openGroups(state, question), { "aria-haspopup": "dialog" }),
    answerButton(state, "c", "unsure", "Cannot tell", NEAR),
    answerButton(state, "s", "skip", "Skip", { ...NEAR, title: "It comes back later" }),
    answerButton(state, "x", "bad", "Bad item", {
      title: "Excludes the row: broken or off topic",
    }),
    actionButton("Shift+m", "Many at once", () => openBatch(state), {
      title: "Confirm rows that the model is confident about in one click, except those you exclude",
    }),
  );
}

/**
 * "None of these" rules out all candidates: a person who has not seen them all is warned, and finds them
 * under the search. The search opens at once in any case: letters typed after 0 are a name, and would be
 * answers on the card.
 *
 * @param {State} state
 * @param {CandidateQuestion} question
 */
function noneOf(state, question) {
  const short = isShort(state, question);
  if (short) showAll(state, question, (candidate) => candidateRow(state, question, candidate));
  openSearch(
    state,
    question,
    short ? `${behind(question)} choices that you had not seen are listed now: Esc shows them.` : "",
  );
}
