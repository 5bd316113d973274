// @ts-check
// The question card: one instance, its choices on keys, one press per question. It is independent of the kind
// of project: each kind adds its rooms, in a module that is the component (`one_label/card.js`,
// `label_vectors/card.js`).

import { folding, openNote, otherActions, typedAt } from "./actions.js";
import { key as keyCap, make } from "./elements.js";
import { fillExamples, fillSimilar } from "./examples.js";
import { fillHistory } from "./history.js";
import { instance } from "./instance.js";
import { onKey } from "./keys.js";
import { comes, fetchAhead, goes, press, pressWaiting } from "./posting.js";
import { letGo } from "./sound.js";
import {
  activeIn,
  begin,
  buttonOf,
  keepDraft,
  keepRefused,
  leave,
  nameOf,
  newest,
  roomOf,
  say,
  stay,
} from "./state.js";

/** @import { Component, Data, Offer, Question, Room, State } from "./types.js" */

/**
 * The card as a Streamlit component.
 *
 * @param {Record<string, Room>} rooms how questions are drawn and answered, by the name that the server gives a room
 * @returns {(component: Component<Data>) => () => void}
 */
export const questionCard = (rooms) => (component) => {
  const place = /** @type {ParentNode & { __winnow?: State }} */ (component.parentElement);
  const known = place.__winnow;
  const data = newest(component.data);
  const state = known ?? begin({ ...component, data }, rooms);
  place.__winnow = state;
  Object.assign(state, { rooms, send: component.setTriggerValue, take, frame: component.data.frame });
  if (state.posted && data.route === state.data.route) state.held = data;
  else take(state, data, { first: !known });
  return listen(state);
};

/**
 * Shows new data. first : nothing was shown before. dealt : a press was handled, successfully or not
 *
 * @param {State} state
 * @param {Data} data
 * @param {{ first?: boolean, dealt?: boolean }} how
 */
function take(state, data, { first = false, dealt = false }) {
  const other = first || nameOf(state.data) !== nameOf(data) || state.data.tab !== data.tab;
  if (other) keepDraft(state, nameOf(data));
  const fresh = other || dealt || state.turn !== data.turn;
  state.data = data;
  if (fresh) {
    clearTimeout(state.late);
    clearTimeout(state.saving);
    Object.assign(state, { turn: data.turn, busy: false });
    if (!other) keepRefused(state);
    // Open panels belong to the question: redrawing the same one must not close a panel in use.
    if (other) state.dialog?.close();
    draw(state);
    pressWaiting(state);
    // On a phone the answer buttons are further down: scroll up to the next instance.
    if (other && state.holder.getBoundingClientRect().top < 0) state.holder.scrollIntoView({ block: "start" });
  }
  fillSimilar(state);
  fillExamples(state);
  fillHistory(state);
}

/**
 * Listens for keys until the card is removed. Streamlit may end a call after it has made the next one, to the
 * same card, so only the end of the latest call is the card's end.
 *
 * @param {State} state
 * @returns {() => void}
 */
function listen(state) {
  const call = {};
  state.call = call;
  comes(state);
  if (!state.listener) {
    state.listener = (event) => onKey(state, event);
    window.addEventListener("keydown", state.listener, true);
    stay(state);
  }
  return () => {
    if (state.call !== call || !state.listener) return;
    window.removeEventListener("keydown", state.listener, true);
    state.listener = null;
    goes(state);
    leave(state);
    state.dialog?.close();
  };
}

