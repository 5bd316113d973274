// @ts-check
// One row on a page that is not the card: its picture, its recording, its text.

import { nameOf } from "./burst.js";
import { make } from "./elements.js";
import { reading } from "./reading.js";
import { letGo, sound } from "./sound.js";

/** @import { Component, View } from "./types.js" */

/** What is drawn in each place: a page is often run anew for other reasons, and a recording plays on. */
const drawn = new WeakMap();

/** @param {Component<{ view: View }>} component */
export default function instance({ parentElement, data: { view } }) {
  const said = JSON.stringify(view);
  if (drawn.get(parentElement) === said) return;
  drawn.set(parentElement, said);
  const { images, caption } = view;
  /** @type {HTMLElement[]} */
  const parts = [];
  if (caption.length) parts.push(make("p", { class: "caption", text: caption.map(([, text]) => text).join(" · ") }));
  if (images.length) {
    const name = `Row ${view.id}`;
    parts.push(make("div", { class: "pictures" }, ...images.map((_, place) => picture(images, place, name))));
  }
  if (view.audio) {
    const { element, caption: about } = sound(view, { keyed: false });
    parts.push(make("p", { class: "rowname" }, ...about), element);
  }
  if (view.text) parts.push(reading(view.text));
  const place = parentElement.querySelector(".row") ?? make("div", { class: "row" });
  letGo(place);
  place.replaceChildren(...parts);
  parentElement.append(place);
}

/**
 * @param {string[]} images
 * @param {number} place
 * @param {string} name
 */
function picture(images, place, name) {
  const image = make("img", {
    alt: nameOf(name, place, images.length),
    onload: () => image.classList.toggle("small", image.naturalHeight < 96),
    src: images[place],
  });
  return image;
}
