// @ts-check
// The table of an uploaded file: the role of each column is a chip in its header, a list to choose another
// from.

import { make } from "../card/elements.js";

/** @import { Component } from "../card/types.js" */

/**
 * @typedef {{ name: string, role: string, cells: string[] }} Column
 * @typedef {{ columns: Column[], roles: [role: string, words: string][], foot: string }} ColumnsData
 */

/** @type {WeakMap<Node, { table: string, send: (name: string, value: unknown) => void }>} */
const drawn = new WeakMap();

/** @param {Component<ColumnsData>} component */
export default function columns({ parentElement, data, setTriggerValue }) {
  const shown = JSON.stringify(data.columns.map(({ name, cells }) => [name, cells]));
  const before = drawn.get(parentElement);
  drawn.set(parentElement, { table: shown, send: setTriggerValue });
  const box = parentElement.querySelector(".columns") ?? make("div", { class: "columns" });
  if (before?.table !== shown) {
    box.replaceChildren(table(parentElement, data), make("p", { class: "foot" }));
    parentElement.append(box);
  }
  mark(box, data);
}

/**
 * Shows the role of each column. The focused chip is not touched, so that a choice in progress is not lost.
 *
 * @param {Element} box
 * @param {ColumnsData} data
 */
function mark(box, { columns: all, foot }) {
  const chips = [...box.querySelectorAll("select")];
  for (const [place, { role }] of all.entries()) {
    const chip = chips[place];
    if (!chip.matches(":focus")) chip.value = role;
    chip.classList.toggle("none", !role);
    for (const cell of box.querySelectorAll(`tr > :nth-child(${place + 1})`)) cell.classList.toggle("ignored", !role);
  }
  const words = box.querySelector(".foot");
  if (words) words.textContent = foot;
}

/**
 * @param {Node} root
 * @param {ColumnsData} data
 */
function table(root, { columns: all, roles }) {
  const rows = all[0]?.cells.length ?? 0;
  return make(
    "div",
    { class: "box", tabindex: "0", role: "region", "aria-label": "First rows of the file" },
    make(
      "table",
      {},
      make("thead", {}, make("tr", {}, ...all.map((one) => head(root, one, roles)))),
      make(
        "tbody",
        {},
        ...Array.from({ length: rows }, (_, row) =>
          make(
            "tr",
            {},
            ...all.map(({ role, cells }) =>
              make("td", { class: role ? null : "ignored", dir: "auto", text: cells[row] }),
            ),
          ),
        ),
      ),
    ),
  );
}

/**
 * @param {Node} root
 * @param {Column} column
 * @param {ColumnsData["roles"]} roles
 */
function head(root, { name }, roles) {
  const chip = make(
    "select",
    {
      class: "chip",
      "aria-label": `Role of the column ${name}`,
      onchange: () => drawn.get(root)?.send("role", { column: name, role: chip.value }),
    },
    ...roles.map(([value, text]) => make("option", { value, text })),
  );
  return make("th", { scope: "col" }, chip, make("span", { class: "name", dir: "auto", text: name }));
}
