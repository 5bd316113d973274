// @ts-check
// The images of the row: the first one large, the others by the arrows.

import { boxesOver } from "./boxes.js";
import { nameOf, placeWords, turned } from "./burst.js";
import { make } from "./elements.js";
import { fit, openZoom } from "./zoom.js";

/** @import { State, View } from "./types.js" */

/**
 * @param {State} state
 * @param {View} view
 */
export function pictures(state, view) {
  const { images, boxes } = view;
  const name = `Image of row ${view.id}`;
  const image = make("img", { class: "image", onload: fit });
  const count = make("span", { class: "quiet small", role: "status" });
  let place = 0;
  const show = (/** @type {number} */ now) => {
    place = now;
    image.alt = nameOf(name, place, images.length);
    image.src = images[place];
    count.textContent = placeWords(place, images.length);
    make("img", { src: images[turned(place, 1, images.length)] }); // prefetch the next one
  };
  const turn = (/** @type {number} */ steps) => show(turned(place, steps, images.length));
  const large = make(
    "button",
    {
      class: "zoom",
      type: "button",
      "data-key": "z",
      "aria-keyshortcuts": "z",
      "aria-label": `${name}: zoom`,
      title: "Zoom (Z)",
      onclick: () => openZoom(state, { images, boxes, place, name, show }),
    },
    image,
    boxes.length && boxesOver(boxes),
  );
  show(0);
  if (images.length === 1) return large;
  const arrow = (
    /** @type {string} */ sign,
    /** @type {string} */ words,
    /** @type {string} */ by,
    /** @type {number} */ steps,
  ) =>
    make("button", {
      class: "action",
      type: "button",
      text: sign,
      "data-key": by,
      "aria-keyshortcuts": by,
      "aria-label": `${words} picture`,
      title: `${words} picture (${steps < 0 ? "←" : "→"})`,
      onclick: () => turn(steps),
    });
  return make(
    "div",
    { class: "pictures" },
    large,
    make(
      "div",
      { class: "turning" },
      arrow("‹", "Previous", "ArrowLeft", -1),
      count,
      arrow("›", "Next", "ArrowRight", 1),
    ),
  );
}
