// @ts-check
// Every class of a project, and every group of them, kept for the search: they come apart from the question, and may
// come late or come again.

import { folded, holdsWords } from "../card/folding.js";

/** @import { Sought, SoughtClass, SoughtGroup } from "./types.js" */

/** @type {Map<number, { classes: SoughtClass[], groups: SoughtGroup[] }>} */
const kept = new Map();
const changes = new EventTarget();

/**
 * Keep this list, and tell anyone who follows it.
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
 * The classes of the project; none while the list is on its way.
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
 * Hear of every new list until this is undone.
 *
 * @param {() => void} listener
 * @returns {() => void} undoes it
 */
export function follow(listener) {
  changes.addEventListener("change", listener);
  return () => changes.removeEventListener("change", listener);
}

/**
 * Texts that contain all words, ignoring case and accents; what is called just so first, then what begins with the first of them.
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
