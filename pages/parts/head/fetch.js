// @ts-check
// Downloads a file that was ready as soon as it was asked for.

/** @import { Component } from "../card/types.js" */

let latest = "";

/** @param {Component<{ address: string, name: string }>} component */
export default function fetchFile({ data }) {
  if (data.address === latest) return;
  latest = data.address;
  const link = document.createElement("a");
  link.href = data.address;
  link.download = data.name;
  link.click();
}
