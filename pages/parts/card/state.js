// @ts-check
// State of one card between redraws.

import { make } from "./elements.js";

/** @import { Component, Data, Room, State } from "./types.js" */

/**
 * The state of a card before its first drawing, and the nodes it is drawn into.
 *
 * @param {Component<Data>} component
 * @param {Record<string, Room>} rooms
 * @returns {State}
 */
export function begin({ data, parentElement, setTriggerValue }, rooms) {
  const state = {
    rooms,
    data,
    send: setTriggerValue,
    holder: make("div", { class: "holder" }),
    over: make("div", { class: "over" }),
    // A permanent node, so that screen readers announce what was saved.
    spoken: make("p", { class: "spoken", role: "status" }),
    saved: make("p"),
    turn: null,
    frame: null,
    posted: null,
    held: null,
    wanted: null,
    take: () => {},
    busy: false,
    late: undefined,
    saving: undefined,
    staying: undefined,
    answered: null,
    leftNote: false,
    note: "",
    flagged: false,
    drafts: new Map(),
    dialog: null,
    waiting: null,
    listener: null,
    call: null,
  };
  parentElement.append(state.holder, state.over, state.spoken);
  return state;
}

/**
 * How the question on screen is drawn and answered.
 *
 * @param {State} state
 */
export const roomOf = (state) => state.rooms[state.data.room];

/**
 * @param {State} state
 * @param {string} words
 */
export function say(state, words) {
  state.spoken.textContent = words;
}

/**
 * The name of a question among those of all projects, whose tokens may be equal; null without one.
 *
 * @param {Pick<Data, "project" | "token">} data
 */
export const nameOf = ({ project, token }) => token && `${project} ${token}`;

/**
 * Note and flag of a question left unanswered (undo, redo) are held until it comes back.
 *
 * @param {State} state
 * @param {string | null} name of the next question
 */
export function keepDraft(state, name) {
  const old = nameOf(state.data);
  if (old && old !== state.answered) state.drafts.set(old, { note: state.note, flagged: state.flagged });
  Object.assign(state, (name && state.drafts.get(name)) || { note: "", flagged: false });
  if (name) state.drafts.delete(name);
}

/**
 * A press was handled but the question is the same: it was not answered, so typed input stays with it, except
 * a note that was saved for the row next to it.
 *
 * @param {State} state
 */
export function keepRefused(state) {
  if (state.leftNote && state.data.saved?.tone === "good") state.note = "";
  Object.assign(state, { answered: null, leftNote: false });
}

/**
 * The button for this key, or for this key with Shift. A button may have two keys.
 *
 * @param {State} state
 * @param {string} name
 * @param {"data-key" | "data-shift"} attribute
 * @returns {HTMLElement | null}
 */
export const buttonOf = (state, name, attribute = "data-key") =>
  state.holder.querySelector(`[${attribute}~="${CSS.escape(name)}"]`);

/**
 * The focused element, if it is in the card.
 *
 * @param {State} state
 */
export const activeIn = (state) => /** @type {Document | ShadowRoot} */ (state.holder.getRootNode()).activeElement;
