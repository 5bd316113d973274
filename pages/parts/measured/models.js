// @ts-check
// The Models page: one row per model, the recommended first, and the gain from learning from meaning.

import { make, percentOf } from "../card/elements.js";
import { button, dot, drawAgain, placeOn, shareWords } from "./table.js";

/** @import { Component } from "../card/types.js" */
/** @import { Meaning, Model, ModelsData } from "./types.js" */

/** @typedef {(what: string, model: string) => void} Act */

/** @param {Component<ModelsData>} component */
export default function models({ parentElement, data, setTriggerValue }) {
  drawAgain(parentElement, "models", data, setTriggerValue, (send) =>
    parts(data, (what, model) => send("act", { what, model })),
  );
}

/**
 * @param {ModelsData} data
 * @param {Act} act
 */
function parts(data, act) {
  const { title, about, axis, ticks, models, more, meaning, foot } = data;
  const lines = (/** @type {Model[]} */ those) => those.map((one) => model(one, data, act));
  const measured = [...models, ...more].some((one) => one.measured.value !== null);
  const list = measured ? "list" : "list unmeasured"; // without figures, no columns for them
  return [
    make(
      "div",
      { class: list, role: "table", "aria-label": "Models" },
      make(
        "div",
        { class: "line head", role: "row" },
        make("span", { role: "columnheader", text: "Model" }),
        make(
          "span",
          { class: "ticks", "aria-hidden": "true" },
          ...ticks.map((one) => make("i", { style: `left:${placeOn(one, axis)}`, text: `${percentOf(one)}%` })),
        ),
        make("span", { role: "columnheader", text: title, title: about }),
        make("span", {
          role: "columnheader",
          text: "Training time",
          title: "CPU time of all its fits in the comparison",
        }),
        make("span", { role: "columnheader", class: "last", text: "Choose" }),
      ),
      ...lines(models),
    ),
    more.length > 0 &&
      make(
        "details",
        { id: "more" },
        make("summary", { text: `${more.length} more models: fast linear models for large tables` }),
        make("div", { class: list, role: "table", "aria-label": "More models" }, ...lines(more)),
      ),
    meaning && learning(meaning, data, act),
    foot && make("p", { class: "foot", text: `${foot} ${about}` }),
  ];
}

/**
 * @param {Model} one
 * @param {ModelsData} data
 * @param {Act} act
 */
function model({ name, plain, method, about, measured, seconds, note, inUse, best }, { axis }, act) {
  return make(
    "div",
    { class: best ? "line best" : "line", role: "row" },
    make(
      "div",
      { role: "cell", class: "name" },
      make("b", { text: plain }),
      method && make("span", { class: "note", text: ` ${method}` }),
      best && make("span", { class: "tag", text: "Recommended" }),
      about && make("span", { class: "under", text: about }),
      note && make("span", { class: "under", text: note }),
    ),
    make("div", { role: "cell", class: "axis" }, dot(measured, { axis, look: inUse ? "" : "hollow" })),
    make("div", { role: "cell" }, shareWords(measured)),
    make("div", { role: "cell", class: "weak seconds", text: seconds }),
    make(
      "div",
      { role: "cell", class: "use" },
      inUse
        ? make("span", { class: "state", text: "In use" })
        : button("Use this model", () => act("use", name), "", `Use this model: ${plain}`),
    ),
  );
}

/**
 * @param {Meaning} meaning
 * @param {ModelsData} data
 * @param {Act} act
 */
function learning({ about, on, words, meaning, gain, sofar, time, facts, action }, { axis }, act) {
  const line = make("span", { class: "interval", "aria-hidden": "true" });
  if (words !== null && meaning !== null) {
    const [from, to] = [words, meaning].map((one) => Number.parseFloat(placeOn(one, axis)));
    line.append(
      make("u", { style: `left:${Math.min(from, to)}%;width:${Math.abs(to - from)}%` }),
      make("i", { class: "open", style: `left:${from}%` }),
      make("i", { style: `left:${to}%` }),
    );
  }
  return make(
    "section",
    { class: "meaning" },
    make(
      "div",
      { class: "line" },
      make(
        "div",
        { class: "name" },
        make("h2", {}, "Learn from meaning", on && make("span", { class: "tag soft", text: "On" })),
        make("span", { class: "under", text: about }),
      ),
      make("div", { class: "axis" }, line),
      make("div", {}, gain ? make("b", { text: gain }) : make("span", { class: "words unknown", text: `– ${sofar}` })),
      make("div", { class: "weak seconds", text: time }),
      make("div", { class: "use" }, action && button(action, () => act("meaning", ""))),
    ),
    make("ul", { class: "facts note" }, ...facts.map((text) => make("li", { text }))),
  );
}
