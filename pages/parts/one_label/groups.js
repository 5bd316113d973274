// @ts-check
// A wider answer: the row is one of a group, such as a genus. Only the candidates in the group stay.

import { key, make } from "../card/elements.js";
import { keyName } from "../card/keys.js";
import { closeButton, openDialog } from "../card/panels.js";
import { press } from "../card/posting.js";
import { nameOf, say } from "../card/state.js";

/** @import { EntryKind, State } from "../card/types.js" */
/** @import { Candidate, CandidateGroup, CandidateQuestion, SearchedQuestion, SoughtGroup } from "./types.js" */

// The choices that are shown first, and the others, which a key shows.

/** @typedef {(candidate: Candidate) => HTMLElement} DrawRow */

const KEY = ".";

/**
 * Name of the question whose choices are all shown: they stay until the next question.
 *
 * @type {WeakMap<State, string | null>}
 */
const opened = new WeakMap();

/**
 * Whether some choices are hidden behind the key now.
 *
 * @param {State} state
 * @param {CandidateQuestion} question
 */
export const isShort = (state, question) => question.first !== null && opened.get(state) !== nameOf(state.data);

/**
 * The choices on screen, and the button that shows the others.
 *
 * @param {State} state
 * @param {CandidateQuestion} question
 * @param {DrawRow} row
 * @returns {HTMLElement[]}
 */
export function choicesNow(state, question, row) {
  if (!isShort(state, question)) return question.rows.map(row);
  const more = make(
    "button",
    {
      class: "more",
      type: "button",
      "data-key": KEY,
      "aria-keyshortcuts": KEY,
      "aria-label": `${behind(question)} more choices`,
      title: "Less likely choices; one of them may still be right.",
      onclick: () => showAll(state, question, row),
    },
    key(KEY),
    make("span", { text: `${behind(question)} more choices` }),
  );
  return [...question.rows.slice(0, question.first ?? 0).map(row), more];
}

/**
 * Shows the hidden choices and focuses the first of them.
 *
 * @param {State} state
 * @param {CandidateQuestion} question
 * @param {DrawRow} row
 */
export function showAll(state, question, row) {
  const { holder } = state;
  opened.set(state, nameOf(state.data));
  const others = question.rows.slice(question.first ?? 0).map(row);
  if (holder.querySelector(".card.marking"))
    for (const other of others) other.querySelector(".choice")?.setAttribute("aria-pressed", "false");
  holder.querySelector(".more")?.replaceWith(...others);
  holder.querySelector(".beyond")?.removeAttribute("hidden");
  /** @type {HTMLElement | null | undefined} */ (others[0]?.querySelector(".choice"))?.focus();
  say(state, `${behind(question)} more choices. If it is none of all these, press 0.`);
}

/**
 * The number of choices not shown first, in words.
 *
 * @param {CandidateQuestion} question
 */
export const behind = (question) => (question.rows.length + question.hidden - (question.first ?? 0)).toLocaleString();

const NAMED = 6;

/**
 * @param {State} state
 * @param {CandidateQuestion} question
 */
export function openGroups(state, question) {
  const buttons = question.groups.map((group) => groupButton(group, () => take(group)));
  const take = (/** @type {CandidateGroup} */ group) => {
    dialog.close();
    press(state, null, kindOf(group.labels), group.labels);
  };
  const dialog = openDialog(
    state,
    "grouping",
    "One of a group",
    make("h2", { text: "One of a group" }),
    make("p", { class: "small", text: "Keeps the candidates of the group and rules out all others." }),
    make("div", { class: "groups" }, ...buttons),
    make(
      "div",
      { class: "row" },
      closeButton(() => dialog.close()),
    ),
  );
  dialog.keys = (_typed, event) => {
    const name = keyName(event);
    const button = buttons.find((one) => one.dataset.group === name);
    if (name !== "w" && !button) return false;
    if (event.repeat) return true;
    if (button) button.click();
    else dialog.close();
    return true;
  };
}

/**
 * @param {CandidateGroup} group
 * @param {() => void} does
 */
function groupButton(group, does) {
  const names = firstOf(group.labels);
  return make(
    "button",
    {
      class: "choice group",
      type: "button",
      "data-group": group.key,
      "aria-keyshortcuts": group.key,
      "aria-label": `${group.name}: ${names}`,
      onclick: does,
    },
    group.key ? key(group.key.toUpperCase()) : make("span"),
    make(
      "span",
      { class: "what" },
      make("span", { class: "label", text: group.name }),
      make("span", { class: "about", text: names }),
    ),
  );
}

/**
 * The answer that a group found by the search gives: its kind and labels. Null if the group holds all
 * candidates and so would say nothing.
 *
 * @param {Pick<SearchedQuestion, "groups" | "rows">} question
 * @param {Pick<SoughtGroup, "label" | "classes">} group
 * @returns {{ kind: EntryKind, labels: string[], about: string } | null}
 */
export function answerOf(question, group) {
  const here = question.groups.find((one) => one.name === group.label);
  if (here) return { kind: kindOf(here.labels), labels: here.labels, about: `group: ${firstOf(here.labels)}` };
  if (question.rows.some((row) => group.classes.includes(row.label))) return null;
  return { kind: "none", labels: group.classes, about: `group, none of the candidates: ${firstOf(group.classes)}` };
}

/**
 * @param {string[]} labels
 * @returns {EntryKind}
 */
const kindOf = (labels) => (labels.length === 1 ? "is" : "among");

/** @param {string[]} labels */
export const firstOf = (labels) =>
  labels.slice(0, NAMED).join(", ") + (labels.length > NAMED ? ` and ${labels.length - NAMED} more` : "");
