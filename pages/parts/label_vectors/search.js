// @ts-check
// The search over the labels of a row with many. Enter selects the first match.

import { actionButton } from "../card/actions.js";
import { make } from "../card/elements.js";
import { folded, holdsWords } from "../card/folding.js";

/** @import { Picks } from "./types.js" */

/** Number of labels above which there is a search. */
const SEARCHED = 12;

/**
 * The field and its status text; only the latter if the labels are few.
 *
 * @param {Picks} picks
 * @param {HTMLElement} list
 * @param {number} count
 */
export function search(picks, list, count) {
  const told = make("p", { class: "small quiet", role: "status", hidden: true });
  const tell = (/** @type {string} */ words) => {
    told.textContent = words;
    told.hidden = !words;
  };
  const seek = make("input", {
    class: "query seek",
    type: "text",
    autocomplete: "off",
    spellcheck: "false",
    "aria-label": "Search the labels",
    placeholder: `Search ${count.toLocaleString()} labels; Enter marks the first`,
  });
  const toggles = /** @type {HTMLElement[]} */ ([...list.children]);
  const names = toggles.map((toggle) => folded(toggle.dataset.label ?? ""));
  const filter = () => {
    picks.sought = seek.value;
    for (const [place, toggle] of toggles.entries()) toggle.hidden = !holdsWords(names[place], seek.value);
    tell(toggles.some((toggle) => !toggle.hidden) ? "" : "No label matches.");
  };
  seek.oninput = filter;
  seek.onkeydown = (event) => {
    if (event.isComposing || !["Enter", "Escape"].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Escape" && !seek.value) {
      seek.blur();
      return;
    }
    const takes = event.key === "Enter" && !event.repeat && seek.value.trim();
    const first = takes && toggles.find((toggle) => !toggle.hidden);
    seek.value = "";
    filter();
    if (!first) return;
    const marked = first.getAttribute("aria-pressed") === "true"; // a search for it does not mean to deselect it
    if (!marked) first.click();
    const { label } = first.dataset;
    tell(marked ? `${label} was marked already; press it to unmark it.` : `${label} is marked.`);
  };
  seek.value = picks.sought;
  filter();
  if (count <= SEARCHED) return [told];
  const opens = actionButton("0", "Find", () => seek.focus(), { "aria-label": "Find a label" });
  return [make("div", { class: "seeking" }, opens, seek), told];
}
