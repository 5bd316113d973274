// One listener on the window, before Streamlit's own keys. A press is a click on the button that has the key.

const typesText = (node) => Boolean(node.tagName) && (/^(INPUT|TEXTAREA|SELECT)$/.test(node.tagName) || node.isContentEditable);

// What a key types; where that is no Latin letter (я, ω, ש), the letter that stands in its place.
function typed(event) {
  const { key } = event;
  if (key.length !== 1) return key;
  const letter = key > "\u007f" && /^Key([A-Z])$/.exec(event.code);
  return (letter ? letter[1] : key).toLowerCase();
}

// The name of a key: digits by their place, so that Shift and every layout leave them digits; letters by what they type.
function keyName(event) {
  const digit = /^Digit([0-9])$/.exec(event.code);
  if (digit) return digit[1];
  return event.key === "Backspace" ? "u" : typed(event);
}

// What acts on the card itself. Pressed while an answer is on its way it is meant for the question that comes.
const MEANT_FOR_NEXT = new Set("mtfz0h?");

// Keeps such a key, and what is typed after it; the card takes nothing else meanwhile. True where the key is dealt with.
function keepForNext(state, event, name) {
  const { busy, waiting } = state;
  if (!busy) return false;
  if (!waiting) {
    if (event.repeat || !MEANT_FOR_NEXT.has(name) || (event.shiftKey && name !== "?")) return false;
    state.waiting = { name, text: "" };
  } else if (event.key === "Escape") state.waiting = null;
  else if (event.key === "Backspace") waiting.text = waiting.text.slice(0, -1);
  else if (event.key.length === 1) waiting.text += event.repeat ? "" : event.key;
  else return event.key === "Enter";
  return true;
}

// Once the next question is drawn: the key is pressed, what was typed goes into the field that it opened, if any.
function pressWaiting(state) {
  const { waiting } = state;
  state.waiting = null;
  if (!waiting) return;
  state.holder.querySelector(`[data-key="${CSS.escape(waiting.name)}"]`)?.click();
  const field = state.holder.getRootNode().activeElement;
  if (!waiting.text || !field || !typesText(field)) return;
  field.value += waiting.text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

function onKey(state, event) {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  const path = event.composedPath();
  const take = () => { event.preventDefault(); event.stopImmediatePropagation(); };
  const dialog = state.dialog?.open ? state.dialog : null;
  const name = event.key === "?" ? "?" : keyName(event);
  if (!path.some(typesText) && keepForNext(state, event, name)) { take(); return; }
  if (event.key === "Escape") {
    if (dialog) return; // it closes itself
    if (path.includes(state.holder.querySelector(".note"))) { take(); path[0].blur(); }
    else if (state.marking) { take(); setMarking(state, false); }
    return;
  }
  if (path.some(typesText)) return;
  // A held Enter would press the key that has the focus again at every question to come.
  if (event.key === "Enter" && event.repeat && (path.includes(state.holder) || path.includes(state.over))) { take(); return; }
  if (dialog) {
    if (dialog.keys?.(typed(event))) take();
    else if (event.key.length === 1 && event.key !== " ") event.stopImmediatePropagation();
    return;
  }
  const enter = state.marking ? saveMarked : state.data.question && roomOf(state).enter;
  if (event.key === "Enter" && enter) {
    const other = path.find((node) => node.matches?.("a[href], button, summary, audio, [role=button], [role=tab], [role=option]"));
    if (other && !other.classList.contains("choice")) return; // Enter is that one's own
    take();
    if (!event.repeat) enter(state);
    return;
  }
  if (name === "p" && state.holder.querySelector(".sound")) { take(); if (!event.repeat) playOrPause(state); return; }
  if (name === "g") {
    const fold = document.querySelector(".st-key-winnow_guidelines summary");
    if (fold) { take(); if (!event.repeat) fold.click(); }
    return;
  }
  const attribute = event.shiftKey && name !== "?" ? "data-out" : "data-key";
  const known = state.holder.querySelector(`[${attribute}="${CSS.escape(name)}"]`);
  if (known) {
    take();
    if (!event.repeat) known.click();
  } else if (name === "c" || name === "r") {
    event.stopImmediatePropagation(); // Streamlit would clear its caches, or run the page anew
  }
}
