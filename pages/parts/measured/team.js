// @ts-check
// The Team page: overall agreement, one row per person, invites, agreement by pair.

import { drawing, initials, make } from "../card/elements.js";
import { date, moment } from "../card/words.js";
import { button, dot, drawAgain, shareWords } from "./table.js";

/** @import { Component } from "../card/types.js" */
/** @import { Agreement, Invite, Pair, Person, TeamData } from "./types.js" */

const GOAL = 0.8;

/** @param {Component<TeamData>} component */
export default function team({ parentElement, data, setTriggerValue }) {
  drawAgain(parentElement, "team", data, setTriggerValue, (send) =>
    parts(data, (what, person) => send("act", { what, person })),
  );
}

/** @typedef {(what: string, person: number | null) => void} Act */

/**
 * @param {TeamData} data
 * @param {Act} act
 */
function parts(data, act) {
  const { agreement, people, invites, pairs, measures, foot } = data;
  return [
    lead(agreement, data, act),
    ...(people.length ? [table(data, act), make("p", { class: "foot", text: foot })] : []),
    ...(invites?.length ? [invited(invites, data, act)] : []),
    ...(pairs.length ? [byPair(pairs)] : []),
    ...(measures.length ? [more(measures)] : []),
  ];
}

/**
 * @param {Agreement} agreement
 * @param {TeamData} data
 * @param {Act} act
 */
function lead(agreement, { disputes, invites, people }, act) {
  const { value, low, high, about, reading } = agreement;
  const interval =
    low === null || high === null ? "" : `95% confidence interval ${low.toFixed(2)} to ${high.toFixed(2)}`;
  const figure = [
    make("span", {
      class: value === null ? "figure unknown" : "figure",
      text: value === null ? "–" : value.toFixed(2),
    }),
    make(
      "div",
      { class: "about" },
      make("h2", { text: "Inter-annotator agreement", title: about }),
      value !== null && make("p", { class: "weak", text: interval }),
      make(
        "div",
        { class: "scale" },
        dot(agreement, { goal: GOAL }),
        make("span", { class: "tick", style: "left:0", text: "0 chance" }),
        make("span", { class: "tick", style: `left:${100 * GOAL}%;translate:-50%`, text: `goal ${GOAL.toFixed(2)}` }),
        make("span", { class: "tick", style: "right:0", text: "1" }),
      ),
      make("p", { class: "note", text: reading }),
    ),
  ];
  return make(
    "section",
    { class: "lead" },
    ...(people.length ? figure : []),
    make(
      "div",
      { class: "do" },
      invites && button("Invite annotators", () => act("invite", null), "main"),
      disputes > 0 &&
        make("span", { class: "chip", text: disputes === 1 ? "1 dispute is open" : `${disputes} disputes are open` }),
      disputes > 0 && button("Resolve disputes", () => act("disputes", null)),
    ),
  );
}

/**
 * @param {TeamData} data
 * @param {Act} act
 */
function table({ people, excludes, zone }, act) {
  const most = Math.max(...people.map((one) => one.answers), 1);
  const titles = ["Person", "Answers", "Agreement with others", "Pace", "Last active", "Details"];
  return make(
    "div",
    { class: "list", role: "table", "aria-label": "Annotators" },
    make(
      "div",
      { class: "line head", role: "row" },
      ...titles.map((text) => make("span", { role: "columnheader", class: text.split(" ")[0].toLowerCase(), text })),
    ),
    ...people.map((one) => person(one, most, { excludes, zone }, act)),
  );
}

/**
 * @param {Person} one
 * @param {number} most answers of one person
 * @param {{ excludes: boolean, zone: string }} how
 * @param {Act} act
 */
