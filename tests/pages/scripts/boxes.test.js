// The boxes of a detector: where the name of each is, so that the picture does not end before it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { nameSides } from "../../../pages/parts/card/pictures.js";

test("a name is over its box, below it at the top edge, and in it if the box fills the picture", () => {
  assert.equal(nameSides([0.1, 0.3, 0.2, 0.2]), "over begins");
  assert.equal(nameSides([0.1, 0, 0.2, 0.5]), "below begins");
  assert.equal(nameSides([0, 0, 0.9, 1]), "within begins");
});

test("a name in the right half ends where its box does", () => {
  assert.equal(nameSides([0.8, 0.3, 0.2, 0.2]), "over ends");
  assert.equal(nameSides([0.9, 0.95, 0.1, 0.05]), "over ends");
});
