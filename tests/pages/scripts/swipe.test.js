// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { sideOf } from "../../../pages/parts/card/keys.js";

test("a finger answers where it goes far enough across", () => {
  assert.equal(sideOf(72, 0), "right");
  assert.equal(sideOf(-72, 30), "left");
  assert.equal(sideOf(71, 0), null, "a tap, or thought better of");
  assert.equal(sideOf(0, 300), null, "it scrolls");
  assert.equal(sideOf(100, 51), null, "no one can tell");
  assert.equal(sideOf(100, -50), "right");
});
