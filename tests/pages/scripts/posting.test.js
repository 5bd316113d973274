// Presses sent directly to the server: which card shows the result, and how often they are sent.

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { newest } from "../../../pages/parts/card/state.js";

/** @type {any} */
const browser = globalThis;
browser.window = { location: { assign() {}, reload() {} } };
browser.document = { baseURI: "http://h/annotate" };
const { comes, goes, post } = await import("../../../pages/parts/card/posting.js");

const NOTHING = { similar: null, panel: null, examples: false, saved: null, day: null };
let tabs = 0;

/**
 * @param {Record<string, unknown>} more
 * @returns {any}
 */
const drawn = (more) =>
  newest(
    /** @type {any} */ ({
      ...NOTHING,
      tab: String(tabs),
      turn: 0,
      person: 1,
      frame: "f",
      project: 1,
      route: "presses/1",
      drawing: 1,
      height: 5,
      token: "1.7.0",
      ...more,
    }),
  );

/**
 * A card that shows this.
 *
 * @param {any} data
 * @returns {any}
 */
const card = (data) => {
  /** @type {any} */
  const state = { data, posted: null, held: null, listener() {}, frame: data.frame, busy: true, sent: [] };
  state.send = (/** @type {string} */ name, /** @type {unknown} */ value) => state.sent.push([name, value]);
  state.take = (/** @type {any} */ one, /** @type {any} */ shown) => Object.assign(one, { data: shown, busy: false });
  comes(state);
  return state;
};

/**
 * The server answers with this once the returned function is called.
 *
 * @param {unknown} body
 * @param {number} status
 */
const later = (body, status = 200) => {
  /** @type {() => void} */
  let answer = () => {};
  /** @type {Promise<void>} */
  const told = new Promise((resolve) => {
    answer = resolve;
  });
  browser.fetch = () =>
    told.then(() => new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } }));
  return answer;
};

/** @type {any} */
const ANT = { kind: "is", labels: ["ant"], token: "1.7.0" };
const NEXT = { token: "1.8.0", height: 6, frame: "f", saved: null };

test("what comes next is shown, and what the page has drawn besides stays", async () => {
  tabs += 1;
  const state = card(drawn({}));
  const answer = later({ card: NEXT, together: false });
  const done = post(state, ANT);
  state.held = drawn({ drawing: 2, panel: { wanted: "history" } });
  answer();
  await done;
  assert.deepEqual(
    [state.data.token, state.data.panel, state.held, state.posted],
    ["1.8.0", { wanted: "history" }, null, null],
  );
});

test("another project that is chosen while a press is on its way keeps its question", async () => {
  tabs += 1;
  const state = card(drawn({}));
  const answer = later({ card: NEXT, together: false });
  const done = post(state, ANT);
  const other = drawn({ project: 2, route: "presses/2", drawing: 2, height: 3, token: "1.2.0" });
  state.take(state, other);
  answer();
  await done;
  assert.equal(state.data, other);
});

test("a card that is no question card takes no question", async () => {
  tabs += 1;
  const state = card(drawn({}));
  for (const status of [200, 404, 401, 403]) {
    const answer = later({ card: NEXT, together: false }, status);
    const done = post(state, ANT);
    goes(state);
    const disputes = card(drawn({ route: null, drawing: 2, height: null, frame: null, token: "v.3.0" }));
    answer();
    await done;
    assert.deepEqual([disputes.data.token, disputes.sent], ["v.3.0", []]);
  }
});

test("the answer to a press that has another behind it changes nothing", async () => {
  tabs += 1;
  const state = card(drawn({}));
  const answer = later({ card: NEXT, together: false });
  const done = post(state, ANT);
  state.posted = { ...ANT, token: "1.8.0" };
  answer();
  await done;
  assert.deepEqual([state.busy, state.posted.token], [true, "1.8.0"]);
});

test("a refusal is not lost where the page has drawn something newer", async () => {
  tabs += 1;
  const state = card(drawn({}));
  const saved = { tone: "bad", message: "Not saved: someone else has this row", seq: null, row: null };
  const answer = later({ card: { ...NEXT, saved }, together: false }, 409);
  const done = post(state, ANT);
  state.held = drawn({ drawing: 2, height: 7, token: "1.9.0", saved: { tone: "good", message: "", seq: 1, row: 1 } });
  answer();
  await done;
  assert.deepEqual([state.data.token, state.data.saved.tone], ["1.9.0", "bad"]);
});

test("rows together are the page's, and what was held for the card is gone", async () => {
  tabs += 1;
  const state = card(drawn({}));
  const answer = later({ card: null, together: true });
  const done = post(state, { ...ANT, kind: "undo" });
  state.held = drawn({ drawing: 2 });
  answer();
  await done;
  assert.deepEqual([state.held, state.sent[0][1].kind], [null, "many"]);
});

test("the next question of another project is the page's", async () => {
  tabs += 1;
  const state = card(drawn({ walk: { lead: 1, words: "1 of 2: species", undoAt: null } }));
  const answer = later({ card: null, together: false, go: 2 });
  const done = post(state, ANT);
  answer();
  await done;
  const [, said] = state.sent[0];
  assert.deepEqual([said.kind, said.at], ["go", 2]);
});

test("an address that answers nothing while the server is there has the press go by the page, and all after it", async () => {
  tabs += 1;
  const state = card(drawn({}));
  let tries = 0;
  mock.timers.enable({ apis: ["setTimeout"] });
  browser.fetch = (/** @type {URL} */ address) => {
    if (address.pathname === "/healthz") return Promise.resolve({ ok: true });
    tries += 1;
    return Promise.reject(new TypeError("Failed to fetch"));
  };
  const done = post(state, ANT);
  for (let k = 0; k < 200 && !state.sent.length; k++) {
    await new Promise((resolve) => setImmediate(resolve));
    mock.timers.tick(5000);
  }
  await done;
  mock.timers.reset();
  assert.deepEqual([tries, state.sent], [7, [["press", ANT]]]);
});
