// A row's labels: which ones a search leaves, and what the button says that it will store.

import assert from "node:assert/strict";
import { test } from "node:test";
import { saveWords } from "../../../pages/parts/label_vectors/labels.js";
import { holdsWords } from "../../../pages/parts/label_vectors/search.js";

test("a label is left where it holds all words, in any order and any case", () => {
  assert.ok(holdsWords("Night sky", ""));
  assert.ok(holdsWords("Night sky", " sky  NI "));
  assert.ok(!holdsWords("Night sky", "sky day"));
});

test("the button says how many labels are right, and how many are not", () => {
  assert.equal(saveWords(0, 1), "Save: none of 1 label");
  assert.equal(saveWords(0, 6), "Save: none of 6 labels");
  assert.equal(saveWords(1, 6), "Save: 1 label, 5 not");
  assert.equal(saveWords(6, 6), "Save: 6 labels, 0 not");
});
