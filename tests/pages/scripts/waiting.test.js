// Keys pressed while an answer is on its way: kept for the question that comes, or dropped; never an answer to it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { keepForNext } from "../../../pages/parts/card/posting.js";

/** The state after these keys, and the keys that it withheld from other listeners. */
function after(keys, busy = true) {
  const state = { busy, waiting: null };
  const dealt = keys.map((one) => {
    const event = { repeat: false, shiftKey: false, ...(typeof one === "string" ? { key: one } : one) };
    return keepForNext(state, event, event.key);
  });
  return { waiting: state.waiting, dealt };
}

test("a card that hears keeps nothing", () => {
  assert.deepEqual(after(["0", "t"], false), { waiting: null, dealt: [false, false] });
});

test("what acts on the card waits, with what is typed after it", () => {
  assert.deepEqual(after(["0", "e", "e", "l"]), {
    waiting: { name: "0", text: "eel" },
    dealt: [true, true, true, true],
  });
});

test("an answer's key is not kept: it was meant for the question that is gone", () => {
  assert.deepEqual(after(["1", "s", "c", "x", "u"]).waiting, null);
});

test("a held key and a key with Shift begin nothing, but for the question mark", () => {
  assert.equal(after([{ key: "t", repeat: true }]).waiting, null);
  assert.equal(after([{ key: "m", shiftKey: true }]).waiting, null);
  assert.deepEqual(after([{ key: "?", shiftKey: true }]).waiting, { name: "?", text: "" });
});

test("what waits can be mended and taken back", () => {
  assert.deepEqual(after(["t", "a", "b", "Backspace"]).waiting, { name: "t", text: "a" });
  assert.deepEqual(after(["t", "a", "Escape"]), { waiting: null, dealt: [true, true, true] });
  assert.deepEqual(after(["t", { key: "a", repeat: true }]).waiting, { name: "t", text: "" });
});

test("Enter is no one's meanwhile; Tab and the arrows stay the page's", () => {
  assert.deepEqual(after(["t", "Enter", "Tab", "ArrowDown"]).dealt, [true, true, false, false]);
});
