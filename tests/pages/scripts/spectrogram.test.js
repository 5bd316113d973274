// The picture of a recording: its colours, its axes, its address.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addressOf,
  coloursOf,
  fetched,
  frequencies,
  heightOf,
  isDark,
  ticks,
  widthOf,
} from "../../../pages/parts/card/spectrogram.js";

const luminance = ([red, green, blue]) => 0.2126 * red + 0.7152 * green + 0.0722 * blue;

test("louder is darker on a light page and lighter on a dark one, all the way", () => {
  for (const [dark, step] of [
    [false, -1],
    [true, 1],
  ]) {
    const shades = coloursOf(dark).map(luminance);
    assert.equal(shades.length, 256);
    for (let grey = 1; grey < 256; grey++) assert.ok(step * (shades[grey] - shades[grey - 1]) > -1, `${dark} ${grey}`);
    assert.ok(step * (shades[255] - shades[0]) > 150);
  }
});

test("the ramps begin and end with the colours of the design", () => {
  assert.deepEqual(coloursOf(false)[0], [0xf4, 0xf7, 0xf5]);
  assert.deepEqual(coloursOf(false)[255], [0x0b, 0x24, 0x22]);
  assert.deepEqual(coloursOf(true)[0], [0x18, 0x20, 0x21]);
  assert.deepEqual(coloursOf(true)[255], [0xf6, 0xe7, 0xb8]);
});

test("the ground decides, as CSS words it", () => {
  assert.equal(isDark("rgb(17, 23, 24)"), true);
  assert.equal(isDark("rgb(255, 255, 255)"), false);
  assert.equal(isDark("rgba(14, 17, 23, 1)"), true);
  assert.equal(isDark(""), false);
});

test("an axis has round values, few of them, all inside", () => {
  assert.deepEqual(ticks(12, 19, 8), [12, 13, 14, 15, 16, 17, 18, 19]);
  assert.deepEqual(ticks(0, 12000, 6), [0, 2000, 4000, 6000, 8000, 10000, 12000]);
  assert.deepEqual(ticks(0.3, 0.9, 3), [0.4, 0.6, 0.8]);
  assert.deepEqual(ticks(0, 62, 8), [0, 10, 20, 30, 40, 50, 60]);
  for (const [low, high] of [
    [0, 0.1],
    [3599.7, 3606.7],
    [0, 1e6],
  ]) {
    const found = ticks(low, high, 8);
    assert.ok(found.length >= 2 && found.length <= 9, String(found));
    assert.ok(found.every((one) => one >= low - 1e-9 && one <= high + 1e-9));
  }
});

test("frequencies are named by their scale", () => {
  assert.deepEqual(frequencies({ f0: 0, f1: 4000 }, false), [0, 1000, 2000, 3000, 4000]);
  assert.deepEqual(frequencies({ f0: 50, f1: 12000 }, true), [50, 100, 200, 500, 1000, 2000, 5000, 10000]);
});

test("a frequency has its place on either scale", () => {
  const edges = { f0: 100, f1: 10000 };
  assert.equal(heightOf(100, edges, true), 0);
  assert.ok(Math.abs(heightOf(1000, edges, true) - 0.5) < 1e-12);
  assert.equal(heightOf(10000, edges, true), 1);
  assert.equal(heightOf(5050, edges, false), 0.5);
});

test("a second has its place, those outside the edge", () => {
  assert.equal(widthOf(5, { t0: 4, t1: 8 }), 0.25);
  assert.equal(widthOf(1, { t0: 4, t1: 8 }), 0);
  assert.equal(widthOf(99, { t0: 4, t1: 8 }), 1);
});

test("the address has what is asked for, and no more", () => {
  assert.equal(addressOf("/files/a.wav", [14, 17.5], false), "/files/a.wav/spectrogram?scale=linear&start=14&end=17.5");
  assert.equal(addressOf("/files/a.wav", [null, 3], true), "/files/a.wav/spectrogram?scale=log&end=3");
  assert.equal(addressOf("/files/a.wav", [0, null], false), "/files/a.wav/spectrogram?scale=linear&start=0");
  assert.equal(addressOf("/files/a.wav", null, false), "/files/a.wav/spectrogram?scale=linear");
});

test("whatever comes in place of a picture is words, and never a page's source", async (context) => {
  const html = { "content-type": "text/html" };
  const plain = { "content-type": "text/plain; charset=utf-8" };
  const edges = { "content-type": "image/png", "x-winnow-edges": '{"t0": 1}' };
  /** @type {[() => Promise<Response>, RegExp][]} */
  const cases = [
    [() => Promise.reject(new TypeError("offline")), /did not answer/],
    [async () => new Response("No such file.", { status: 404, headers: plain }), /^No such file\.$/],
    [async () => new Response("<h1>Bad gateway</h1>", { status: 502, headers: html }), /^The server .* 502\.$/],
    [async () => new Response("<h1>Sign in</h1>", { headers: html }), /something else/],
    [async () => new Response("cut", { headers: { ...edges, "x-winnow-edges": "{" } }), /did not answer/],
    [async () => new Response("no picture", { headers: edges }), /did not answer/],
  ];
  globalThis.createImageBitmap = () => Promise.reject(new Error("undecodable"));
  for (const [answers, words] of cases) {
    context.mock.method(globalThis, "fetch", answers);
    assert.match(/** @type {string} */ (await fetched("/files/a.wav/spectrogram")), words);
  }
  globalThis.createImageBitmap = async () => "bitmap";
  context.mock.method(globalThis, "fetch", async () => new Response("png", { headers: edges }));
  assert.deepEqual(await fetched("/files/a.wav/spectrogram"), { edges: { t0: 1 }, image: "bitmap" });
});
