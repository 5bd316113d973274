// @ts-check
// On a phone Streamlit shows the menu as a drawer over the page and leaves it open after a page is chosen,
// even after a reload. A click outside closes it, so every choice is followed by one.

import { offerInstalling } from "./installing.js";

/** @import { Component } from "../card/types.js" */

// Under headings Streamlit puts the entries into a list, but not as its direct children, which confuses
// screen readers. They are links in a navigation, which is enough.
const ENTRIES = '[data-testid="stSidebarNavItems"], [data-testid="stSidebarNavItems"] li';

function flatten() {
  for (const entry of document.querySelectorAll(ENTRIES)) entry.setAttribute("role", "none");
}

/**
 * Marks the section of the open page: its entry is in a list that is closed.
 *
 * @param {string} section
 */
function mark(section) {
  for (const one of document.querySelectorAll('[data-testid="stTopNavSection"]')) {
    if (section && one.textContent?.trim().startsWith(section)) one.setAttribute("aria-current", "true");
    else one.removeAttribute("aria-current");
  }
}

/** @param {Component<{ section: string }>} component */
export default function menu({ data }) {
  offerInstalling();
  const onClick = (/** @type {MouseEvent} */ { target }) => {
    if (target instanceof Element && target.closest('[data-testid="stSidebarNav"] a'))
      document.querySelector('[data-testid="stMain"]')?.dispatchEvent(new MouseEvent("mousedown", { bubbles: true }));
  };
  let waits = false;
  const drawn = new MutationObserver(() => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => {
      waits = false;
      flatten();
      mark(data.section);
    });
  });
  flatten();
  mark(data.section);
  drawn.observe(document.body, { childList: true, subtree: true });
  document.addEventListener("click", onClick);
  return () => {
    drawn.disconnect();
    document.removeEventListener("click", onClick);
  };
}
