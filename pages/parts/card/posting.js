// @ts-check
// An answer goes to the server without the page: it is stored, and the card shows what comes next. Without a
// reply it is sent again with the same token until one arrives; the server stores it only once.

import { isLog } from "./sound.js";
import { addressOf } from "./spectrogram.js";
import { activeIn, after, buttonOf, nameOf } from "./state.js";

/** @import { Answer, Coming, Data, EntryKind, OtherPress, Press, State } from "./types.js" */

// One press per question: it carries the token of the question on screen, and the card then ignores input
// until the server has moved on (`turn`).

/** Actions that are not answers: the question stays. */
const NO_ANSWERS = new Set([
  "undo",
  "redo",
  "pause",
  "resume",
  "open",
  "export",
  "begin",
  "next",
  "look",
  "discuss",
  "many",
  "one",
  "go",
]);

/**
 * @param {State} state
 * @param {HTMLElement | null} button that was pressed
 * @param {EntryKind | OtherPress} kind
 * @param {string[]} labels
 * @param {number | null} seq of the answer to undo, redo or open
 * @param {number | null} at the project of that answer, if it is another one
 */
export function press(state, button, kind, labels, seq = null, at = null) {
  if (state.busy) return;
  state.busy = true;
  state.late = setTimeout(() => whenLate(state), 4000);
  if (!NO_ANSWERS.has(kind)) state.answered = nameOf(state.data);
  state.leftNote = kind === "discuss";
  const said = {
    kind,
    labels,
    seq,
    at,
    token: state.data.token,
    shown: state.data.question?.shown ?? null,
    note: state.note,
    flagged: state.flagged,
  };
  if (goesByRoute(state, kind)) post(state, said);
  else state.send("press", said);
  // After it was sent. Most answers are stored before the style would be noticed; painting it would only
  // delay the next question.
  setTimeout(() => state.busy && button?.classList.add("pressed"));
  state.saving = setTimeout(() => {
    state.saved.className = "saved waiting";
    state.saved.textContent = "Saving…";
  }, 150);
}

/**
 * The server has not replied: it may be slow, or has restarted and lost this page's session. Once it replies
 * again, the page is reloaded; the token prevents storing the press twice.
 *
 * @param {State} state
 */
async function whenLate(state) {
  state.saved.textContent = "Still saving… Until an answer is shown as saved it may not be stored.";
  while (state.busy && state.listener) {
    await new Promise((resolve) => setTimeout(resolve, 2000));
    if (state.posted) continue; // the direct route retries by itself
    const answer = await fetch("healthz", { cache: "no-store" }).catch(() => null);
    if (state.busy && answer?.ok) window.location.reload();
  }
}

// Keys pressed while an answer is being sent: those that act on the card itself apply to the next question.

const MEANT_FOR_NEXT = new Set("mwtfz0h?,");

/**
 * Holds such a key and text typed after it; the card accepts nothing else meanwhile. Returns whether it
 * handled the key.
 *
 * @param {Pick<State, "busy" | "waiting">} state
 * @param {Pick<KeyboardEvent, "key" | "repeat" | "shiftKey">} event
 * @param {string} name of the key
 */
export function keepForNext(state, event, name) {
  const { busy, waiting } = state;
  if (!busy) return false;
  if (!waiting) {
    if (event.repeat || !MEANT_FOR_NEXT.has(name) || (event.shiftKey && name !== "?")) return false;
    state.waiting = { name, text: "" };
  } else if (event.key === "Escape") state.waiting = null;
  else if (event.key === "Backspace") waiting.text = waiting.text.slice(0, -1);
  else if (event.key.length === 1) waiting.text += event.repeat ? "" : event.key;
  else return event.key === "Enter";
  return true;
}

/**
 * Once the next question is drawn, presses the held key and types the text into the field that it opened, if
 * any.
 *
 * @param {State} state
 */
