// @ts-check
// A wider answer: the row is one of a group, such as a genus. Only the candidates in the group stay.

import { closeButton, openDialog } from "../card/dialog.js";
import { key, make } from "../card/elements.js";
import { keyName } from "../card/key_names.js";
import { press } from "../card/press.js";

/** @import { EntryKind, State } from "../card/types.js" */
/** @import { CandidateGroup, CandidateQuestion, SearchedQuestion, SoughtGroup } from "./types.js" */

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
