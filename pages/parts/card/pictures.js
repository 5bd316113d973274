// @ts-check
// The images of the row: the first one large, the others by the arrows.

import { key, make } from "./elements.js";
import { openDialog } from "./panels.js";
import { isOn, setOn } from "./state.js";

/** @import { Box, Burst, State, View } from "./types.js" */

// The images of one row, shown one at a time: their order and names.

/**
 * The image this many steps on; the first follows the last.
 *
 * @param {number} place from 0
 * @param {number} steps
 * @param {number} count
 */
export const turned = (place, steps, count) => (((place + steps) % count) + count) % count;

/**
 * @param {number} place from 0
 * @param {number} count
 */
export const placeWords = (place, count) => `${place + 1} of ${count} pictures`;

/**
 * Alternative text of an image.
 *
 * @param {string} name
 * @param {number} place from 0
 * @param {number} count
 */
export const nameOf = (name, place, count) => (count === 1 ? name : `${name}, ${placeWords(place, count)}`);

/** Brightness factors of an image, in turn; then the first again. */
const LIGHTS = [1, 1.5, 2.2, 3.3];

/** @param {number} light one of LIGHTS */
export const brighter = (light) => LIGHTS[turned(LIGHTS.indexOf(light), 1, LIGHTS.length)];

// A detector's boxes over its image, and the switch that shows or hides them.

/** Name under which the browser stores that they are hidden. */
const HIDDEN = "boxes-hidden";

/** Share of the image's height that a name needs between a box and the image's edge. */
const NAME = 0.12;

/**
 * Position of a box's name, so that the image does not cut it off: above the box, below it, or inside. On the
 * right half of the image it ends where the box does.
 *
 * @param {Box["place"]} place
 */
export function nameSides([left, top, width, height]) {
  const upright = top >= NAME ? "over" : top + height <= 1 - NAME ? "below" : "within";
  return `${upright} ${left + width / 2 > 0.5 ? "ends" : "begins"}`;
}

/** @param {Box} box */
const words = ({ name, score }) => `${name} ${score}`.trim();

/**
 * The boxes, drawn over the image with the same parent. The best are drawn last, on top.
 *
 * @param {Box[]} boxes the best first
 */
export const boxesOver = (boxes) =>
  make(
    "span",
    { class: "boxes", "aria-hidden": "true", hidden: isOn(HIDDEN) },
    ...boxes.toReversed().map((box) => {
      const [left, top, width, height] = box.place.map((share) => `${100 * share}%`);
      return make(
        "span",
        { class: `box ${nameSides(box.place)}`, style: `left:${left};top:${top};width:${width};height:${height}` },
        make("span", { dir: "auto", text: words(box) }),
      );
    }),
  );

/**
 * The switch for all boxes drawn next to it.
 *
 * @param {Box[]} boxes
 * @param {{ keyed: boolean }} how keyed: the switch responds to its key
 */
export function boxSwitch(boxes, { keyed }) {
  const button = make(
    "button",
    {
      class: "tool boxing",
      type: "button",
      "aria-pressed": String(!isOn(HIDDEN)),
      title: `Found in the picture: ${boxes.map(words).join(", ")}`,
      ...(keyed ? { "data-shift": "z", "aria-keyshortcuts": "Shift+z" } : {}),
      onclick: () => {
        const hidden = !isOn(HIDDEN);
        setOn(HIDDEN, hidden);
        const root = /** @type {ParentNode & Node} */ (button.getRootNode());
        for (const drawn of root.querySelectorAll(".boxes")) drawn.toggleAttribute("hidden", hidden);
        for (const one of root.querySelectorAll(".boxing")) one.setAttribute("aria-pressed", String(!hidden));
      },
    },
    keyed && key("⇧Z"),
    make("span", { text: "Boxes" }),
  );
  return button;
}

// The image alone, with zoom and brightness.

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

/**
 * @param {State} state
 * @param {View} view
 */
export function pictures(state, view) {
  const { images, boxes } = view;
  const name = `Image of row ${view.id}`;
  const image = make("img", { class: "image", onload: fit });
  const count = make("span", { class: "quiet small", role: "status" });
  let place = 0;
  const show = (/** @type {number} */ now) => {
    place = now;
    image.alt = nameOf(name, place, images.length);
    image.src = images[place];
    count.textContent = placeWords(place, images.length);
    make("img", { src: images[turned(place, 1, images.length)] }); // prefetch the next one
  };
  const turn = (/** @type {number} */ steps) => show(turned(place, steps, images.length));
  const large = make(
    "button",
    {
      class: "zoom",
      type: "button",
      "data-key": "z",
      "aria-keyshortcuts": "z",
      "aria-label": `${name}: zoom`,
      title: "Zoom (Z)",
      onclick: () => openZoom(state, { images, boxes, place, name, show }),
    },
    image,
    boxes.length && boxesOver(boxes),
  );
  show(0);
  if (images.length === 1) return large;
  const arrow = (
    /** @type {string} */ sign,
    /** @type {string} */ words,
    /** @type {string} */ by,
    /** @type {number} */ steps,
  ) =>
    make("button", {
      class: "action",
      type: "button",
      text: sign,
      "data-key": by,
      "aria-keyshortcuts": by,
      "aria-label": `${words} picture`,
      title: `${words} picture (${steps < 0 ? "←" : "→"})`,
      onclick: () => turn(steps),
    });
  return make(
    "div",
    { class: "pictures" },
    large,
    make(
      "div",
      { class: "turning" },
      arrow("‹", "Previous", "ArrowLeft", -1),
      count,
      arrow("›", "Next", "ArrowRight", 1),
    ),
  );
}
