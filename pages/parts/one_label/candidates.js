// @ts-check
// The candidates of a row, each on its key, and all other answers.

import { actionButton, answerButton, answerGroup, NEAR, noteField } from "../card/actions.js";
import { find, key, make, percentOf, shareBar } from "../card/elements.js";
import { hearSwipes } from "../card/keys.js";
import { COMMON_KEYS } from "../card/panels.js";
import { press } from "../card/posting.js";
import { questionHead, reason } from "../card/question.js";
import { showMarks } from "../card/reading.js";
import { say } from "../card/state.js";
import { openBatch } from "./batch.js";
import { behind, choicesNow, isShort, openGroups, showAll } from "./groups.js";
import { openSearch } from "./search.js";
import { asksYesNo, isTooLate, noteForm, openButton, yesNo } from "./yes_no.js";

/** @import { Room, State } from "../card/types.js" */
/** @import { Candidate, CandidateQuestion } from "./types.js" */

// The evidence for a candidate in the file, or of a model that has scored the rows since, next to the model's: dots for
// a few votes, else a notch on the bar and the number.

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

// Narrowing to several candidates: keys and clicks select, Enter stores.

/** @param {State} state */
export function markingBar(state) {
  const save = make(
    "button",
    { class: "action strong", type: "button", "data-save": "", disabled: true, onclick: () => saveMarked(state) },
    key("↵"),
    make("span", { class: "count", text: "Save the marked ones" }),
  );
  return make(
    "div",
    { class: "markbar", hidden: true },
    make("p", { class: "small", text: "Mark every label that may be right." }),
    save,
    make(
      "button",
      { class: "action", type: "button", onclick: () => setMarking(state, false) },
      key("Esc"),
      make("span", { text: "Stop marking" }),
    ),
  );
}

/** @param {State} state */
export const isMarking = ({ holder }) => holder.querySelector(".card.marking") !== null;

/**
 * @param {State} state
 * @param {boolean} on
 */
export function setMarking(state, on) {
  const { holder } = state;
  find(holder, ".card").classList.toggle("marking", on);
  find(holder, ".markbar").hidden = !on;
  find(holder, "[data-key=m]").setAttribute("aria-pressed", String(on));
  for (const button of holder.querySelectorAll(".choice")) {
    if (on) button.setAttribute("aria-pressed", "false");
    else button.removeAttribute("aria-pressed");
  }
  showMarked(state);
  say(state, on ? "Marking: the keys of the candidates mark them, Enter saves, Escape stops." : "Marking stopped.");
}

/**
 * @param {State} state
 * @param {HTMLElement} button
 */
export function toggleMark(state, button) {
  button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
  showMarked(state);
}

/** @param {State} state */
export function saveMarked(state) {
  const labels = marked(state);
  if (labels.length) press(state, find(state.holder, "[data-save]"), labels.length === 1 ? "is" : "among", labels);
}

/**
 * The selected labels.
 *
 * @param {State} state
 * @returns {string[]}
 */
const marked = ({ holder }) =>
  [...holder.querySelectorAll('.choice[aria-pressed="true"]')].map(
    (button) => /** @type {HTMLElement} */ (button).dataset.label ?? "",
  );

/** @param {State} state */
function showMarked(state) {
  const count = marked(state).length;
  /** @type {HTMLButtonElement} */
  const save = find(state.holder, "[data-save]");
  save.disabled = count === 0;
  find(save, ".count").textContent =
    count > 1 ? `Save: one of these ${count}` : count ? "Save: this one" : "Save the marked ones";
}

// Highlights the words of the text that support a candidate: the first one, or the one hovered or focused.

/**
 * Highlights the text of the question, following pointer and focus.
 *
 * @param {State} state
 * @param {CandidateQuestion} question
 */
export function markText(state, question) {
  if (!question.marks.length) return;
  const { texts } = question.view;
  const places = state.holder.querySelectorAll(".instance .text");
  const list = state.holder.querySelector(".choices");
  const box = places[0]?.closest(".reading");
  if (!box || !list) return;
  state.holder.querySelector(".legend")?.remove();
  const legend = make("p", { class: "small quiet legend" });
  box.after(legend);
  const show = (/** @type {number} */ candidate) => {
    const marks = question.marks.filter((mark) => mark.candidate === candidate);
    for (const [number, [, text]] of texts.entries())
      showMarks(
        places[number],
        text,
        marks.filter((mark) => mark.text === number),
      );
    legend.replaceChildren(...evidenceOf(question.rows[candidate].label, marks.length > 0));
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
const evidenceOf = (label, any) =>
  any
    ? [make("mark", { class: "speaks", text: "Underlined" }), ": evidence for ", make("bdi", { text: label })]
    : ["Nothing in the text supports ", make("bdi", { text: label }), " more than for the others"];

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
