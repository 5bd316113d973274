// @ts-check
// Every class and group of a project, stored for the search: they are sent separately from the question, and
// may arrive late or again.

import { folded, holdsWords } from "../card/folding.js";

/** @import { Sought, SoughtClass, SoughtGroup } from "./types.js" */

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
