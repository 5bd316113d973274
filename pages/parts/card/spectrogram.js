// @ts-check
// The spectrogram of a recording: grey from the server, coloured here for light and dark, with axes, the
// row's segment and a cursor.

import { make } from "./elements.js";
import { spanWords } from "./words.js";

/** @import { Edges, Picture, Segment, View } from "./types.js" */

/** From quiet to loud, with increasing contrast: readable in grey print and for colour-blind eyes. */
const RAMPS = {
  light: ["#f4f7f5", "#d3e6e0", "#6fb5a6", "#0f6b5e", "#0b2422"],
  dark: ["#182021", "#173a38", "#1f7a6c", "#6fd0bb", "#f6e7b8"],
};

/**
 * The colour of each grey level.
 *
 * @param {boolean} dark
 * @returns {number[][]} 256 triples of red, green, blue
 */
export function coloursOf(dark) {
  const stops = RAMPS[dark ? "dark" : "light"].map((hex) =>
    [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)),
  );
  return Array.from({ length: 256 }, (_, grey) => {
    const place = (grey / 255) * (stops.length - 1);
    const below = Math.min(Math.floor(place), stops.length - 2);
    return stops[below].map((low, part) => Math.round(low + (stops[below + 1][part] - low) * (place - below)));
  });
}

/**
 * Whether a colour, as CSS computes it (`rgb(17, 23, 24)`), is in the darker half.
 *
 * @param {string} colour
 */
export function isDark(colour) {
  const [red, green, blue] = (colour.match(/[\d.]+/g) ?? ["255", "255", "255"]).map(Number);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 128;
}

/**
 * Round tick values of an axis.
 *
 * @param {number} low
 * @param {number} high
 * @param {number} most maximum number of ticks
 */
export function ticks(low, high, most) {
  const least = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= least * 0.999) ?? least;
  const first = Math.ceil(low / step - 1e-6);
  const count = Math.floor(high / step + 1e-6) - first + 1;
  return Array.from({ length: count }, (_, place) => Number(((first + place) * step).toPrecision(10)));
}

/**
 * Frequencies labelled next to a spectrogram, in Hz.
 *
 * @param {Pick<Edges, "f0" | "f1">} edges
 * @param {boolean} log
 */
export function frequencies({ f0, f1 }, log) {
  if (!log) return ticks(f0, f1, 6);
  const all = Array.from({ length: 7 }, (_, power) => [1, 2, 5].map((one) => one * 10 ** power)).flat();
  return all.filter((one) => one >= f0 && one <= f1);
}

/**
 * Vertical position of a frequency, 0 at the bottom and 1 at the top.
 *
 * @param {number} frequency
 * @param {Pick<Edges, "f0" | "f1">} edges
 * @param {boolean} log
 */
export const heightOf = (frequency, { f0, f1 }, log) =>
  log ? Math.log(frequency / f0) / Math.log(f1 / f0) : (frequency - f0) / (f1 - f0);

/**
 * Horizontal position of a second, from 0 to 1.
 *
 * @param {number} second
 * @param {Pick<Edges, "t0" | "t1">} edges
 */
export const widthOf = (second, { t0, t1 }) => Math.min(1, Math.max(0, (second - t0) / (t1 - t0)));

/**
 * Address of the server's spectrogram.
 *
 * @param {string} audio
 * @param {Segment | null} segment
 * @param {boolean} log
 */
export function addressOf(audio, segment, log) {
  const query = new URLSearchParams({ scale: log ? "log" : "linear" });
  const [start, end] = segment ?? [null, null];
  if (start !== null) query.set("start", String(start));
  if (end !== null) query.set("end", String(end));
  return `${audio}/spectrogram?${query}`;
}

/**
 * Fetches the spectrogram; returns an error message if there is none, whether the reply is ours or a page of
 * a proxy or sign-in.
 *
 * @param {string} address
 * @returns {Promise<Picture | string>}
 */
export async function fetched(address) {
  try {
    const answer = await fetch(address);
    const isOurs = answer.headers.get("content-type")?.startsWith("text/plain");
    if (!answer.ok) return isOurs ? await answer.text() : `The server answered with error ${answer.status}.`;
    const edges = JSON.parse(answer.headers.get("x-winnow-edges") ?? "null");
    if (!edges) return "The server sent something else. Reload the page.";
    return { edges, image: await createImageBitmap(await answer.blob(), { colorSpaceConversion: "none" }) };
  } catch {
    return "The server did not answer. Check your connection.";
  }
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {ImageBitmap} image
 */
function paint(canvas, image) {
  canvas.width = image.width;
  canvas.height = image.height;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) return;
  context.drawImage(image, 0, 0);
  const points = context.getImageData(0, 0, image.width, image.height);
  const colours = coloursOf(isDark(getComputedStyle(canvas).backgroundColor));
  for (let at = 0; at < points.data.length; at += 4) points.data.set(colours[points.data[at]], at);
  context.putImageData(points, 0, 0);
}

