// The player: where it stops, what it says, what is fetched ahead, what a browser remembers.

import assert from "node:assert/strict";
import { test } from "node:test";
import { addressesOf } from "../../../pages/parts/card/posting.js";
import { stopsAt } from "../../../pages/parts/card/sound.js";
import { isOn, setOn } from "../../../pages/parts/card/state.js";
import { lengthWords, spanWords } from "../../../pages/parts/card/words.js";

test("playing stops at the end of the segment, unless it began beyond it", () => {
  assert.equal(stopsAt(14, 17), 17);
  assert.equal(stopsAt(2, 17), 17);
  assert.equal(stopsAt(17, 17), Number.POSITIVE_INFINITY);
  assert.equal(stopsAt(18, 17), Number.POSITIVE_INFINITY);
  assert.equal(stopsAt(3, null), Number.POSITIVE_INFINITY);
});

test("how long a recording is, in words", () => {
  const words = {
    0.1: "0.1 s",
    8.46: "8.5 s",
    30: "30 s",
    300: "5 min",
    312: "5 min 12 s",
    3600: "1 h",
    3720: "1 h 2 min",
  };
  for (const [seconds, said] of Object.entries(words)) assert.equal(lengthWords(Number(seconds)), said);
});

test("which part of it, in words", () => {
  assert.equal(spanWords([14, 17], 300), "14.0 to 17.0 s of 5 min");
  assert.equal(spanWords([14, 17], null), "14.0 to 17.0 s");
  assert.equal(spanWords([null, 3], 10), "0.0 to 3.0 s of 10 s");
  assert.equal(spanWords([4, null], 10), "from 4.0 s on of 10 s");
  assert.equal(spanWords(null, 10), "10 s");
  assert.equal(spanWords(null, null), "");
});

test("of what comes only what is there is fetched", () => {
  const audio = "/files/a.wav";
  assert.deepEqual(addressesOf({ images: [], audio, segment: [1, 2] }, true), [
    "/files/a.wav/spectrogram?scale=log&start=1&end=2",
  ]);
  assert.deepEqual(addressesOf({ images: ["/files/a.png"], audio: null, segment: null }, false), ["/files/a.png"]);
});

test("a setting holds where a browser keeps nothing, and is told apart from others", () => {
  assert.equal(isOn("one"), false);
  setOn("one", true);
  assert.deepEqual([isOn("one"), isOn("other")], [true, false]);
  setOn("one", false);
  assert.equal(isOn("one"), false);
});

test("a setting is read from what the browser kept, under a name of our own", () => {
  const kept = new Map([["winnow-three", "on"]]);
  globalThis.localStorage = {
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => kept.set(name, value),
  };
  assert.deepEqual([isOn("three"), isOn("four")], [true, false]);
  setOn("four", true);
  assert.equal(kept.get("winnow-four"), "on");
  delete globalThis.localStorage;
});
