// @ts-check
// Every class of the project, and every group of them, sent when the page is opened and kept for the card's search.

import { keep } from "./classes.js";

/** @import { Component } from "../card/types.js" */

/** @param {Component<{ project: number, classes: [string, string][], groups: [string, string[]][] }>} component */
export default function classList({ data }) {
  keep(data.project, data.classes, data.groups);
}
