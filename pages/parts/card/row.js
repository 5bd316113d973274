// @ts-check
// One row on a page other than the card: its image, its recording, its text.

import { make } from "./elements.js";
import { boxesOver, boxSwitch, nameOf } from "./pictures.js";
import { contexts, reading, shortOf } from "./reading.js";
import { letGo, sound } from "./sound.js";

/** @import { Component, View } from "./types.js" */

/**
 * What is drawn at each place, with its player: a recording keeps playing when the page reruns for other
 * reasons.
 *
 * @type {WeakMap<Node, { said: string, wanted: boolean, play: () => void }>}
 */
const drawn = new WeakMap();

/** @param {Component<{ view: View, play: boolean }>} component play: the row was opened to be heard */
export default function instance({ parentElement, data: { view, play: wanted } }) {
  const said = JSON.stringify(view);
  const before = drawn.get(parentElement);
  if (before?.said === said) {
    if (wanted && !before.wanted) before.play();
    before.wanted = wanted;
    return;
  }
  let play = () => {};
  const { images, boxes, caption } = view;
  /** @type {HTMLElement[]} */
  const parts = [];
  const short = shortOf(caption);
  if (short.length) parts.push(make("p", { class: "caption", text: short.map(([, text]) => text).join(" · ") }));
  parts.push(...contexts(view));
  if (images.length) {
    const name = `Row ${view.id}`;
    const drawn = images.map((_, place) => picture(images, place, name));
    parts.push(
      boxes.length
        ? make("div", { class: "framed" }, ...drawn, boxesOver(boxes))
        : make("div", { class: "pictures" }, ...drawn),
    );
    if (boxes.length) parts.push(make("p", { class: "rowname" }, boxSwitch(boxes, { keyed: false })));
  }
  if (view.audio) {
    const player = sound(view, { keyed: false, eager: false });
    parts.push(make("p", { class: "rowname" }, ...player.caption), player.element);
    play = player.play;
  }
  parts.push(...reading(view));
  const place = parentElement.querySelector(".row") ?? make("div", { class: "row" });
  letGo(place);
  place.replaceChildren(...parts);
  parentElement.append(place);
  drawn.set(parentElement, { said, wanted, play });
  if (wanted) play();
}

/**
 * @param {string[]} images
 * @param {number} place
 * @param {string} name
 */
function picture(images, place, name) {
  const image = make("img", {
    alt: nameOf(name, place, images.length),
    onload: () => {
      image.classList.toggle("small", image.naturalHeight < 96);
      image.classList.add("there");
    },
    src: images[place],
  });
  return image;
}
