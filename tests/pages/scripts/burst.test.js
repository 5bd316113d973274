// The pictures of a row: which comes next, what each is called, and how bright it is.

import assert from "node:assert/strict";
import { test } from "node:test";
import { brighter, nameOf, placeWords, turned } from "../../../pages/parts/card/pictures.js";

test("after the last picture comes the first, and before the first the last", () => {
  assert.equal(turned(0, 1, 3), 1);
  assert.equal(turned(2, 1, 3), 0);
  assert.equal(turned(0, -1, 3), 2);
  assert.equal(turned(0, 0, 3), 0);
  assert.equal(turned(0, 1, 1), 0);
});

test("as many steps on as there are pictures lead back, from everywhere and both ways", () => {
  for (const count of [1, 2, 5]) {
    for (const way of [1, -1]) {
      for (let first = 0; first < count; first += 1) {
        const seen = new Set();
        let place = first;
        for (let step = 0; step < count; step += 1) {
          seen.add(place);
          place = turned(place, way, count);
        }
        assert.equal(place, first);
        assert.equal(seen.size, count);
      }
    }
  }
});

test("people count from one, and a single picture has no number", () => {
  assert.equal(placeWords(1, 3), "2 of 3 pictures");
  assert.equal(nameOf("Image of row x", 1, 3), "Image of row x, 2 of 3 pictures");
  assert.equal(nameOf("Image of row x", 0, 1), "Image of row x");
});

test("a picture gets brighter step by step, then is as it was", () => {
  const lights = [1];
  while (lights.length < 10 && brighter(lights.at(-1)) !== 1) lights.push(brighter(lights.at(-1)));
  assert.equal(lights.length, 4);
  assert.deepEqual(
    lights,
    [...lights].sort((one, other) => one - other),
  );
});
