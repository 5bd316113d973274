// @ts-check
// A question about a whole row: all its labels as toggles. Enter stores the selected ones as right, all
// others as not.

import { actionButton, answerButton, answerGroup, NEAR, noteField } from "../card/actions.js";
import { find, key, make, percentOf, shareBar } from "../card/elements.js";
import { COMMON_KEYS } from "../card/panels.js";
import { press } from "../card/posting.js";
import { questionHead, reason } from "../card/question.js";
import { nameOf } from "../card/state.js";
import { folded, holdsWords } from "../card/words.js";

/** @import { Room, State } from "../card/types.js" */
/** @import { CellLine, Picks, VectorQuestion } from "./types.js" */

// The search over the labels of a row with many. Enter selects the first match.

/** Number of labels above which there is a search. */
const SEARCHED = 12;

/**
 * The field and its status text; only the latter if the labels are few.
 *
 * @param {Picks} picks
 * @param {HTMLElement} list
 * @param {number} count
 */
export function search(picks, list, count) {
  const told = make("p", { class: "small quiet", role: "status", hidden: true });
  const tell = (/** @type {string} */ words) => {
    told.textContent = words;
    told.hidden = !words;
  };
  const seek = make("input", {
    class: "query seek",
    type: "text",
    autocomplete: "off",
    spellcheck: "false",
    "aria-label": "Search the labels",
    placeholder: `Search ${count.toLocaleString()} labels; Enter marks the first`,
  });
  const toggles = /** @type {HTMLElement[]} */ ([...list.children]);
  const names = toggles.map((toggle) => folded(toggle.dataset.label ?? ""));
  const filter = () => {
    picks.sought = seek.value;
    for (const [place, toggle] of toggles.entries()) toggle.hidden = !holdsWords(names[place], seek.value);
    tell(toggles.some((toggle) => !toggle.hidden) ? "" : "No label matches.");
  };
  seek.oninput = filter;
  seek.onkeydown = (event) => {
    if (event.isComposing || !["Enter", "Escape"].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Escape" && !seek.value) {
      seek.blur();
      return;
    }
    const takes = event.key === "Enter" && !event.repeat && seek.value.trim();
    const first = takes && toggles.find((toggle) => !toggle.hidden);
    seek.value = "";
    filter();
    if (!first) return;
    const marked = first.getAttribute("aria-pressed") === "true"; // a search for it does not mean to deselect it
    if (!marked) first.click();
    const { label } = first.dataset;
    tell(marked ? `${label} was marked already; press it to unmark it.` : `${label} is marked.`);
  };
  seek.value = picks.sought;
  filter();
  if (count <= SEARCHED) return [told];
  const opens = actionButton("0", "Find", () => seek.focus(), { "aria-label": "Find a label" });
  return [make("div", { class: "seeking" }, opens, seek), told];
}

// Answers about label vectors that give no label.

/**
 * Cannot tell, skip, bad item.
 *
 * @param {State} state
 */
export const setAside = (state) => [
  answerButton(state, "c", "unsure", "Cannot tell", { ...NEAR, title: "You are not asked this again" }),
  answerButton(state, "s", "skip", "Skip", { ...NEAR, title: "It comes back later" }),
  answerButton(state, "x", "bad", "Bad item", { title: "Exclude the row: it is broken or off topic" }),
];

/**
 * Their last two lines on the key help.
 *
 * @type {[string, string][]}
 */
export const setAsideKeys = [
  ["S", "Skip: asked again later"],
  ["X", "Bad item: exclude the row"],
];

/** @type {Room<VectorQuestion>} */
export const labels = {
  keys: [
    ["1 – 9, then letters", "Mark the label, or unmark it"],
    ["↵ Enter", "Save: the marked labels are right, all others are not"],
    ["0", "Search the labels; Enter marks the first and never unmarks it, Escape goes back to the keys"],
    ["C", "Cannot tell: you are not asked about this row again"],
    ["U / Shift + U", "Undo, redo: over your last 50 answers"],
    ...setAsideKeys,
    ...COMMON_KEYS,
  ],
  asking,
  actions: (state) => answerGroup(...setAside(state)),
  drawn: showPicked,
  entering: (state, question) => () => saveRow(state, question),
};

