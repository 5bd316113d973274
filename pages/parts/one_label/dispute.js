// @ts-check
// A row that annotators disagree on: their answers next to the instance, and the reviewer's verdict on keys.

import { actionButton, answerGroup, noteField, openNote } from "../card/actions.js";
import { key, make, percentOf, shareBar } from "../card/elements.js";
import { press } from "../card/posting.js";
import { openSearch } from "./search.js";

/** @import { Room, State } from "../card/types.js" */
/** @import { DisputedLabel, DisputeQuestion, Mark } from "./types.js" */

/** @type {Room<DisputeQuestion>} */
export const dispute = {
  keys: [
    ["1 – 9, then letters", "Choose it"],
    ["Shift + its key", "Choose several: it is one of these"],
    ["X", "Choose: bad item"],
    ["Enter", "Store the verdict"],
    ["Arrows up and down", "Another dispute"],
    ["U", "Undo your latest verdict"],
  ],
  bare: true,
  lead: (state, question, instance) => [
    list(state, question),
    make("div", { class: "lead" }, instance, said(question), notes(question)),
  ],
  asking,
  actions,
  entering: (state) => (chosen(state).length ? () => settle(state) : null),
};

/**
 * @param {State} state
 * @param {DisputeQuestion} question
 */
const list = (state, { list: lines, total }) =>
  make(
    "nav",
    { class: "disputes", "aria-label": "Disputes, worst first" },
    make("p", { class: "quiet small", text: "Worst first: strong disagreement, uncertain model" }),
    ...lines.map((one) =>
      make(
        "button",
        {
          class: "dispute",
          type: "button",
          "aria-current": one.current ? "true" : null,
          onclick: () => press(state, null, "look", [], one.row),
        },
        make("strong", { text: one.id }),
        make("span", { class: "about", text: one.words }),
        make(
          "span",
          { class: "votes", "aria-hidden": "true" },
          ...one.shares.map(([mark, people]) => make("i", { "data-mark": mark, style: `flex-grow:${people}` })),
        ),
      ),
    ),
    total > lines.length &&
      make("p", { class: "quiet small", text: `${(total - lines.length).toLocaleString()} more come later.` }),
  );

/**
 * The label's colour and shape, shown wherever the label is.
 *
 * @param {Mark} mark
 */
const swatch = (mark) => mark !== null && make("i", { class: "swatch", "data-mark": mark, "aria-hidden": "true" });

/** @param {DisputeQuestion} question */
const said = ({ said: opinions }) =>
  make(
    "section",
    { class: "said", "aria-label": "Who said what" },
    ...opinions.map((one) =>
      make(
        "div",
        { class: "opinion" },
        make("strong", { text: one.person, dir: "auto" }),
        make(
          "span",
          { class: "label" },
          ...one.names.flatMap(([name, mark], place) => [place > 0 && " or ", swatch(mark), name]),
        ),
        make("span", { class: "quiet small", text: one.when }),
        one.note && make("p", { class: "because", dir: "auto", text: one.note }),
      ),
    ),
  );

/** @param {DisputeQuestion} question */
const notes = ({ notes: lines }) =>
  lines.length > 0 &&
  make(
    "section",
    { class: "said", "aria-label": "Notes of reviewers" },
    ...lines.map((one) =>
      make(
        "div",
        { class: "opinion" },
        make("strong", { text: one.person, dir: "auto" }),
        make("span", { class: "quiet small", text: one.when }),
        make("p", { class: "because", dir: "auto", text: one.text }),
      ),
    ),
  );

/**
 * @param {State} state
 * @param {DisputeQuestion} question
 */
function asking(state, question) {
  const field = noteField(state);
  field.placeholder = "Why, in a sentence: stored with the verdict, or left as a note. Escape goes back to the keys.";
  return make(
    "section",
    { class: "ask", "aria-label": "Verdict" },
    make("div", { class: "asked" }, make("h2", { text: "What is your verdict?" })),
    make("p", { class: "quiet small", text: "It ends the dispute. All answers stay in the log." }),
    make("div", { class: "choices" }, ...question.rows.map((line) => choice(state, line)), badItem(state)),
    question.model && make("p", { class: "quiet small", text: question.model }),
    field,
  );
}

/**
 * @param {State} state
 * @param {DisputedLabel} line
 */
