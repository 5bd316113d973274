// @ts-check
// The list of rows on the Queue and Review pages. A click opens a row in the drawer, which the server draws.

import { make } from "../card/elements.js";
import { CELLS, playMark } from "./cells.js";

/** @import { Component } from "../card/types.js" */
/** @import { Line, ListData } from "./types.js" */

const WIDTHS = {
  shares: "minmax(0, 1.1fr)",
  words: "minmax(0, 1.5fr)",
  near: "4.75rem",
  answer: "minmax(0, 1.1fr)",
  predicted: "minmax(0, 1.1fr)",
  person: "minmax(0, 9rem)",
  at: "7rem",
};

/**
 * State of each list between redraws.
 *
 * @typedef {object} Drawn
 * @property {string} said what is drawn
 * @property {string} list
 * @property {number | null} opened
 * @property {Set<number>} ticked
 * @property {(name: string, value: unknown) => void} send
 * @property {ListData} data
 */
/** @type {WeakMap<Node, Drawn>} */
const drawn = new WeakMap();

/** @param {Component<ListData>} component */
export default function list({ parentElement, data, setTriggerValue }) {
  const before = drawn.get(parentElement);
  const { opened, ticked, ...rest } = data;
  const said = JSON.stringify(rest);
  const ticks = before?.list === data.list ? before.ticked : new Set(ticked ?? []);
  const state = { said, list: data.list, opened, ticked: ticks, send: setTriggerValue, data };
  drawn.set(parentElement, state);
  if (before?.said !== said) draw(parentElement);
  mark(parentElement, state);
  if (before && before.opened !== opened) follow(parentElement, before.opened, opened);
}

/** @param {ParentNode & Node} root */
function draw(root) {
  const { data } = stateOf(root);
  const { columns, lines, pictured, ticked, name } = data;
  const table = make("div", {
    class: "list",
    role: "table",
    "aria-label": name,
    onkeydown: (/** @type {KeyboardEvent} */ event) => key(root, event),
    onkeyup: (/** @type {KeyboardEvent} */ event) => {
      const button = event.target instanceof Element && event.target.matches(".open");
      if (event.key === " " && ticked && button) event.preventDefault(); // it would also click a button
    },
  });
  const ahead = [ticked ? "1.5rem" : "", "2rem", pictured ? "4.75rem" : "", `minmax(0, ${pictured ? 1 : 1.8}fr)`];
  table.style.setProperty("--columns", [...ahead, ...columns.map((one) => WIDTHS[one.name])].join(" "));
  table.classList.toggle("pictured", pictured);
  const keys = `Arrow keys go from row to row, Enter opens a row${ticked ? ", Space selects it" : ""}.`;
  table.append(heading(root, data), ...lines.map((line, place) => drawLine(root, data, line, place)));
  const help = make("p", { class: "help", id: "help", text: keys });
  table.setAttribute("aria-describedby", help.id);
  for (const old of root.querySelectorAll(".list, .help")) old.remove();
  root.append(help, table);
}

/**
 * @param {ParentNode & Node} root
 * @param {ListData} data
 */
function heading(root, { columns, pictured, ticked, rows }) {
  const every = make("input", {
    type: "checkbox",
    class: "every",
    "aria-label": "Select all listed rows",
    onchange: () => tick(root, every.checked ? rows : []),
  });
  const title = (/** @type {Record<string, unknown>} */ attributes) =>
    make("span", { role: "columnheader", ...attributes });
  return make(
    "div",
    { class: "line head", role: "row" },
    ticked && make("div", { role: "columnheader", class: "tick" }, make("label", {}, every)),
    title({ class: "place", text: "#" }),
    pictured && title({ "aria-label": "Picture or recording" }),
    title({ text: "Row" }),
    ...columns.map(({ title: text, about }) => title({ text, title: about || null })),
  );
}

/**
 * @param {ParentNode & Node} root
 * @param {ListData} data
 * @param {Line} line
 * @param {number} place
 */
