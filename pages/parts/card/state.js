// @ts-check
// State of one card between redraws.

import { make } from "./elements.js";

/** @import { Component, Data, Room, State } from "./types.js" */

// Which data is newer. Answers by the direct route reach the card without Streamlit, which may send the data
// of its last redraw again: after a change of theme, at another place of the page, or late.

/**
 * State of this tab's screen, shared by its cards: a card that replaces another continues from there. drawing
 * : the latest redraw received from the page
 *
 * @type {{ data: Data, drawing: number } | null}
 */
let known = null;

/**
 * Content of the card after a redraw of the page.
 *
 * @param {Data} given
 * @returns {Data}
 */
export function newest(given) {
  const here = known && isSamePage(known.data, given) ? known : null;
  if (here && given.drawing <= here.drawing) return here.data; // nothing new
  if (!here || !isOlder(given, here.data)) return keep(given, given.drawing);
  // The page's data is older than the screen, but it holds the content that the card requested.
  const { turn, drawing, similar, panel, examples, saved } = given;
  const refused = turn !== here.data.turn && saved?.tone === "bad" ? { saved } : null;
  return keep({ ...here.data, turn, drawing, similar, panel, examples, ...refused }, given.drawing);
}

/**
 * Content of the card after the direct route's reply.
 *
 * @param {Data} shown by the card at the page's last redraw
 * @param {Partial<Data>} told
 * @returns {Data}
 */
export function after(shown, told) {
  const data = { ...shown, ...told };
  if (!isOlder(data, shown)) return keep(data, shown.drawing);
  return told.saved?.tone === "bad" ? keep({ ...shown, saved: told.saved }, shown.drawing) : shown;
}

/**
 * @param {Data} data
 * @param {number} drawing
 */
function keep(data, drawing) {
  known = { data, drawing };
  return data;
}

/**
 * @param {Data} one
 * @param {Data} other
 */
const isSamePage = (one, other) => one.tab === other.tab && one.project === other.project;

/**
 * @param {Data} one
 * @param {Data} other
 */
const isOlder = (one, other) => one.height !== null && other.height !== null && one.height < other.height;

// Settings of the card, stored in the browser; if it stores nothing, they last until the page is closed.

const BEGIN = "winnow-";

/** @type {Map<string, boolean>} */
const here = new Map();

/**
 * @param {string} name
 * @returns {boolean} false if it was never set
 */
export function isOn(name) {
  try {
    return here.get(name) ?? localStorage.getItem(BEGIN + name) === "on";
  } catch {
    return false;
  }
}

/**
 * @param {string} name
 * @param {boolean} on
 */
export function setOn(name, on) {
  here.set(name, on);
  try {
    localStorage.setItem(BEGIN + name, on ? "on" : "off");
  } catch {
    // The browser's settings forbid storage.
  }
}

// While a question is on screen its row stays reserved for this person: the server is notified regularly.

const EVERY = 50_000;

/**
 * Starts the notifications, unless they run already. A tab in the background sends nothing, so its row is offered to
 * others.
 *
 * @param {State} state
 */
export function stay(state) {
  state.staying ??= setInterval(() => {
    const { token } = state.data;
    if (token && !state.busy && document.visibilityState === "visible") state.send("here", { token });
  }, EVERY);
}

/** @param {State} state */
export function leave(state) {
  clearInterval(state.staying);
  state.staying = undefined;
}

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
