// @ts-check
// The image alone, as large as one likes.

import { openDialog } from "./dialog.js";
import { make } from "./elements.js";

/** @import { State } from "./types.js" */

/**
 * Its box takes its shape, so that the white behind what is transparent ends where the image does.
 * A few pixels are shown as squares, a photograph smoothly.
 *
 * @param {{ target: HTMLImageElement }} event
 */
export function fit({ target: image }) {
  image.style.setProperty("--shape", String(image.naturalWidth / image.naturalHeight || 1));
  image.classList.toggle("coarse", image.naturalWidth <= 96);
  image.classList.add("there");
}

/**
 * @param {State} state
 * @param {string} source
 * @param {string} name
 */
export function openZoom(state, source, name) {
  const view = { scale: 1, x: 0, y: 0 };
  const image = make("img", { class: "image", src: source, alt: name, draggable: "false", onload: fit });
  const place = () => {
    image.style.transform = `translate(${view.x}px, ${view.y}px) scale(${view.scale})`;
  };
  // About a point of the screen, measured from the middle: what is there stays there.
  const zoom = (/** @type {number} */ factor, x = 0, y = 0) => {
    const scale = Math.min(40, Math.max(1, view.scale * factor));
    view.x = x - ((x - view.x) * scale) / view.scale;
    view.y = y - ((y - view.y) * scale) / view.scale;
    view.scale = scale;
    if (scale === 1) Object.assign(view, { x: 0, y: 0 });
    place();
  };
  /** @type {(x: number, y: number) => void} */
  const move = (x, y) => {
    view.x += x;
    view.y += y;
    place();
  };
  /** @type {(text: string, name: string, action: () => void) => HTMLElement} */
  const button = (text, name, action) =>
    make("button", { class: "action", type: "button", text, "aria-label": name, onclick: action });
  const stage = make("div", { class: "stage" }, image);
  const dialog = openDialog(
    state,
    "zooming",
    name,
    stage,
    make(
      "div",
      { class: "row" },
      button("+", "Larger", () => zoom(1.5)),
      button("−", "Smaller", () => zoom(1 / 1.5)),
      button("Close", "Close", () => dialog.close()),
    ),
  );
  stage.onwheel = (event) => {
    event.preventDefault();
    const box = stage.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY / 400), event.clientX - box.x - box.width / 2, event.clientY - box.y - box.height / 2);
  };
  let moved = 0;
  stage.onpointerdown = (event) => {
    stage.setPointerCapture(event.pointerId);
    moved = 0;
  };
  stage.onpointermove = (event) => {
    if (!stage.hasPointerCapture(event.pointerId)) return;
    moved += Math.abs(event.movementX) + Math.abs(event.movementY);
    move(event.movementX, event.movementY);
  };
  stage.onclick = () => {
    if (moved < 6) dialog.close();
  };
  /** @type {Record<string, () => void>} */
  const does = {
    "+": () => zoom(1.5),
    "=": () => zoom(1.5),
    "-": () => zoom(1 / 1.5),
    z: () => dialog.close(),
    ArrowLeft: () => move(60, 0),
    ArrowRight: () => move(-60, 0),
    ArrowUp: () => move(0, 60),
    ArrowDown: () => move(0, -60),
  };
  dialog.keys = (name) => {
    does[name]?.();
    return name in does;
  };
}
