// @ts-check
// Every class of a project, kept for the search: it comes apart from the question, and may come late or come anew.

/** @import { SoughtClass } from "./types.js" */

/** @type {Map<number, SoughtClass[]>} */
const kept = new Map();
const changes = new EventTarget();

/**
 * Keep this list, and tell whoever follows it.
 *
 * @param {number} project
 * @param {[label: string, about: string][]} classes
 */
export function keep(project, classes) {
  kept.set(
    project,
    classes.map(([label, about]) => ({ label, about, sought: label.toLowerCase() })),
  );
  changes.dispatchEvent(new Event("change"));
}

/**
 * The classes of the project; none while the list is on its way.
 *
 * @param {number} project
 * @returns {SoughtClass[]}
 */
export const classesOf = (project) => kept.get(project) ?? [];

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
 * The classes that hold all words, those that begin with the first of them before the others.
 *
 * @param {SoughtClass[]} classes
 * @param {string} query
 * @returns {SoughtClass[]}
 */
export function matching(classes, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return classes;
  const found = classes.filter((one) => words.every((word) => one.sought.includes(word)));
  const begins = (/** @type {SoughtClass} */ one) => one.sought.startsWith(words[0]);
  return [...found.filter(begins), ...found.filter((one) => !begins(one))];
}