function drawLine(root, { columns, pictured, ticked, rows, zone }, line, place) {
  const { id, image, sound, text } = line;
  const open = (/** @type {boolean} */ play) => {
    const state = stateOf(root);
    mark(root, { ...state, opened: place });
    state.send("open", { at: place, row: rows[place], play });
  };
  const box = make("input", {
    type: "checkbox",
    tabindex: "-1",
    "aria-label": `Select row ${id}`,
    onchange: () => {
      const next = new Set(stateOf(root).ticked);
      if (box.checked) next.add(rows[place]);
      else next.delete(rows[place]);
      tick(root, [...next]);
    },
  });
  const picture = image
    ? make("img", { alt: "", loading: "lazy", decoding: "async", src: image, onload: small })
    : sound && playMark(id, () => open(true));
  return make(
    "div",
    { class: "line", role: "row" },
    ticked && make("div", { role: "cell", class: "tick" }, make("label", {}, box)),
    make("span", { role: "cell", class: "place", text: line.place }),
    pictured && make("div", { role: "cell", class: "thumb" }, picture),
    make(
      "div",
      { role: "cell", class: "named" },
      make(
        "button",
        {
          class: "open",
          type: "button",
          "aria-label": text ? `Row ${id}: ${text}` : `Row ${id}`,
          "aria-expanded": "false",
          tabindex: place ? "-1" : "0",
          onclick: () => open(false),
          onfocus: () => reach(root, place),
        },
        text && make("span", { class: "text", dir: "auto", text }),
        make("span", { class: text ? "id under" : "id", dir: "auto", text: id }),
      ),
    ),
    ...columns.map(({ name }) => make("div", { role: "cell", class: name }, ...CELLS[name](line, zone))),
  );
}

/**
 * Makes this row the one that Tab reaches: within the list the arrow keys move.
 *
 * @param {ParentNode} root
 * @param {number} place
 */
function reach(root, place) {
  for (const [at, button] of root.querySelectorAll(".open").entries())
    button.setAttribute("tabindex", at === place ? "0" : "-1");
}

/**
 * Up and down move to another row, Space selects it, P plays it, Enter opens it like any button.
 *
 * @param {ParentNode & Node} root
 * @param {KeyboardEvent} event
 */
function key(root, event) {
  const buttons = [...root.querySelectorAll(".open")];
  const at = event.target instanceof Element ? buttons.indexOf(event.target) : -1;
  if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
  const line = buttons[at].closest(".line");
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
  const pressed = { " ": ".tick input", p: ".play" }[event.key];
  const part = next === undefined ? pressed && line?.querySelector(pressed) : buttons[next];
  if (next === undefined && !part) return;
  event.preventDefault();
  if (!(part instanceof HTMLElement)) return;
  if (next === undefined) part.click();
  else part.focus();
}

/** @param {Event} event */
function small({ target }) {
  if (target instanceof HTMLImageElement) target.classList.toggle("small", target.naturalHeight < 52);
}

/**
 * @param {ParentNode & Node} root
 * @param {number[]} rows
 */
function tick(root, rows) {
  const state = stateOf(root);
  state.ticked = new Set(rows);
  mark(root, state);
  state.send("tick", { list: state.list, rows });
}

/**
 * Shows which row is open and which are ticked.
 *
 * @param {ParentNode & Node} root
 * @param {Drawn} state
 */
function mark(root, { opened, ticked, data: { rows } }) {
  for (const [place, button] of root.querySelectorAll(".open").entries()) {
    button.setAttribute("aria-expanded", String(place === opened));
    button.closest(".line")?.classList.toggle("opened", place === opened);
  }
  for (const [place, box] of root.querySelectorAll(".line:not(.head) input").entries())
    if (box instanceof HTMLInputElement) box.checked = ticked.has(rows[place]);
  const every = root.querySelector(".every");
  if (!(every instanceof HTMLInputElement)) return;
  every.checked = ticked.size > 0 && ticked.size === rows.length;
  every.indeterminate = ticked.size > 0 && !every.checked;
}

/**
 * Keeps the open row in view; once the drawer is closed, the focus returns to the row that it showed.
 *
 * @param {ParentNode} root
 * @param {number | null} before
 * @param {number | null} now
 */
function follow(root, before, now) {
  const at = now ?? before;
  const button = at === null ? null : root.querySelectorAll(".open")[at];
  if (!(button instanceof HTMLElement)) return;
  button.closest(".line")?.scrollIntoView({ block: "nearest" });
  const focus = document.activeElement;
  if (now === null && (!focus || focus === document.body || focus.closest(".st-key-winnow_drawer")))
    button.focus({ preventScroll: true });
}

/** @param {Node} root */
function stateOf(root) {
  const state = drawn.get(root);
  if (!state) throw new Error("The list could not be shown.");
  return state;
}
