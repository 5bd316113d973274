// @ts-check
// Ctrl+K, or the button at the right of the header: a searchable list of pages and projects.

import { drawing } from "../card/elements.js";

/** @import { Component } from "../card/types.js" */

/**
 * @typedef {{ group: string, name: string, about: string, page: string, project: number | null }} Place
 * @typedef {{ page: string, words: string }} Search
 * @typedef {Component<{ places: Place[], searches: Search[] }>} Jump
 */

const SHOWN = 8; // per group

/** @param {string} tag @param {string} [className] @param {string} [text] */
function element(tag, className = "", text = "") {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

/** Whether each word typed begins a word of the place, or is in its name. @param {Place} place @param {string} typed */
function fits(place, typed) {
  const text = `${place.name} ${place.about}`.toLowerCase();
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** The latest call by place, and how to remove its dialog, which stays open across reruns. */
const latest = new WeakMap();
const removers = new WeakMap();

/** @param {Jump} component */
export default function jump(component) {
  const { parentElement } = component;
  latest.set(parentElement, component);
  if (!removers.has(parentElement)) removers.set(parentElement, build(parentElement));
  return () => {
    if (latest.get(parentElement) !== component) return; // a later call has its own
    removers.get(parentElement)();
    removers.delete(parentElement);
  };
}

/** @param {Jump["parentElement"]} parentElement */
function build(parentElement) {
  const opener = element("button", "opener");
  opener.setAttribute("type", "button");
  opener.append(drawing("M7 12.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11ZM11 11l4 4"));
  opener.append(element("span", "", "Search"), element("kbd", "", "Ctrl K"));
  opener.setAttribute("aria-label", "Search pages, projects and rows, Ctrl+K");
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-label", "Search pages, projects and rows");
  const box = document.createElement("input");
  box.placeholder = "Search pages, projects and rows";
  box.setAttribute("role", "combobox");
  box.setAttribute("aria-expanded", "true");
  box.setAttribute("aria-controls", "winnow-places");
  const list = element("div", "places");
  list.id = "winnow-places";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Pages and projects");
  const foot = element("p", "keys");
  for (const [key, about] of [
    ["↑ ↓", "Select"],
    ["↵", "Open"],
    ["Esc", "Close"],
  ])
    foot.append(element("kbd", "", key), ` ${about} `);
  dialog.append(box, list, foot);
  parentElement.append(opener, dialog);

  /** @type {HTMLElement[]} */
  let lines = [];
  let chosen = 0;

  /** @param {number} place */
  function choose(place) {
    chosen = Math.max(0, Math.min(lines.length - 1, place));
    for (const [number, line] of lines.entries()) line.setAttribute("aria-selected", String(number === chosen));
    lines[chosen]?.scrollIntoView({ block: "nearest" });
    if (lines[chosen]) box.setAttribute("aria-activedescendant", lines[chosen].id);
    else box.removeAttribute("aria-activedescendant");
  }

  function draw() {
    list.replaceChildren();
    lines = [];
    const { places: all, searches } = /** @type {Jump["data"]} */ (latest.get(parentElement).data);
    for (const group of new Set(all.map((place) => place.group))) {
      const found = all.filter((place) => place.group === group && fits(place, box.value)).slice(0, SHOWN);
      if (!found.length) continue;
      head(group);
      for (const { name, about, page, project } of found) add(name, about, { page, project });
    }
    if (!lines.length) list.append(element("p", "group", "No page or project matches."));
    const words = box.value.trim();
    const project = Number(new URLSearchParams(location.search).get("project"));
    if (words && all.some((place) => place.project === project)) {
      if (searches.length) head("Rows of this project");
      for (const one of searches) add(`${one.words} “${words}”`, "", { page: one.page, project, words });
    }
    choose(0);
  }

  /** @param {string} group */
  function head(group) {
    const made = element("p", "group", group);
    made.setAttribute("role", "presentation");
    list.append(made);
  }

  /** Adds a selectable line. @param {string} name @param {string} about @param {object} place where it leads */
  function add(name, about, place) {
    const line = element("div", "line");
    const number = lines.length;
    line.id = `winnow-place-${number}`;
    line.setAttribute("role", "option");
    line.append(element("span", "name", name), element("span", "about", about));
    line.onclick = () => {
      dialog.close();
      latest.get(parentElement).setTriggerValue("go", place);
    };
    line.onpointermove = () => choose(number);
    lines.push(line);
    list.append(line);
  }

  function toggle() {
    if (dialog.open) return dialog.close();
    box.value = "";
    draw();
    dialog.showModal();
    box.focus();
  }

  box.oninput = draw;
  opener.onclick = toggle;
  dialog.onclick = (event) => event.target === dialog && dialog.close();
  // The box keeps the focus: otherwise a key press would answer the question behind the dialog.
  dialog.onmousedown = (event) => event.target !== box && event.preventDefault();
  dialog.onkeydown = (event) => {
    event.stopPropagation();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) choose(chosen + step);
    else if (event.key === "Enter") lines[chosen]?.click();
    else if (event.key === "k" && (event.ctrlKey || event.metaKey)) dialog.close();
    else if (event.key !== "Tab") return;
    event.preventDefault();
  };
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    if (event.key?.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (!event.repeat) toggle();
  };
  window.addEventListener("keydown", onKey, true);
  return () => {
    opener.remove();
    dialog.remove();
    latest.delete(parentElement);
    window.removeEventListener("keydown", onKey, true);
  };
}