/** @param {State} state */
function draw(state) {
  const { data, holder } = state;
  const { question } = data;
  const { key, shift } = /** @type {HTMLElement | null} */ (activeIn(state))?.dataset ?? {};
  const typing = typedAt(state, nameOf(data));
  state.saved = make("p", {
    class: `saved ${data.saved ? data.saved.tone : "quiet"}`,
    "data-seq": data.saved?.seq ?? "",
    "data-row": data.saved?.row ?? "",
    text: data.saved
      ? [data.saved.message, data.day?.reached].filter(Boolean).join(". ")
      : "You have not answered here yet.",
  });
  const root = make(
    "div",
    {
      class: "card",
      "data-question": nameOf(data) ?? "",
      "data-token": data.token ?? "",
      "data-row": question?.view.id ?? "",
      "data-turn": data.turn,
    },
    heading(state),
    data.day?.rest && make("p", { class: "quiet rest", text: data.day.rest }),
    data.done && make("p", { class: "settled", text: data.done }),
  );
  if (question) {
    root.append(
      roomOf(state).whole?.(state, question) ?? body(state, question),
      roomOf(state).bare
        ? make("footer", { class: "foot" }, roomOf(state).actions(state, question))
        : folding(roomOf(state).actions(state, question), otherActions(state)),
    );
  } else {
    root.append(
      make(
        "section",
        { class: "done" },
        make("h2", { text: data.empty?.title }),
        make("p", { text: data.empty?.message }),
        data.offer && offerButton(state, data.offer),
      ),
      roomOf(state).bare ? "" : folding(otherActions(state)),
    );
  }
  letGo(holder);
  holder.replaceChildren(root);
  if (question) roomOf(state).drawn?.(state, question);
  if (question?.coming) fetchAhead(question.coming);
  // Before the frame is painted, but after all other changes, so that the page is laid out only once.
  requestAnimationFrame(() => leaveRoom(state));
  // Screen readers announce the saved text, and the focus stays on its key.
  say(state, state.saved.textContent);
  if (key || shift)
    buttonOf(state, (key ?? shift ?? "").split(" ")[0], key ? "data-key" : "data-shift")?.focus({
      preventScroll: true,
    });
  if (typing) openNote(state, typing);
}

/**
 * The row and what is asked about it, side by side.
 *
 * @param {State} state
 * @param {Question} question
 */
function body(state, question) {
  const { lead, asking } = roomOf(state);
  const shown = instance(state, question);
  return make(
    "div",
    { class: lead ? "body listed" : "body" },
    ...(lead ? lead(state, question, shown) : [shown]),
    asking?.(state, question),
  );
}

/**
 * @param {State} state
 * @param {Offer} offer
 */
const offerButton = (state, { kind, text }) =>
  make(
    "button",
    { class: "action strong offer", type: "button", onclick: () => press(state, null, kind, []) },
    keyCap("Enter"),
    make("span", { text }),
  );

/** @param {State} state */
function heading({ data, saved }) {
  const { counts } = data;
  const total = counts.answered + counts.left;
  return make(
    "header",
    { class: "head" },
    make(
      "div",
      {
        class: "track",
        role: "progressbar",
        "aria-valuemin": 0,
        "aria-valuemax": total,
        "aria-valuenow": counts.answered,
        "aria-label": counts.of,
      },
      make("span", { class: "fill", style: `width:${total && (100 * counts.answered) / total}%` }),
      counts.begun > 0 && make("span", { class: "begun", style: `width:${(100 * counts.begun) / total}%` }),
    ),
    make(
      "div",
      { class: "counts" },
      make(
        "span",
        {},
        make("b", { text: counts.answered.toLocaleString() }),
        make("span", { class: counts.done ? null : "word", text: ` ${counts.done ?? "answered"}` }),
        make("span", { class: "total", text: ` of ${total.toLocaleString()}` }),
      ),
      counts.begun > 0 && make("span", { class: "quiet", text: `${counts.begun.toLocaleString()} waiting for others` }),
      make("span", { class: "quiet", text: `${(counts.left - counts.begun).toLocaleString()} open` }),
      make("span", { class: "quiet", text: counts.share, title: counts.about }),
      data.day?.goal && make("span", { class: "quiet goal", text: data.day.goal, title: data.day.about }),
    ),
    saved,
  );
}

/**
 * Row and choices get the height between the heading and the actions, so that the actions stay in place; open
 * guidelines do not count. On a phone the saved message is above the bar at the foot.
 *
 * @param {State} state
 */
function leaveRoom({ holder }) {
  const foot = holder.querySelector(".foot");
  if (!foot) return;
  const { height } = foot.getBoundingClientRect();
  const body = holder.querySelector(".body")?.getBoundingClientRect();
  const scrolled = document.querySelector("[data-testid=stMain]")?.scrollTop ?? 0;
  const rooms = {
    "--around": Math.ceil(Math.min((body?.top ?? 0) + scrolled, 384) + height + 20),
    "--foot": getComputedStyle(foot).position === "sticky" ? Math.floor(height) : 0,
  };
  for (const [name, pixels] of Object.entries(rooms)) {
    // Setting it makes the browser lay out the whole page again.
    if (holder.style.getPropertyValue(name) !== `${pixels}px`) holder.style.setProperty(name, `${pixels}px`);
  }
}
