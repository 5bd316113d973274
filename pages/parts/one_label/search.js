// @ts-check
// The search over all classes and groups. Enter chooses the highlighted one.

import { make } from "../card/elements.js";
import { closeButton, openDialog } from "../card/panels.js";
import { press } from "../card/posting.js";
import { folded, holdsWords } from "../card/words.js";
import { answerOf } from "./groups.js";

/** @import { EntryKind, State } from "../card/types.js" */
/** @import { SearchedQuestion, Sought, SoughtClass, SoughtGroup } from "./types.js" */

// Every class and group of a project, stored for the search: they are sent separately from the question, and
// may arrive late or again.

/** @type {Map<number, { classes: SoughtClass[], groups: SoughtGroup[] }>} */
const kept = new Map();
const changes = new EventTarget();

/**
 * Stores this list, and notifies all listeners.
 *
 * @param {number} project
 * @param {[label: string, about: string][]} classes
 * @param {[name: string, classes: string[]][]} groups
 */
export function keep(project, classes, groups = []) {
  kept.set(project, {
    classes: classes.map(([label, about]) => ({ label, about, sought: folded(label) })),
    groups: groups.map(([label, members]) => ({ label, classes: members, sought: folded(label) })),
  });
  changes.dispatchEvent(new Event("change"));
}

/**
 * The classes of the project; none until the list has arrived.
 *
 * @param {number} project
 * @returns {SoughtClass[]}
 */
export const classesOf = (project) => kept.get(project)?.classes ?? [];

/**
 * The groups of its classes.
 *
 * @param {number} project
 * @returns {SoughtGroup[]}
 */
export const groupsOf = (project) => kept.get(project)?.groups ?? [];

/**
 * Calls the listener at every new list until this is undone.
 *
 * @param {() => void} listener
 * @returns {() => void} undoes it
 */
export function follow(listener) {
  changes.addEventListener("change", listener);
  return () => changes.removeEventListener("change", listener);
}

/**
 * Texts that contain all words, ignoring case and accents: exact matches first, then those that begin with
 * the first word.
 *
 * @template {Sought} T
 * @param {T[]} listed
 * @param {string} query
 * @returns {T[]}
 */
export function matching(listed, query) {
  const [first] = folded(query).split(/\s+/).filter(Boolean);
  if (!first) return listed;
  const found = listed.filter((one) => holdsWords(one.sought, query));
  const whole = folded(query).trim();
  const rank = (/** @type {T} */ one) => (one.sought === whole ? 0 : one.sought.startsWith(first) ? 1 : 2);
  return [0, 1, 2].flatMap((wanted) => found.filter((one) => rank(one) === wanted));
}

/** @typedef {{ text: string, about?: string, kind: EntryKind, labels: string[], look?: "cannot" | "many" }} Option */
/** @typedef {Option & { label: string, sought: string }} Found */

const SHOWN = 50;

/** @type {Option} */
const CANNOT = { text: "None of these; I do not know which", kind: "none", labels: [], look: "cannot" };

/** @type {Record<string, number>} */
const STEPS = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };

/**
 * @param {State} state
 * @param {SearchedQuestion} question
 * @param {string} before a warning above the search; "" for none
 */
