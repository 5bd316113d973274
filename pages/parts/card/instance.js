// @ts-check
// The instance: image, sound, text, features.

import { make } from "./elements.js";
import { boxSwitch, pictures } from "./pictures.js";
import { contexts, reading, shortOf } from "./reading.js";
import { sound } from "./sound.js";

/** @import { Question, State, View } from "./types.js" */

/**
 * @param {State} state
 * @param {Question} question
 */
export function instance(state, { view, telling }) {
  const name = rowName(view);
  /** @type {HTMLElement[]} */
  const parts = [name, ...contexts(view)];
  if (view.images.length) parts.push(pictures(state, view));
  if (view.boxes.length) name.append(make("span", { class: "settings" }, boxSwitch(view.boxes, { keyed: true })));
  if (view.audio) {
    const { element, caption } = sound(view, { keyed: true });
    name.append(...caption);
    parts.push(element);
  }
  parts.push(...reading(view));
  if (view.features.length) parts.push(...features(view, telling));
  const seen = view.images.length > 0 || view.audio || view.texts.length > 0;
  return make("section", { class: seen ? "instance" : "instance figures", "aria-label": "The instance" }, ...parts);
}

/** @param {View} view */
function rowName({ id, caption }) {
  const short = shortOf(caption);
  const said = short.map(([, text]) => text).join(" · ");
  const named = short.map(([column, text]) => `${column}: ${text}`).join("\n");
  return make(
    "p",
    { class: "rowname" },
    make("span", { text: `Row ${id}` }),
    said && make("span", { class: "caption", text: said, title: named }),
  );
}

const LONG_NAME = 14;
const LONG_VALUE = 16;
const MANY = 20;

/**
 * All features in a collapsible box. It starts collapsed if there is something else to see; if there are many
 * features, those that distinguish the labels are shown above it.
 *
 * @param {View} view
 * @param {Question["telling"]} telling
 */
export function features(view, telling) {
  const rank = new Map((telling?.columns ?? []).map((name, place) => [name, place]));
  const order = [...view.features].sort(
    ([one], [other]) => (rank.get(one) ?? rank.size) - (rank.get(other) ?? rank.size),
  );
  const line = (/** @type {[string, string]} */ [name, value]) =>
    make(
      "div",
      { class: rank.has(name) ? "feature telling" : "feature" },
      make("dt", { text: name, title: name }),
      make("dd", { text: value || "–", title: value }),
    );
  const why =
    telling &&
    make("p", {
      class: "quiet small",
      text: `Marked: features that differ most between ${telling.between[0]} and ${telling.between[1]}.`,
    });
  const long = view.features.some(([name, value]) => name.length > LONG_NAME || value.length > LONG_VALUE);
  const beside = Boolean(view.images.length || view.texts.length || view.audio);
  const count = view.features.length;
  const above = !beside && telling && count > MANY ? telling.columns.length : 0;
  const list = (/** @type {[string, string][]} */ some) =>
    make("dl", { class: long ? "features long" : "features" }, ...some.map(line));
  const others = above ? `${(count - above).toLocaleString()} more features` : `${count.toLocaleString()} features`;
  const inside = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Features" });
  const box = make(
    "details",
    { class: "values", open: !beside && !above },
    make("summary", { text: count === 1 ? "1 feature" : others }),
    !above && why,
    inside,
  );
  // There may be thousands: they are drawn when the box is opened.
  const fill = () => inside.childElementCount || inside.append(list(order.slice(above)));
  box.addEventListener("toggle", fill);
  if (box.open) fill();
  return above ? [make("div", { class: "values" }, why, list(order.slice(0, above))), box] : [box];
}
