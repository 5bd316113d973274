// @ts-check
// An answer goes to the server without the page: it is stored, and the card shows what comes next. Without a
// reply it is sent again with the same token until one arrives; the server stores it only once.

import { after } from "./newest.js";

/** @import { Answer, Data, EntryKind, OtherPress, Press, State } from "./types.js" */

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