export function openSearch(state, question, before = "") {
  const here = new Set(question.rows.map((one) => one.label));
  const title = question.none ? "None of these" : "Find a class";
  const list = make("ul", { class: "found", role: "listbox", id: "found", "aria-label": "Classes" });
  const status = make("p", { class: "small quiet", role: "status" });
  const input = make("input", {
    class: "query",
    type: "text",
    role: "combobox",
    "aria-expanded": "true",
    "aria-controls": "found",
    "aria-autocomplete": "list",
    autocomplete: "off",
    spellcheck: "false",
    "aria-label": "Search all classes",
    "aria-describedby": before ? "before" : null,
    placeholder: `Search all ${question.nClasses.toLocaleString()} classes`,
  });
  /** @type {Found[]} */
  let all = [];
  /** @type {Option[]} */
  let options = [];
  let active = 0;
  const readClasses = () => {
    const classes = classesOf(state.data.project);
    const sorted = [...classes.filter((one) => !here.has(one.label)), ...classes.filter((one) => here.has(one.label))];
    all = [...sorted.map(classOption), ...groupOptions(question, state.data.project)];
  };
  const light = (/** @type {number} */ place) => {
    list.children[active]?.setAttribute("aria-selected", "false");
    active = Math.min(place, options.length - 1);
    list.children[active]?.setAttribute("aria-selected", "true");
    list.children[active]?.scrollIntoView({ block: "nearest" });
    if (active < 0) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", `found${active}`);
  };
  const take = (/** @type {Option | undefined} */ option) => {
    if (!option) return;
    dialog.close();
    press(state, null, option.kind, option.labels);
  };
  /** @type {(option: Option, place: number) => HTMLElement} */
  const line = (option, place) =>
    make(
      "li",
      {
        role: "option",
        id: `found${place}`,
        class: option.look ?? "",
        "aria-selected": "false",
        onpointermove: () => light(place),
        onclick: () => take(option),
      },
      make("span", { text: option.text }),
      make("span", {
        class: "about",
        text:
          [here.has(option.text) && !option.look && "a candidate", option.about].filter(Boolean).join(" · ") || null,
      }),
    );
  const fill = () => {
    const found = matching(all, input.value);
    /** @type {Option[]} */
    const cannot = question.none ? [CANNOT] : [];
    const named = found.slice(0, SHOWN);
    options = input.value.trim() ? [...named, ...cannot] : [...cannot, ...named];
    list.replaceChildren(...options.map(line));
    status.textContent = howMany(all.length, found.length, question.none);
    light(input.value.trim() && !found.length ? -1 : 0); // an unknown word must not answer "none of these"
  };
  // The list may arrive, even again, while the search is open: it is shown, and the highlight stays.
  const refill = () => {
    const lit = options[active]?.text;
    readClasses();
    fill();
    const place = options.findIndex((one) => one.text === lit);
    if (lit !== undefined && place >= 0) light(place);
  };
  input.oninput = fill;
  input.onkeydown = (event) => {
    const step = STEPS[event.key];
    if (step) {
      event.preventDefault();
      light(Math.max(0, active + step));
    } else if (event.key === "Enter" && !event.isComposing && !event.repeat) {
      event.preventDefault();
      take(options[active]);
    }
  };
  const dialog = openDialog(
    state,
    "searching",
    title,
    make("h2", { text: title }),
    before && make("p", { class: "before", id: "before", text: before }),
    question.none &&
      make(
        "p",
        { class: "small" },
        "Which one is it? ",
        make("span", { class: "keyed", text: "Enter chooses the highlighted one." }),
      ),
    input,
    list,
    status,
    make(
      "div",
      { class: "row" },
      closeButton(() => dialog.close()),
    ),
  );
  dialog.addEventListener("close", follow(refill));
  readClasses();
  fill();
  input.focus();
}

/**
 * @param {SoughtClass} one
 * @returns {Found}
 */
const classOption = (one) => ({ ...one, text: one.label, kind: "none", labels: [one.label] });

/**
 * The groups that can answer the question.
 *
 * @param {SearchedQuestion} question
 * @param {number} project
 * @returns {Found[]}
 */
const groupOptions = (question, project) =>
  groupsOf(project).flatMap((group) => {
    const answer = answerOf(question, group);
    return answer ? [{ ...answer, label: group.label, sought: group.sought, text: group.label, look: "many" }] : [];
  });

/**
 * Result line of the search.
 *
 * @param {number} all classes and groups there are to search
 * @param {number} found of them
 * @param {boolean} none "none" without a name is a possible answer
 */
export function howMany(all, found, none) {
  if (!all) return "The list of classes is still loading.";
  if (!found && none) return "No match. Arrow down, then Enter: none of these.";
  if (found > SHOWN) return `${SHOWN} of ${found.toLocaleString()} shown; type to narrow.`;
  return `${found.toLocaleString()} found.`;
}
