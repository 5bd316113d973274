// @ts-check
// Narrowing to several candidates: keys and clicks select, Enter stores.

import { find, key, make } from "../card/elements.js";
import { press } from "../card/press.js";
import { say } from "../card/state.js";

/** @import { State } from "../card/types.js" */

/** @param {State} state */
export function markingBar(state) {
  const save = make(
    "button",
    { class: "action strong", type: "button", "data-save": "", disabled: true, onclick: () => saveMarked(state) },
    key("↵"),
    make("span", { class: "count", text: "Save the marked ones" }),
  );
  return make(
    "div",
    { class: "markbar", hidden: true },
    make("p", { class: "small", text: "Mark every label that may be right." }),
    save,
    make(
      "button",
      { class: "action", type: "button", onclick: () => setMarking(state, false) },
      key("Esc"),
      make("span", { text: "Stop marking" }),
    ),
  );
}

/** @param {State} state */
export const isMarking = ({ holder }) => holder.querySelector(".card.marking") !== null;

/**
 * @param {State} state
 * @param {boolean} on
 */
export function setMarking(state, on) {
  const { holder } = state;
  find(holder, ".card").classList.toggle("marking", on);
  find(holder, ".markbar").hidden = !on;
  find(holder, "[data-key=m]").setAttribute("aria-pressed", String(on));
  for (const button of holder.querySelectorAll(".choice")) {
    if (on) button.setAttribute("aria-pressed", "false");
    else button.removeAttribute("aria-pressed");
  }
  showMarked(state);
  say(state, on ? "Marking: the keys of the candidates mark them, Enter saves, Escape stops." : "Marking stopped.");
}

/**
 * @param {State} state
 * @param {HTMLElement} button
 */
export function toggleMark(state, button) {
  button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
  showMarked(state);
}

/** @param {State} state */
export function saveMarked(state) {
  const labels = marked(state);
  if (labels.length) press(state, find(state.holder, "[data-save]"), labels.length === 1 ? "is" : "among", labels);
}

/**
 * The selected labels.
 *
 * @param {State} state
 * @returns {string[]}
 */
const marked = ({ holder }) =>
  [...holder.querySelectorAll('.choice[aria-pressed="true"]')].map(
    (button) => /** @type {HTMLElement} */ (button).dataset.label ?? "",
  );

/** @param {State} state */
function showMarked(state) {
  const count = marked(state).length;
  /** @type {HTMLButtonElement} */
  const save = find(state.holder, "[data-save]");
  save.disabled = count === 0;
  find(save, ".count").textContent =
    count > 1 ? `Save: one of these ${count}` : count ? "Save: this one" : "Save the marked ones";
}
