// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { alone } from "../../../pages/parts/card/sound.js";

class Recording extends EventTarget {
  paused = true;
  play() {
    this.paused = false;
    this.dispatchEvent(new Event("play"));
  }
  pause() {
    this.paused = true;
  }
}

const recording = () =>
  /** @type {HTMLAudioElement} */ (/** @type {unknown} */ (alone(/** @type {any} */ (new Recording()))));

test("the one that played is paused as another begins, and begins again itself", () => {
  const [first, second] = [recording(), recording()];
  first.play();
  first.play();
  assert.ok(!first.paused);
  second.play();
  assert.deepEqual([first.paused, second.paused], [true, false]);
  first.play();
  assert.deepEqual([first.paused, second.paused], [false, true]);
});
