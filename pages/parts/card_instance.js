// The instance: image, sound, text, features; and the image alone, as large as one likes.

function instance(state) {
  const { view, telling } = state.data.question;
  const parts = [make("p", { class: "rowname", text: `Row ${view.id}` })];
  if (view.image) parts.push(picture(state, view));
  if (view.audio) {
    parts.push(make("audio", { class: "sound", controls: true, preload: "auto", src: view.audio, "aria-label": `Recording of row ${view.id}` }));
  }
  if (view.text) {
    parts.push(make("div", { class: "reading", tabindex: "0", role: "region", "aria-label": "Text" }, make("p", { class: "text", text: view.text })));
  }
  if (view.features.length) parts.push(features(view, telling));
  return make("section", { class: "instance", "aria-label": "The instance" }, ...parts);
}

// Its box takes its shape, so that the white behind what is transparent ends where the image does.
// A few pixels are shown as squares, a photograph smoothly.
function fit({ target: image }) {
  image.style.setProperty("--shape", image.naturalWidth / image.naturalHeight || 1);
  image.classList.toggle("coarse", image.naturalWidth <= 96);
  image.classList.add("there");
}

function picture(state, view) {
  const name = `Image of row ${view.id}`;
  const image = make("img", { class: "image", src: view.image, alt: name, onload: fit });
  return make("button", { class: "zoom", type: "button", "data-key": "z", "aria-keyshortcuts": "z", "aria-label": `${name}: zoom`,
    title: "Zoom (Z)", onclick: () => openZoom(state, view.image, name) }, image);
}

const LONG_NAME = 14;

function features(view, telling) {
  const rank = new Map((telling?.columns ?? []).map((name, place) => [name, place]));
  const order = [...view.features].sort(([one], [other]) => (rank.get(one) ?? rank.size) - (rank.get(other) ?? rank.size));
  const rows = order.map(([name, value]) => make("div", { class: rank.has(name) ? "feature telling" : "feature" },
    make("dt", { text: name, title: name }), make("dd", { text: value || "–", title: value })));
  const why = telling && make("p", { class: "quiet small", text: `Marked: what tells ${telling.between[0]} and ${telling.between[1]} apart best.` });
  const long = view.features.some(([name]) => name.length > LONG_NAME); // the value is never cut for its name
  const folded = Boolean(view.image || view.text || view.audio);
  const count = view.features.length;
  return make("details", { class: "values", open: !folded },
    make("summary", { text: count === 1 ? "1 feature" : `${count.toLocaleString()} features` }), why,
    make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Features" }, make("dl", { class: long ? "features long" : "features" }, ...rows)));
}

function playOrPause(state) {
  const sound = state.holder.querySelector(".sound");
  if (sound) sound.paused ? sound.play() : sound.pause();
}

function openZoom(state, source, name) {
  const view = { scale: 1, x: 0, y: 0 };
  const image = make("img", { class: "image", src: source, alt: name, draggable: "false", onload: fit });
  const place = () => { image.style.transform = `translate(${view.x}px, ${view.y}px) scale(${view.scale})`; };
  // About a point of the screen, measured from the middle: what is there stays there.
  const zoom = (factor, x = 0, y = 0) => {
    const scale = Math.min(40, Math.max(1, view.scale * factor));
    view.x = x - ((x - view.x) * scale) / view.scale;
    view.y = y - ((y - view.y) * scale) / view.scale;
    view.scale = scale;
    if (scale === 1) view.x = view.y = 0;
    place();
  };
  const move = (x, y) => { view.x += x; view.y += y; place(); };
  const button = (text, name, action) => make("button", { class: "action", type: "button", text, "aria-label": name, onclick: action });
  const stage = make("div", { class: "stage" }, image);
  const dialog = openDialog(state, "zooming", name, stage,
    make("div", { class: "row" }, button("+", "Larger", () => zoom(1.5)), button("−", "Smaller", () => zoom(1 / 1.5)),
      button("Close", "Close", () => dialog.close())));
  stage.onwheel = (event) => {
    event.preventDefault();
    const box = stage.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY / 400), event.clientX - box.x - box.width / 2, event.clientY - box.y - box.height / 2);
  };
  let moved = 0;
  stage.onpointerdown = (event) => { stage.setPointerCapture(event.pointerId); moved = 0; };
  stage.onpointermove = (event) => {
    if (!stage.hasPointerCapture(event.pointerId)) return;
    moved += Math.abs(event.movementX) + Math.abs(event.movementY);
    move(event.movementX, event.movementY);
  };
  stage.onclick = () => { if (moved < 6) dialog.close(); };
  const steps = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
  dialog.keys = (name) => {
    if (name === "+" || name === "=") zoom(1.5);
    else if (name === "-") zoom(1 / 1.5);
    else if (name === "z") dialog.close();
    else if (steps[name]) move(...steps[name]);
    else return false;
    return true;
  };
}
