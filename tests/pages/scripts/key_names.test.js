// Name of a key: on every layout, with Shift, on a keypad.

import assert from "node:assert/strict";
import { test } from "node:test";
import { keyName, typed } from "../../../pages/parts/card/keys.js";

const cases = [
  // key, code, name
  ["1", "Digit1", "1"],
  ["!", "Digit1", "1"], // Shift on an English layout
  ["&", "Digit1", "1"], // no Shift on a French one
  ["1", "Numpad1", "1"],
  ["s", "KeyS", "s"],
  ["S", "KeyS", "s"],
  ["q", "KeyA", "q"], // a French layout: what it types
  ["ы", "KeyS", "s"], // no Latin letter: its position on the keyboard
  ["Ψ", "KeyC", "c"],
  ["ö", "Semicolon", "ö"],
  ["?", "Slash", "?"],
  ["?", "Digit9", "?"], // not the digit of that key's position
  ["Backspace", "Backspace", "u"],
  ["Enter", "Enter", "Enter"],
  ["Dead", "BracketLeft", "Dead"],
];

for (const [key, code, name] of cases) {
  test(`${key} of ${code} is ${name}`, () => assert.equal(keyName({ key, code }), name));
}

test("what a key types keeps digits and signs as they are typed", () => {
  assert.equal(typed({ key: "!", code: "Digit1" }), "!");
  assert.equal(typed({ key: "Z", code: "KeyZ" }), "z");
  assert.equal(typed({ key: "+", code: "NumpadAdd" }), "+");
  assert.equal(typed({ key: "ArrowLeft", code: "ArrowLeft" }), "ArrowLeft");
});
