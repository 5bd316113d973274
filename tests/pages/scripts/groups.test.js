// Text of a group in a question, and its place in the search.

import assert from "node:assert/strict";
import { test } from "node:test";
import { answerOf, firstOf } from "../../../pages/parts/one_label/groups.js";
import { classesOf, groupsOf, keep, matching } from "../../../pages/parts/one_label/search.js";

const QUESTION = {
  rows: [{ label: "rook" }, { label: "raven" }, { label: "wren" }],
  groups: [
    { key: "1", name: "Corvus", labels: ["rook", "raven"] },
    { key: "2", name: "small", labels: ["wren"] },
  ],
};

test("of a group that parts the candidates, those in it are the answer", () => {
  const crows = answerOf(QUESTION, { label: "Corvus", classes: ["rook", "raven", "crow"] });
  assert.deepEqual(crows, { kind: "among", labels: ["rook", "raven"], about: "group: rook, raven" });
  const small = answerOf(QUESTION, { label: "small", classes: ["wren", "tit"] });
  assert.deepEqual([small.kind, small.labels], ["is", ["wren"]]);
});

test("a group without a candidate says none of them, and one of its classes", () => {
  const tits = answerOf(QUESTION, { label: "Parus", classes: ["great tit", "blue tit"] });
  assert.deepEqual([tits.kind, tits.labels], ["none", ["great tit", "blue tit"]]);
  assert.match(tits.about, /^group, none of the candidates: great tit, blue tit$/);
});

test("a group of all candidates says nothing", () => {
  assert.equal(answerOf(QUESTION, { label: "bird", classes: ["rook", "raven", "wren", "tit"] }), null);
});

test("of many classes the first are named", () => {
  assert.equal(firstOf(["a"]), "a");
  assert.equal(firstOf([..."abcdef"]), "a, b, c, d, e, f");
  assert.equal(firstOf([..."abcdefgh"]), "a, b, c, d, e, f and 2 more");
});

test("groups are kept next to the classes, and found without their accents", () => {
  keep(7, [["Kr\u00e4henscharbe", ""]], [["Kr\u00e4hen", ["rook", "raven"]]]);
  assert.deepEqual(
    classesOf(7).map((one) => one.label),
    ["Kr\u00e4henscharbe"],
  );
  assert.deepEqual(groupsOf(8), []);
  const all = [...classesOf(7), ...groupsOf(7)];
  const names = (query) => matching(all, query).map((one) => one.label);
  assert.deepEqual(names("krahe"), ["Kr\u00e4henscharbe", "Kr\u00e4hen"], "classes first");
  assert.deepEqual(names(" KRAHEN "), ["Kr\u00e4hen", "Kr\u00e4henscharbe"], "but what is called just so");
  keep(7, []);
  assert.deepEqual(groupsOf(7), []);
});