function choice(state, line) {
  const percent = line.shown ? percentOf(line.probability) : 0;
  const button = make(
    "button",
    {
      class: "choice",
      type: "button",
      "data-key": line.key,
      "data-label": line.label,
      "aria-pressed": "false",
      "aria-keyshortcuts": line.key || null,
      "aria-label": `${line.label}: ${line.about}${line.shown ? `, the model's share ${percent}%` : ""}`,
      onclick: (/** @type {MouseEvent} */ event) => mark(state, button, event.shiftKey),
    },
    line.key ? key(line.key.toUpperCase()) : make("span"),
    make(
      "span",
      { class: "what" },
      make("span", { class: "label" }, swatch(line.mark), line.label),
      make("span", { class: "about", text: line.about }),
    ),
    ...(line.shown ? shareBar(percent) : []),
  );
  // For the key only: Shift and a click do the same.
  const beside = make("button", {
    hidden: true,
    type: "button",
    "data-shift": line.key,
    onclick: () => mark(state, button, true),
  });
  return make("div", { class: "candidate" }, button, beside);
}

/** @param {State} state */
function badItem(state) {
  const button = make(
    "button",
    {
      class: "choice",
      type: "button",
      "data-key": "x",
      "data-bad": "",
      "aria-pressed": "false",
      "aria-keyshortcuts": "x",
      onclick: () => mark(state, button, false),
    },
    key("X"),
    make("span", { class: "what" }, make("span", { class: "label", text: "Bad item" })),
  );
  return make("div", { class: "candidate" }, button);
}

/** @param {State} state */
const chosen = ({ holder }) =>
  /** @type {HTMLElement[]} */ ([...holder.querySelectorAll('.choice[aria-pressed="true"]')]);

/**
 * @param {State} state
 * @param {HTMLElement} button
 * @param {boolean} beside : other chosen labels stay chosen
 */
function mark(state, button, beside) {
  const on = button.getAttribute("aria-pressed") !== "true";
  for (const one of chosen(state)) {
    if (!beside || "bad" in one.dataset) one.setAttribute("aria-pressed", "false");
  }
  button.setAttribute("aria-pressed", String(on));
  /** @type {HTMLButtonElement | null} */
  const save = state.holder.querySelector("[data-save]");
  if (save) save.disabled = chosen(state).length === 0;
}

/** @param {State} state */
function settle(state) {
  const labels = chosen(state).flatMap(({ dataset }) => (dataset.label === undefined ? [] : [dataset.label]));
  press(state, state.holder.querySelector("[data-save]"), "settle", labels);
}

/**
 * A button whose key is drawn as a symbol.
 *
 * @param {string} sign
 * @param {Parameters<typeof actionButton>} about
 */
function capped(sign, ...about) {
  const button = actionButton(...about);
  if (button.firstElementChild) button.firstElementChild.textContent = sign;
  return button;
}

/**
 * @param {State} state
 * @param {DisputeQuestion} question
 */
function actions(state, question) {
  const { undoable } = state.data;
  const place = question.list.findIndex((one) => one.current);
  const step = (/** @type {number} */ by) => question.list[place + by];
  const go = (/** @type {number} */ by) => {
    const other = step(by);
    if (other) press(state, null, "look", [], other.row);
  };
  const leave = () => {
    if (!state.note.trim()) openNote(state);
    else press(state, null, "discuss", []);
  };
  return answerGroup(
    capped("↵", "Enter", "Store the verdict", () => settle(state), {
      class: "action strong",
      disabled: true,
      "data-save": "",
    }),
    actionButton(question.noneKey, "Another…", () => openSearch(state, question), { "aria-haspopup": "dialog" }),
    actionButton("t", "Note", () => openNote(state), { "aria-expanded": String(Boolean(state.note)) }),
    actionButton("Shift+t", "Save only the note", leave, { title: "For other reviewers; not a verdict" }),
    capped("↑", "ArrowUp", "Previous", () => go(-1), { class: "action step", disabled: !step(-1) }),
    capped("↓", "ArrowDown", "Next", () => go(1), { class: "action step", disabled: !step(1) }),
    actionButton("u", "Undo", () => press(state, null, "undo", [], undoable), {
      disabled: undoable === null,
      "aria-label": "Undo my latest verdict",
    }),
  );
}
