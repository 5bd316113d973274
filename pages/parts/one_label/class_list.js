// @ts-check
// Every class and group of the project, sent when the page is opened and stored for the card's search.

import { keep } from "./search.js";

/** @import { Component } from "../card/types.js" */

/** @param {Component<{ project: number, classes: [string, string][], groups: [string, string[]][] }>} component */
export default function classList({ data }) {
  keep(data.project, data.classes, data.groups);
}