export function pressWaiting(state) {
  const { waiting } = state;
  state.waiting = null;
  if (!waiting) return;
  buttonOf(state, waiting.name)?.click();
  const field = activeIn(state);
  if (!waiting.text || !(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)) return;
  field.value += waiting.text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

// Prefetches the files of the likely next row while the browser is idle.

/** Maximum size in bytes of a prefetched recording; the player requests parts of a longer one as needed. */
const MOST_BYTES = 8_000_000;

/**
 * Files of a row that are fetched without a size check.
 *
 * @param {Coming} row
 * @param {boolean} log
 */
export const addressesOf = ({ images, audio, segment }, log) => [
  ...images,
  ...(audio ? [addressOf(audio, segment, log)] : []),
];

/** @param {Coming} row */
export function fetchAhead(row) {
  const later = window.requestIdleCallback ?? ((/** @type {() => void} */ does) => setTimeout(does, 300));
  later(async () => {
    try {
      for (const address of addressesOf(row, isLog())) await into(address);
      if (row.audio && (await lengthOf(row.audio)) <= MOST_BYTES) await into(row.audio);
    } catch {
      // It is fetched with its question.
    }
  });
}

/**
 * Into the browser's cache, to the last byte.
 *
 * @param {string} address
 */
const into = async (address) => (await fetch(address, { priority: "low" })).blob();

/** @param {string} address */
async function lengthOf(address) {
  const answer = await fetch(address, { method: "HEAD", priority: "low" });
  return Number(answer.headers.get("content-length") ?? Number.POSITIVE_INFINITY);
}

/** Milliseconds before the first retry; doubled each time, up to MOST. */
const AGAIN_AFTER = 1000;
const MOST = 4000;
/** After this many attempts, check whether the server is there at all. */
const TRIES = 5;
/** Longer than a server needs to read the whole log of a large project first. */
const PATIENCE = 60_000;
/** Status of a proxy whose server is not running. */
const NOT_THERE = new Set([502, 504]);

/**
 * The card that listens for keys; it may have been replaced while the answer was sent.
 *
 * @type {State | null}
 */
let live = null;

/** @param {State} state */
export function comes(state) {
  live = state;
}

/** @param {State} state */
export function goes(state) {
  if (live === state) live = null;
}

/** A proxy lets pages through, but not answers. */
let closed = false;

/**
 * Actions that change only the card. The page handles all others: those that lead to another page, and
 * batches.
 */
const BY_ROUTE = new Set([
  "is",
  "among",
  "not",
  "none",
  "labels",
  "yes",
  "no",
  "unsure",
  "bad",
  "skip",
  "undo",
  "redo",
]);

/**
 * @param {State} state
 * @param {EntryKind | OtherPress} kind
 */
export const goesByRoute = ({ data }, kind) => !closed && data.route !== null && BY_ROUTE.has(kind);

/**
 * @param {State} state
 * @param {Press} said
 */
export async function post(state, said) {
  const { route } = state.data;
  state.posted = said;
  const came = await sent(state, said);
  const isLatest = state.posted === said;
  if (isLatest) state.posted = null;
  if (!came) return;
  const { status, words, answer } = came;
  const card = live;
  const drawn = drawnFor(card ?? state);
  if (!card) {
    if (answer?.card && drawn.route === route) after(drawn, answer.card); // the next card starts with this data
    return;
  }
  if (drawn.route !== route || !isLatest) return; // another project is shown, or no question, or it has its own press
  if (answer) {
    if (answer.together) card.send("press", { ...said, kind: "many" });
    else if (answer.go) card.send("press", { ...said, kind: "go", at: answer.go });
    else if (answer.card) shown(card, drawn, answer.card);
    else stored(card, drawn);
  } else if (status === 404 || status === 405) {
    closed = true;
    card.send("press", said);
  } else if (status === 401) window.location.assign(new URL("signin?ended=1", document.baseURI));
  else if (status === 0)
    window.location.reload(); // a proxy requires sign-in first
  else {
    refused(
      card,
      drawn,
      words ?? `The server failed (${status}): this may not be saved. Fix: try again, nothing is stored twice.`,
    );
    if (status === 403) card.send("here", { token: said.token ?? "" }); // the page shows what is allowed here
  }
}

/**
 * Latest page data for this card, shown or held back while an answer was being sent.
 *
 * @param {State} card
 */
function drawnFor(card) {
  const data = card.held ?? card.data;
  card.held = null;
  return data;
}

/**
 * Final reply of the server; null if the card was removed before it came.
 *
 * @param {State} state
 * @param {Press} said
 */
async function sent(state, said) {
  const { route, person, walk } = state.data;
  const lead = walk?.lead;
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const address = new URL(route ?? "", document.baseURI);
  for (let tries = 0, there = 0; !tries || state.listener; tries++) {
    const again = tries > 0;
    const came = await once(address, JSON.stringify({ ...said, person, zone, lead, again })).catch(() => null);
    if (came && !NOT_THERE.has(came.status)) return came;
    // A restarted server can serve the next attempt; if that fails too, something blocks answers.
    there = tries >= TRIES && (await isThere()) ? there + 1 : 0;
    if (there === 2) return { status: 404, words: null, answer: null };
    await new Promise((resolve) =>
      setTimeout(resolve, Math.min(MOST, AGAIN_AFTER * 2 ** tries) * (0.75 + Math.random() / 2)),
    );
  }
  return null;
}

const isThere = () =>
  fetch(new URL("healthz", document.baseURI), { cache: "no-store" }).then(
    ({ ok }) => ok,
    () => false,
  );

/**
 * Throws unless the reply is complete.
 *
 * @param {URL} address
 * @param {string} body
 */
async function once(address, body) {
  const reply = await fetch(address, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body,
    cache: "no-store",
    redirect: "manual",
    signal: AbortSignal.timeout(PATIENCE),
  });
  const text = await reply.text();
  const type = reply.headers.get("content-type") ?? "";
  /** @type {Answer | null} */
  const answer = type.startsWith("application/json") ? JSON.parse(text) : null;
  return { status: reply.status, words: type.startsWith("text/plain") && reply.status !== 500 ? text : null, answer };
}

/**
 * @param {State} card
 * @param {Data} drawn
 * @param {NonNullable<Answer["card"]>} told
 */
function shown(card, drawn, told) {
  const data = after(drawn, told);
  // The question is unchanged, so typed input still belongs to it.
  if (data.token === card.data.token) card.answered = null;
  card.take(card, data, { dealt: true });
  if (data.frame === card.frame) return;
  card.frame = data.frame;
  card.send("here", { token: data.token ?? "" }); // the page redraws the card's surroundings
}

/**
 * @param {State} card
 * @param {Data} drawn
 * @param {string} words
 */
const refused = (card, drawn, words) => shown(card, drawn, { saved: lineOf(drawn, "bad", words) });

/**
 * The answer is stored, but the next question could not be fetched: the page requests it.
 *
 * @param {State} card
 * @param {Data} drawn
 */
function stored(card, drawn) {
  shown(card, drawn, { saved: lineOf(drawn, "quiet", "Saved. The next question is on its way.") });
  card.send("here", { token: card.data.token ?? "" });
}

/**
 * @param {Data} drawn
 * @param {"bad" | "quiet"} tone
 * @param {string} message
 */
const lineOf = ({ saved }, tone, message) => ({ tone, message, seq: saved?.seq ?? null, row: null });
