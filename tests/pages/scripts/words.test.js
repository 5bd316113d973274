// Text as a search compares it: `tests/workflow/rows/test_rows.py` has the same cases.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { folded, holdsWords } from "../../../pages/parts/card/words.js";

const cases = JSON.parse(readFileSync(new URL("folding.json", import.meta.url), "utf8"));

for (const [text, wanted] of cases) {
  test(`${JSON.stringify(text)} is compared as ${JSON.stringify(wanted)}`, () => {
    assert.equal(folded(text), wanted);
    assert.equal(folded(wanted), wanted);
  });
}

test("a text holds all words, in any order, case and spelling of accents", () => {
  const sky = folded("Nächtlicher Himmel");
  assert.ok(holdsWords(sky, ""));
  assert.ok(holdsWords(sky, " himmel  NACHT "));
  assert.ok(holdsWords(sky, "Na\u0308cht"));
  assert.ok(!holdsWords(sky, "himmel tag"));
});
