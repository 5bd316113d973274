// @ts-check
// Shows the thumbnail of a row next to its point under the pointer.

/** @import { Component } from "./card/types.js" */

/** @typedef {{ points: { customdata: [string, string, number] }[], event: MouseEvent }} Pointing */
/** @typedef {Element & { on?: (name: string, act: (pointing: Pointing) => void) => void }} Plot */

const AWAY = 16;
/** Charts that have a pointer listener: a chart is often rebuilt. */
const heard = new WeakSet();
/** @type {{ show: (pointing: Pointing) => void, hide: () => void }} the picture that is drawn now */
let now = { show() {}, hide() {} };

/** @param {Component<{ pictures: Record<string, string> }>} component */
export default function mapPictures({ parentElement, data: { pictures } }) {
  const [place, image] = [document.createElement("div"), document.createElement("img")];
  image.alt = "";
  place.className = "pointed";
  place.ariaHidden = "true";
  place.hidden = true;
  place.append(image);
  parentElement.querySelector(".pointed")?.remove();
  parentElement.append(place);
  const shown = {
    hide: () => {
      place.hidden = true;
    },
    show: (/** @type {Pointing} */ { points, event }) => {
      const picture = pictures[points[0]?.customdata?.[2] ?? ""];
      place.hidden = !picture;
      if (!picture) return;
      if (image.getAttribute("src") !== picture) image.src = picture;
      const { width, height } = place.getBoundingClientRect();
      const left = event.clientX - width - AWAY; // plotly's hover text is on the right
      place.style.left = `${left > 0 ? left : event.clientX + AWAY}px`;
      place.style.top = `${Math.max(0, Math.min(event.clientY + AWAY, innerHeight - height))}px`;
    },
  };
  now = shown;
  document.addEventListener("pointermove", hear);
  return () => {
    document.removeEventListener("pointermove", hear);
    place.remove();
    if (now === shown) now = { show() {}, hide() {} };
  };
}

/** @param {PointerEvent} event */
function hear({ target }) {
  /** @type {Plot | null} */
  const plot = target instanceof Element ? target.closest('[class*="st-key-map-"] .js-plotly-plot') : null;
  if (!plot?.on || heard.has(plot)) return;
  heard.add(plot);
  plot.on("plotly_hover", (pointing) => now.show(pointing));
  plot.on("plotly_unhover", () => now.hide());
}
