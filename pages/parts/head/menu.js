// @ts-check
// On a phone Streamlit shows the menu as a drawer over the page and keeps it there once a page is chosen, even over a
// reload. A press next to the drawer closes it, so one follows every choice.

import { offerInstalling } from "./installing.js";

// Under headings Streamlit puts the entries into a list in which they do not lie directly, and screen readers stumble:
// they are links in a navigation, which is enough.
const ENTRIES = '[data-testid="stSidebarNavItems"], [data-testid="stSidebarNavItems"] li';

function flatten() {
  for (const entry of document.querySelectorAll(ENTRIES)) entry.setAttribute("role", "none");
}

export default function menu() {
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
    });
  });
  flatten();
  drawn.observe(document.body, { childList: true, subtree: true });
  document.addEventListener("click", onClick);
  return () => {
    drawn.disconnect();
    document.removeEventListener("click", onClick);
  };
}
