// @ts-check
// The text of one row, for pages that show a row at a time: as on the question card, with nothing marked.

import { reading } from "./reading.js";

/** @import { Component } from "./types.js" */

/** @param {Component<{ text: string }>} component */
export default function rowText({ data, parentElement }) {
  parentElement.querySelector(".reading")?.remove();
  parentElement.append(reading(data.text));
}
