// @ts-check
// The image alone, with zoom and brightness.

import { boxesOver, boxSwitch } from "./boxes.js";
import { brighter, nameOf, placeWords, turned } from "./burst.js";
import { openDialog } from "./dialog.js";
import { make } from "./elements.js";

/** @import { Burst, State } from "./types.js" */

/**
 * Gives the box the image's aspect ratio, so that the white behind transparent areas ends at the image's
 * edge.
 *
 * @param {{ target: HTMLImageElement }} event
 */
export function fit({ target: image }) {
  // An overlay takes the same aspect ratio.
  (image.parentElement ?? image).style.setProperty("--shape", String(image.naturalWidth / image.naturalHeight || 1));
  image.classList.add("there");
}

/**
 * @param {State} state
 * @param {Burst} burst
 */
export function openZoom(state, { images, boxes, place: first, name, show }) {
  const view = { scale: 1, x: 0, y: 0, light: 1, picture: first };
  const image = make("img", { class: "image", draggable: "false", onload: fit });
  const over = boxes.length ? boxesOver(boxes) : null;
  const boxing = over && boxSwitch(boxes, { keyed: false });
  const count = make("span", { class: "quiet small counting", role: "status" });
  // Scale and position stay, so that movement between images is visible; the card turns to the same image.
  const turn = (/** @type {number} */ steps) => {
    view.picture = turned(view.picture, steps, images.length);
    image.alt = nameOf(name, view.picture, images.length);
    image.src = images[view.picture];
    count.textContent = placeWords(view.picture, images.length);
    if (steps) show(view.picture);
  };
  turn(0);
  const light = () => {
    view.light = brighter(view.light);
    image.style.filter = view.light === 1 ? "" : `brightness(${view.light})`;
  };
  const place = () => {
    image.style.transform = `translate(${view.x}px, ${view.y}px) scale(${view.scale})`;
    over?.style.setProperty("--scale", String(view.scale));
    over?.style.setProperty("--x", `${view.x}px`);
    over?.style.setProperty("--y", `${view.y}px`);
  };
  // Around a point of the screen, measured from the centre: that point stays in place.
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
  const stage = make("div", { class: "stage" }, image, over);
  const several = images.length > 1;
  const dialog = openDialog(
    state,
    "zooming",
    name,
    stage,
    make(
      "div",
      { class: "row" },
      several && count,
      several && button("‹", "Previous picture", () => turn(-1)),
      several && button("›", "Next picture", () => turn(1)),
      button("Brighter", "Brighter (B)", light),
      boxing,
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
    b: light,
    ArrowLeft: () => (several && view.scale === 1 ? turn(-1) : move(60, 0)),
    ArrowRight: () => (several && view.scale === 1 ? turn(1) : move(-60, 0)),
    ArrowUp: () => move(0, 60),
    ArrowDown: () => move(0, -60),
  };
  if (several) Object.assign(does, { ",": () => turn(-1), ".": () => turn(1) });
  dialog.keys = (name, { shiftKey, repeat }) => {
    if (boxing && name === "z" && shiftKey) {
      if (!repeat) boxing.click();
    } else does[name]?.();
    return name in does;
  };
}
