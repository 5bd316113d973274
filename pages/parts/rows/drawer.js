// @ts-check
// The head of the drawer with the open row: its name, and buttons for the next row, the previous one, and
// closing.

import { drawing, find, make, typesText } from "../card/elements.js";

/** @import { Component } from "../card/types.js" */
/** @import { DrawerData } from "./types.js" */

const DRAWER = ".st-key-winnow_drawer";

/**
 * The latest data and callback to the server, by the element that is drawn into. call : the latest, see
 * `card/card.js`
 *
 * @typedef {object} Drawn
 * @property {number | null} at
 * @property {number} count
 * @property {(name: string, value: unknown) => void} send
 * @property {object} call
 * @property {(event: KeyboardEvent) => void} hear
 */
/** @type {WeakMap<Node, Drawn>} */
const drawn = new WeakMap();

/** @param {Component<DrawerData>} component */
export default function drawer({ parentElement, data: { title, at, count }, setTriggerValue }) {
  const before = drawn.get(parentElement);
  const hear = before?.hear ?? ((/** @type {KeyboardEvent} */ event) => key(parentElement, event));
  const call = {};
  drawn.set(parentElement, { at, count, send: setTriggerValue, call, hear });
  if (!before) draw(parentElement);
  find(parentElement, "h2").textContent = title;
  step(parentElement, 0);
  const around = drawerOf(parentElement);
  around?.setAttribute("role", "dialog");
  around?.setAttribute("aria-label", title);
  around?.removeAttribute("data-shut");
  if (!before) find(parentElement, "h2").focus({ preventScroll: true });
  if (!before) window.addEventListener("keydown", hear, true);
  return () => {
    if (drawn.get(parentElement)?.call !== call) return;
    window.removeEventListener("keydown", hear, true);
    drawn.delete(parentElement);
  };
}

/** @param {ParentNode & Node} root */
function draw(root) {
  root.querySelector("header")?.remove();
  const button = (/** @type {string} */ name, /** @type {string} */ path, /** @type {() => void} */ onclick) =>
    make("button", { type: "button", "aria-label": name, title: name, onclick }, drawing(path));
  root.append(
    make(
      "header",
      {},
      make("h2", { tabindex: "-1", dir: "auto", "aria-live": "polite" }),
      button("Previous row (K)", "M10 3 5 8l5 5", () => step(root, -1)),
      button("Next row (J)", "m6 3 5 5-5 5", () => step(root, 1)),
      button("Close (Esc)", "m3.5 3.5 9 9M12.5 3.5l-9 9", () => close(root)),
    ),
  );
}

/**
 * Moves by this many rows; buttons that would lead nowhere are disabled.
 *
 * @param {ParentNode & Node} root
 * @param {number} rows
 */
function step(root, rows) {
  const state = drawn.get(root);
  if (!state) return;
  const { at, count } = state;
  const next = Math.min(count - 1, Math.max(0, (at ?? (rows > 0 ? -1 : count)) + rows));
  if (rows && next !== at) {
    state.at = next;
    state.send("go", { at: next });
  }
  const [before, after] = root.querySelectorAll("button");
  before.disabled = !count || state.at === 0;
  after.disabled = !count || state.at === count - 1;
}

/** @param {ParentNode & Node} root */
function close(root) {
  drawerOf(root)?.setAttribute("data-shut", ""); // at once, before the server does
  drawn.get(root)?.send("close", true);
}

/**
 * @param {ParentNode & Node} root
 * @param {KeyboardEvent} event
 */
function key(root, event) {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  const [at] = event.composedPath();
  // Dialogs over the page, including a zoomed image, and open menus have their own keys.
  if (event.composedPath().some((node) => node instanceof HTMLDialogElement && node.open)) return;
  if (event.key === "Escape" && opensList(at)) return;
  if (event.repeat && event.key !== "Escape") return; // one row per key press
  if (event.key === "Escape") close(root);
  else if (!typesText(at) && event.key === "j") step(root, 1);
  else if (!typesText(at) && event.key === "k") step(root, -1);
  else return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** @param {EventTarget} node */
const opensList = (node) =>
  node instanceof Element &&
  !node.matches(".open") &&
  (node.getAttribute("aria-expanded") === "true" || node.closest('[role="menu"], [role="listbox"]') !== null);

/** @param {Node} root */
function drawerOf(root) {
  const shadow = root.getRootNode();
  const host = shadow instanceof ShadowRoot ? shadow.host : root;
  return host instanceof Element ? host.closest(DRAWER) : null;
}