/**
 * The spectrogram of a row, loaded in the background. `drawn` is called with its edges once it is there,
 * `missing` with a message if it cannot be drawn, `sought` with the second clicked.
 *
 * @param {View} view
 * @param {{ drawn(edges: Edges): void, missing(words: string): void, sought(second: number): void }} hears
 */
export function spectrogram(view, hears) {
  const canvas = make("canvas", { role: "img", "aria-label": `Spectrogram of row ${view.id}, on its way` });
  const cursor = make("span", { class: "cursor", hidden: true });
  const over = make("div", { class: "over-picture" });
  const picture = make("div", { class: "picture" }, canvas, over, cursor);
  const height = make("div", { class: "khz", "aria-hidden": "true" });
  const width = make("div", { class: "seconds", "aria-hidden": "true" });
  const element = make("div", { class: "spectrogram" }, height, picture, width);
  /** @type {Picture | null} */
  let there = null;
  let wanted = "";

  /** @param {boolean} log */
  async function draw(log) {
    const address = addressOf(/** @type {string} */ (view.audio), view.segment, log);
    wanted = address;
    const found = await fetched(address);
    if (wanted !== address) return; // another scale was chosen meanwhile
    if (typeof found === "string") {
      hears.missing(found);
      return;
    }
    there = found;
    const { edges } = found;
    paint(canvas, found.image);
    const asked = view.segment ? `; asked: ${spanWords(view.segment, null)}` : "";
    canvas.setAttribute(
      "aria-label",
      `Spectrogram of row ${view.id}, ${spanWords([edges.t0, edges.t1], null)}, up to ${Math.round(edges.f1 / 1000)} kHz${asked}`,
    );
    element.classList.add("there");
    height.replaceChildren(
      ...frequencies(edges, log).map((one) =>
        mark((one / 1000).toLocaleString("en"), "bottom", heightOf(one, edges, log)),
      ),
      make("i", { text: "kHz" }),
    );
    width.replaceChildren(...seconds(edges));
    over.replaceChildren(...(view.segment ? shades(view.segment, edges) : []));
    hears.drawn(edges);
  }

  picture.onclick = (event) => {
    if (!there) return;
    const box = picture.getBoundingClientRect();
    hears.sought(there.edges.t0 + ((event.clientX - box.left) / box.width) * (there.edges.t1 - there.edges.t0));
  };
  // The theme's background colour changes with a transition, the only event that reveals a change of theme.
  canvas.ontransitionend = () => there && paint(canvas, there.image);

  /** @param {number} second */
  function place(second) {
    const { t0, t1 } = there?.edges ?? { t0: 0, t1: 0 };
    cursor.hidden = !there || second < t0 || second > t1;
    if (there) cursor.style.left = `${100 * widthOf(second, there.edges)}%`;
  }

  return { element, draw, place };
}

/**
 * The labels of the time axis; the last one has the unit and stays inside.
 *
 * @param {Edges} edges
 */
function seconds(edges) {
  const all = ticks(edges.t0, edges.t1, 8);
  const marks = all.map((one) => mark(one.toLocaleString("en"), "left", widthOf(one, edges)));
  marks.at(-1)?.append(" s");
  marks.at(-1)?.classList.toggle("end", widthOf(all.at(-1) ?? 0, edges) > 0.95);
  return marks;
}

/**
 * @param {string} text
 * @param {"left" | "bottom"} side
 * @param {number} share
 */
const mark = (text, side, share) => make("span", { text, style: `${side}:${100 * share}%` });

/**
 * Shades the sound outside the row's segment; the segment gets lines at its ends and a label.
 *
 * @param {Segment} segment
 * @param {Edges} edges
 */
function shades([start, end], edges) {
  const [from, to] = [widthOf(start ?? edges.t0, edges), widthOf(end ?? edges.t1, edges)].map((one) => 100 * one);
  return [
    make("span", { class: "pale", style: `left:0;width:${from}%` }),
    make("span", { class: "segment", style: `left:${from}%;width:${to - from}%` }, make("b", { text: "asked" })),
    make("span", { class: "pale", style: `left:${to}%;right:0` }),
  ];
}
