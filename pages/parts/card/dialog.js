// @ts-check
// Panels over the card, one at a time. Escape closes each.

import { key, make } from "./elements.js";

/** @import { Panel, State } from "./types.js" */

/**
 * @param {State} state
 * @param {string} name its class
 * @param {string} title
 * @param {Parameters<typeof make>[2][]} children
 * @returns {Panel}
 */
export function openDialog(state, name, title, ...children) {
  state.dialog?.close();
  /** @type {Panel} */
  const dialog = make("dialog", { class: `panel ${name}`, "aria-label": title }, ...children);
  dialog.onclose = () => {
    dialog.remove();
    if (state.dialog === dialog) state.dialog = null;
  };
  dialog.onpointerdown = (event) => {
    if (event.target === dialog) dialog.close(); // a click outside
  };
  state.dialog = dialog;
  state.over.append(dialog);
  dialog.showModal();
  return dialog;
}

/** @param {() => void} close */
export const closeButton = (close) =>
  make(
    "button",
    { class: "action", type: "button", autofocus: true, onclick: close },
    key("Esc"),
    make("span", { text: "Close" }),
  );
