// @ts-check
// The instance: image, sound, text, features.

import { make } from "./elements.js";
import { fit, openZoom } from "./zoom.js";

/** @import { Question, State, View } from "./types.js" */

/**
 * @param {State} state
 * @param {Question} question
 */
export function instance(state, { view, telling }) {
  /** @type {HTMLElement[]} */
  const parts = [make("p", { class: "rowname", text: `Row ${view.id}` })];
  if (view.image) parts.push(picture(state, view.image, `Image of row ${view.id}`));
  if (view.audio) {
    parts.push(
      make("audio", {
        class: "sound",
        controls: true,
        preload: "auto",
        src: view.audio,
        "aria-label": `Recording of row ${view.id}`,
      }),
    );
  }
  if (view.text) {
    parts.push(
      make(
        "div",
        { class: "reading", tabindex: "0", role: "region", "aria-label": "Text" },
        make("p", { class: "text", text: view.text }),
      ),
    );
  }
  if (view.features.length) parts.push(features(view, telling));
  return make("section", { class: "instance", "aria-label": "The instance" }, ...parts);
}

/**
 * @param {State} state
 * @param {string} source
 * @param {string} name
 */
function picture(state, source, name) {
  const image = make("img", { class: "image", src: source, alt: name, onload: fit });
  return make(
    "button",
    {
      class: "zoom",
      type: "button",
      "data-key": "z",
      "aria-keyshortcuts": "z",
      "aria-label": `${name}: zoom`,
      title: "Zoom (Z)",
      onclick: () => openZoom(state, source, name),
    },
    image,
  );
}

const LONG_NAME = 14;

/**
 * @param {View} view
 * @param {Question["telling"]} telling
 */
function features(view, telling) {
  const rank = new Map((telling?.columns ?? []).map((name, place) => [name, place]));
  const order = [...view.features].sort(
    ([one], [other]) => (rank.get(one) ?? rank.size) - (rank.get(other) ?? rank.size),
  );
  const rows = order.map(([name, value]) =>
    make(
      "div",
      { class: rank.has(name) ? "feature telling" : "feature" },
      make("dt", { text: name, title: name }),
      make("dd", { text: value || "–", title: value }),
    ),
  );
  const why =
    telling &&
    make("p", {
      class: "quiet small",
      text: `Marked: what tells ${telling.between[0]} and ${telling.between[1]} apart best.`,
    });
  const long = view.features.some(([name]) => name.length > LONG_NAME); // the value is never cut for its name
  const folded = Boolean(view.image || view.text || view.audio);
  const count = view.features.length;
  return make(
    "details",
    { class: "values", open: !folded },
    make("summary", { text: count === 1 ? "1 feature" : `${count.toLocaleString()} features` }),
    why,
    make(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Features" },
      make("dl", { class: long ? "features long" : "features" }, ...rows),
    ),
  );
}

/**
 * The recording of the row, where it has one.
 *
 * @param {State} state
 * @returns {HTMLAudioElement | null}
 */
export const soundOf = (state) => state.holder.querySelector(".sound");

/** @param {HTMLAudioElement} sound */
export function playOrPause(sound) {
  if (sound.paused) sound.play();
  else sound.pause();
}