/** @type {WeakMap<State, Picks>} */
const kept = new WeakMap();

/**
 * The selection for this question; it survives redraws and a refused save.
 *
 * @param {State} state
 * @param {VectorQuestion} question
 * @returns {Picks}
 */
function picksOf(state, question) {
  const screen = `${state.data.tab} ${nameOf(state.data)} ${question.shown}`;
  const before = kept.get(state);
  if (before?.screen === screen) return before;
  const known = question.rows.filter((row) => row.cell === 1).map((row) => row.label);
  const picks = { screen, labels: new Set(known), sought: "" };
  kept.set(state, picks);
  return picks;
}

/**
 * @param {State} state
 * @param {VectorQuestion} question
 * @param {CellLine} row
 */
function toggleRow(state, question, row) {
  const percent = percentOf(row.probability);
  const known = row.cell === 1 ? "known: yes" : row.cell === 0 ? "known: no" : null;
  const about = [known, row.about].filter(Boolean).join(" · ");
  const picked = picksOf(state, question).labels;
  const toggle = make(
    "button",
    {
      class: "choice toggle",
      type: "button",
      "data-key": row.key,
      "data-label": row.label,
      "aria-keyshortcuts": row.key || null,
      "aria-pressed": String(picked.has(row.label)),
      "aria-label": `${row.label}${about ? `, ${about}` : ""}, the model's share ${percent}%`,
      onclick: () => {
        if (!picked.delete(row.label)) picked.add(row.label);
        toggle.setAttribute("aria-pressed", String(picked.has(row.label)));
        showPicked(state, question);
      },
    },
    row.key ? key(row.key.toUpperCase()) : make("span"),
    make(
      "span",
      { class: "what" },
      make("span", { class: "label", text: row.label }),
      about && make("span", { class: "about", text: about }),
    ),
    ...shareBar(percent),
  );
  return toggle;
}

/**
 * @param {State} state
 * @param {VectorQuestion} question
 */
function asking(state, question) {
  const list = make(
    "div",
    { class: "choices", role: "group", "aria-label": "Labels" },
    ...question.rows.map((row) => toggleRow(state, question, row)),
  );
  return make(
    "section",
    { class: "ask labels", "aria-label": "Labels" },
    questionHead(state, question, "Which labels are right?"),
    ...search(picksOf(state, question), list, question.rows.length),
    list,
    make(
      "button",
      {
        class: "action strong saverow",
        type: "button",
        "data-save-row": "",
        "aria-keyshortcuts": "Enter",
        onclick: () => saveRow(state, question),
      },
      key("↵"),
      make("span", { class: "count" }),
    ),
    noteField(state),
    reason(question, "Why this row?"),
  );
}

/**
 * @param {State} state
 * @param {VectorQuestion} question
 */
function showPicked(state, question) {
  const yes = picksOf(state, question).labels.size;
  find(state.holder, "[data-save-row] .count").textContent = saveWords(yes, question.rows.length);
}

/**
 * Text of the save button.
 *
 * @param {number} yes labels that are selected
 * @param {number} all
 */
export function saveWords(yes, all) {
  const counted = (/** @type {number} */ count) => `${count.toLocaleString()} ${count === 1 ? "label" : "labels"}`;
  return yes === 0 ? `Save: none of ${counted(all)}` : `Save: ${counted(yes)}, ${(all - yes).toLocaleString()} not`;
}

/**
 * @param {State} state
 * @param {VectorQuestion} question
 */
function saveRow(state, question) {
  const picked = picksOf(state, question).labels;
  const right = question.rows.map((row) => row.label).filter((label) => picked.has(label));
  press(state, find(state.holder, "[data-save-row]"), "labels", right);
}
