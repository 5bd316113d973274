// @ts-check
// Creating elements. Text from tables and people enters only through textContent and attributes.

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, unknown>} attributes null, undefined and false: not set; `text`; `on…`: what hears it
 * @param {(Node | string | false | null | undefined | 0)[]} children what is not there is left out
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") node.textContent = String(value);
    else if (name.startsWith("on")) Object.assign(node, { [name]: value });
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(.../** @type {(Node | string)[]} */ (children.filter(Boolean)));
  return node;
}

/**
 * The element for this selector, which must exist.
 *
 * @template {Element} [Found=HTMLElement]
 * @param {ParentNode} root
 * @param {string} selector
 * @returns {Found}
 */
export function find(root, selector) {
  const found = root.querySelector(selector);
  if (!found) throw new Error(`The card has no ${selector}.`);
  return /** @type {Found} */ (found);
}

/** @param {string} name */
export const key = (name) => make("kbd", { text: name, "aria-hidden": "true" });

/** @param {number} share */
export const percentOf = (share) => Math.round(share * 100);

/**
 * The share as a bar and as a number.
 *
 * @param {number} percent
 * @param {number} width of the bar in percent, if it is not the share itself
 * @param {Node | null | undefined} over is on the bar
 */
export const shareBar = (percent, width = percent, over = null) => [
  make("span", { class: "bar" }, make("span", { class: "fill", style: `width:${width}%` }), over),
  make("span", { class: "percent", text: `${percent}%` }),
];

/**
 * Whether this is a text field: a key pressed there is text, not a command.
 *
 * @param {EventTarget | null} node
 */
export const typesText = (node) =>
  node instanceof HTMLElement && (/^(INPUT|TEXTAREA|SELECT)$/.test(node.tagName) || node.isContentEditable);

/** @param {string} name */
export function initials(name) {
  const text = name
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => [...word][0] ?? "")
    .join("");
  return make("span", { class: "initials", "aria-hidden": "true", text: text.toUpperCase() });
}

/**
 * A line drawing of 16 by 16 points.
 *
 * @param {string} path
 * @param {"fill" | "stroke"} how
 */
export function drawing(path, how = "stroke") {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("d", path);
  svg.append(line);
  for (const [name, value] of Object.entries({ viewBox: "0 0 16 16", class: how, "aria-hidden": "true" }))
    svg.setAttribute(name, value);
  return svg;
}
