// @ts-check
// A detector's boxes over its image, and the switch that shows or hides them.

import { key, make } from "./elements.js";
import { isOn, setOn } from "./remembered.js";

/** @import { Box } from "./types.js" */

/** Name under which the browser stores that they are hidden. */
const HIDDEN = "boxes-hidden";

/** Share of the image's height that a name needs between a box and the image's edge. */
const NAME = 0.12;

/**
 * Position of a box's name, so that the image does not cut it off: above the box, below it, or inside. On the
 * right half of the image it ends where the box does.
 *
 * @param {Box["place"]} place
 */
export function nameSides([left, top, width, height]) {
  const upright = top >= NAME ? "over" : top + height <= 1 - NAME ? "below" : "within";
  return `${upright} ${left + width / 2 > 0.5 ? "ends" : "begins"}`;
}

/** @param {Box} box */
const words = ({ name, score }) => `${name} ${score}`.trim();

/**
 * The boxes, drawn over the image with the same parent. The best are drawn last, on top.
 *
 * @param {Box[]} boxes the best first
 */
export const boxesOver = (boxes) =>
  make(
    "span",
    { class: "boxes", "aria-hidden": "true", hidden: isOn(HIDDEN) },
    ...boxes.toReversed().map((box) => {
      const [left, top, width, height] = box.place.map((share) => `${100 * share}%`);
      return make(
        "span",
        { class: `box ${nameSides(box.place)}`, style: `left:${left};top:${top};width:${width};height:${height}` },
        make("span", { dir: "auto", text: words(box) }),
      );
    }),
  );

/**
 * The switch for all boxes drawn next to it.
 *
 * @param {Box[]} boxes
 * @param {{ keyed: boolean }} how keyed: the switch responds to its key
 */
export function boxSwitch(boxes, { keyed }) {
  const button = make(
    "button",
    {
      class: "tool boxing",
      type: "button",
      "aria-pressed": String(!isOn(HIDDEN)),
      title: `Found in the picture: ${boxes.map(words).join(", ")}`,
      ...(keyed ? { "data-shift": "z", "aria-keyshortcuts": "Shift+z" } : {}),
      onclick: () => {
        const hidden = !isOn(HIDDEN);
        setOn(HIDDEN, hidden);
        const root = /** @type {ParentNode & Node} */ (button.getRootNode());
        for (const drawn of root.querySelectorAll(".boxes")) drawn.toggleAttribute("hidden", hidden);
        for (const one of root.querySelectorAll(".boxing")) one.setAttribute("aria-pressed", String(!hidden));
      },
    },
    keyed && key("⇧Z"),
    make("span", { text: "Boxes" }),
  );
  return button;
}
