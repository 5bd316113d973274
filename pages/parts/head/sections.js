// @ts-check
// On a phone one select shows the section of a page in place of its tabs, and chooses among them.

import { make } from "../card/elements.js";

/** @import { Component } from "../card/types.js" */

const TABS = '.st-key-winnow_settings > [data-testid="stTabs"] > div > [role="tablist"] > [role="tab"]';

/** @param {Component<{ names: string[] }>} component */
export default function sections({ data, parentElement }) {
  const select = parentElement.querySelector("select");
  if (!select) return;
  const tabs = () => /** @type {HTMLElement[]} */ ([...document.querySelectorAll(TABS)]);
  const follow = () => {
    select.selectedIndex = Math.max(
      0,
      tabs().findIndex((tab) => tab.ariaSelected === "true"),
    );
  };
  select.replaceChildren(...data.names.map((name) => make("option", { text: name })));
  select.onchange = () => tabs()[select.selectedIndex]?.click();
  select.onfocus = follow; // the tabs may have been used while the window was wider
  follow();
}
