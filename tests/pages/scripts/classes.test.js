// The classes of a project: the order in which the search finds them, and who hears of a new list.

import assert from "node:assert/strict";
import { test } from "node:test";
import { classesOf, follow, howMany, keep, matching } from "../../../pages/parts/one_label/search.js";

const NAMES = ["Great tit", "Blue tit", "Titmouse", "Long-tailed tit", "Wren"];

function found(query, names = NAMES) {
  keep(
    1,
    names.map((name) => [name, ""]),
  );
  return matching(classesOf(1), query).map((one) => one.label);
}

test("classes that begin with the first word come first, both parts in the project's order", () => {
  assert.deepEqual(found("tit"), ["Titmouse", "Great tit", "Blue tit", "Long-tailed tit"]);
});

test("all words must be there, in any order and any case, as parts of words too", () => {
  assert.deepEqual(found("TIT  bl"), ["Blue tit"]);
  assert.deepEqual(found("tail long"), ["Long-tailed tit"]);
  assert.deepEqual(found("tit wren"), []);
});

test("accents do not matter, nor how they are written, in the name or in what is typed", () => {
  const birds = ["Zaunk\u00f6nig", "Weißstorch", "Rødhals", "Łabędź", "Bla\u030ameis"];
  assert.deepEqual(found("zaunkonig", birds), ["Zaunk\u00f6nig"]);
  assert.deepEqual(found("ZAUNKO\u0308NIG", birds), ["Zaunk\u00f6nig"]);
  assert.deepEqual(found("weisss", birds), ["Weißstorch"]);
  assert.deepEqual(found("rodhals", birds), ["Rødhals"]);
  assert.deepEqual(found("labedz", birds), ["Łabędź"]);
  assert.deepEqual(found("bl\u00e5", birds), ["Bla\u030ameis"]);
});

test("nothing typed finds everything", () => {
  assert.deepEqual(found("  "), NAMES);
});

test("a project whose list has not come has none", () => {
  assert.deepEqual(classesOf(2), []);
});

test("whoever follows hears of each new list until they stop", () => {
  let heard = 0;
  const stop = follow(() => {
    heard += 1;
  });
  keep(1, [["Wren", "small"]]);
  keep(1, []);
  stop();
  keep(1, []);
  assert.equal(heard, 2);
});

test("the search says what it found, and how to go on where that is nothing", () => {
  assert.match(howMany(0, 0, true), /still loading/);
  assert.equal(howMany(9, 0, false), "0 found.");
  assert.match(howMany(9, 0, true), /^No match\. Arrow down, then Enter: none of these/);
  assert.equal(howMany(50, 50, true), "50 found.");
  assert.match(howMany(80, 51, true), /^50 of 51 shown/);
});
