// A similar row has a name, and its first features if it has no text, picture or recording.

import assert from "node:assert/strict";
import { test } from "node:test";
import { aboutOf } from "../../../pages/parts/card/examples.js";

const ROW = { id: "r7", text: "", image: null, audio: null };

test("a row of numbers is told by them", () => {
  const features = [
    ["x", "1.5"],
    ["kind", ""],
  ];
  assert.equal(aboutOf({ ...ROW, features }), "Row r7 · x 1.5 · kind –");
});

test("a row with text, image or sound is shown by that", () => {
  const features = [["x", "1.5"]];
  assert.equal(aboutOf({ ...ROW, text: "a wren", features }), "Row r7");
  assert.equal(aboutOf({ ...ROW, image: "/a.png", features }), "Row r7");
  assert.equal(aboutOf({ ...ROW, audio: "/a.wav", features }), "Row r7");
});