function person(one, most, { excludes, zone }, act) {
  const { id, name, role, answers, pace, seen, agreement, warnings, excluded } = one;
  const warned = warnings.length > 0 && !excluded;
  const cell = (/** @type {string} */ look, /** @type {(Node | string | false)[]} */ ...children) =>
    make("div", { role: "cell", class: look }, ...children);
  return make(
    "div",
    { class: `line ${warned ? "warned" : ""} ${excluded ? "excluded" : ""}`, role: "row" },
    cell("person", initials(name), who(name, excluded ? `${role} · answers excluded` : role, `${pace} per answer`)),
    cell(
      "answers",
      make("span", { class: "number", text: answers.toLocaleString("en") }),
      make("span", { class: "bar", "aria-hidden": "true" }, make("i", { style: `width:${(100 * answers) / most}%` })),
    ),
    cell("agreement", dot(agreement, { look: warned ? "bad" : "" }), shareWords(agreement)),
    cell("pace", pace),
    cell("last", seen === null ? "–" : moment(seen, zone)),
    cell(
      "details",
      make(
        "button",
        { type: "button", class: "more", "aria-label": `Details of ${name}`, onclick: () => act("details", id) },
        drawing("M3 8h.01M8 8h.01M13 8h.01"),
      ),
    ),
    warned &&
      cell(
        "warning",
        make(
          "div",
          {},
          ...warnings.map(([claim, evidence]) =>
            make("p", {}, make("span", { class: "claim", text: `${claim}.` }), ` ${evidence}`),
          ),
        ),
        button("See answers", () => act("answers", id), "", `See answers of ${name}`),
        excludes && button("Exclude answers", () => act("exclude", id), "", `Exclude answers of ${name}`),
      ),
    excluded &&
      excludes &&
      cell(
        "warning",
        button("Include answers", () => act("include", id), "", `Include answers of ${name}`),
      ),
  );
}

/**
 * @param {string} name
 * @param {string} about
 * @param {string} [narrow] shown on phones, if there is no column for it
 */
const who = (name, about, narrow = "") =>
  make(
    "span",
    { class: "who" },
    make("b", { dir: "auto", text: name }),
    make("span", { class: "note" }, about, narrow && make("span", { class: "narrow", text: ` · ${narrow}` })),
  );

/**
 * @param {Invite[]} invites
 * @param {TeamData} data
 * @param {Act} act
 */
function invited(invites, { links, zone }, act) {
  return make(
    "section",
    { class: "invites" },
    make("h2", { text: "Invites" }),
    make("p", { class: "note", text: "A link signs in one person. It works once, unless it expires or is revoked." }),
    make(
      "ul",
      { class: "list" },
      ...invites.map((one) =>
        make(
          "li",
          { class: "invite" },
          make("div", { class: "person" }, initials(one.name), who(one.name, one.role)),
          make("span", { class: "weak", text: linkWords(one, zone) }),
          make(
            "span",
            { class: "do" },
            links && button("New link", () => act("link", one.id), "", `New link for ${one.name}`),
            links &&
              one.link === "open" &&
              button("Revoke", () => act("revoke", one.id), "plain", `Revoke links of ${one.name}`),
          ),
        ),
      ),
    ),
  );
}

/**
 * @param {Invite} invite
 * @param {string} zone
 */
export function linkWords({ link, at }, zone) {
  const when = at === null ? "" : date(at, zone);
  return {
    open: `Link not opened yet, expires ${when}`,
    used: `Signed in ${when}, no answers yet`,
    expired: `Link expired ${when}`,
    none: "No answers yet",
  }[link];
}

/** @param {Pair[]} pairs */
const byPair = (pairs) =>
  make(
    "details",
    { id: "pairs" },
    make("summary", { text: "Agreement by pair" }),
    make(
      "div",
      { class: "list", role: "table", "aria-label": "Agreement by pair" },
      ...pairs.map(({ one, other, agreement, shared, kappa }) =>
        make(
          "div",
          { class: "line pair", role: "row" },
          make("div", { role: "cell", class: "person" }, make("b", { dir: "auto", text: `${one} and ${other}` })),
          make("div", { role: "cell", class: "agreement" }, dot(agreement), shareWords(agreement)),
          make("div", {
            role: "cell",
            class: "weak",
            text: shared,
          }),
          make("div", { role: "cell", class: "weak", text: kappa }),
        ),
      ),
    ),
    make("p", { class: "foot", text: "Share of equal answers on shared rows. Cohen's kappa corrects for chance." }),
  );

/** @param {[string, string][]} measures */
const more = (measures) =>
  make(
    "details",
    { id: "measures" },
    make("summary", { text: "More measures of agreement" }),
    make(
      "dl",
      {},
      ...measures.flatMap(([name, words]) => [make("dt", { dir: "auto", text: name }), make("dd", { text: words })]),
    ),
  );
