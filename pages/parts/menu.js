// @ts-check
// On a phone Streamlit shows the menu as a drawer over the page and keeps it there once a page is chosen, even over a
// reload. A press beside the drawer closes it, so one follows every choice.

export default function menu() {
  const onClick = (/** @type {MouseEvent} */ { target }) => {
    if (target instanceof Element && target.closest('[data-testid="stSidebarNav"] a'))
      document.querySelector('[data-testid="stMain"]')?.dispatchEvent(new MouseEvent("mousedown", { bubbles: true }));
  };
  document.addEventListener("click", onClick);
  return () => document.removeEventListener("click", onClick);
}
