// The text of a row: how large it is set, and the pieces that are marked.

import assert from "node:assert/strict";
import { test } from "node:test";
import { lengthOf, piecesOf } from "../../../pages/parts/card/reading.js";

const words = (count) => Array(count).fill("word").join(" ");

test("the fewer words, the larger", () => {
  assert.equal(lengthOf(words(40)), "short");
  assert.equal(lengthOf(words(41)), "middle");
  assert.equal(lengthOf(words(120)), "middle");
  assert.equal(lengthOf(words(121)), "long");
  assert.equal(lengthOf(""), "short");
});

test("of scripts without spaces two signs are a word", () => {
  assert.equal(lengthOf("鳥".repeat(80)), "short");
  assert.equal(lengthOf("鳥".repeat(82)), "middle");
  assert.equal(lengthOf("ก".repeat(241)), "long");
  assert.equal(lengthOf(`${words(30)} ${"空".repeat(22)}`), "middle");
});

test("pieces are the text, marked where the spans are", () => {
  assert.deepEqual(piecesOf("red bird", [{ start: 4, end: 8, strength: 1 }]), [
    { text: "red ", strength: 0 },
    { text: "bird", strength: 1 },
  ]);
  assert.deepEqual(piecesOf("red", []), [{ text: "red", strength: 0 }]);
  assert.deepEqual(piecesOf("", []), []);
});

test("marks that touch or lie over one another are one, as strong as the strongest", () => {
  const spans = [
    { start: 0, end: 1, strength: 0.3 },
    { start: 1, end: 2, strength: 0.7 },
    { start: 1, end: 9, strength: 0.2 },
  ];
  assert.deepEqual(piecesOf("今日鳥", spans), [{ text: "今日鳥", strength: 0.7 }]);
});

test("characters are counted as people do, not by JavaScript's units", () => {
  const pieces = piecesOf("🐦 𠮷 bird", [{ start: 4, end: 8, strength: 0.5 }]);
  assert.deepEqual(pieces, [
    { text: "🐦 𠮷 ", strength: 0 },
    { text: "bird", strength: 0.5 },
  ]);
});
