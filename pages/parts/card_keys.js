// One listener on the window, before Streamlit's own keys. A press is a click on the button that has the key.

const typesText = (node) => Boolean(node.tagName) && (/^(INPUT|TEXTAREA|SELECT)$/.test(node.tagName) || node.isContentEditable);

// The name of a key: digits by their place, so that Shift and every layout leave them digits; letters by what they type.
function keyName(event) {
  const digit = /^Digit([0-9])$/.exec(event.code);
  if (digit) return digit[1];
  if (event.key === "Backspace") return "u";
  return event.key.length === 1 ? event.key.toLowerCase() : event.key;
}

function onKey(state, event) {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  const path = event.composedPath();
  const take = () => { event.preventDefault(); event.stopImmediatePropagation(); };
  const dialog = state.dialog?.open ? state.dialog : null;
  if (event.key === "Escape") {
    if (dialog) return; // it closes itself
    if (path.includes(state.holder.querySelector(".note"))) { take(); path[0].blur(); }
    else if (state.marking) { take(); setMarking(state, false); }
    return;
  }
  if (path.some(typesText)) return;
  const name = keyName(event);
  if (dialog) {
    if (dialog.keys?.(event.key.length === 1 ? event.key.toLowerCase() : event.key)) take();
    else if (event.key.length === 1 && event.key !== " ") event.stopImmediatePropagation();
    return;
  }
  if (event.key === "Enter" && state.marking) {
    const button = path.find((node) => node.tagName === "BUTTON");
    if (button && !button.classList.contains("choice")) return;
    take();
    if (!event.repeat) saveMarked(state);
    return;
  }
  if (name === "p" && state.holder.querySelector(".sound")) { take(); if (!event.repeat) playOrPause(state); return; }
  if (name === "g") {
    const fold = document.querySelector(".st-key-winnow_guidelines summary");
    if (fold) { take(); if (!event.repeat) fold.click(); }
    return;
  }
  const sheet = event.key === "?";
  const attribute = event.shiftKey && !sheet ? "data-out" : "data-key";
  const known = state.holder.querySelector(`[${attribute}="${CSS.escape(sheet ? "?" : name)}"]`);
  if (known) {
    take();
    if (!event.repeat) known.click();
  } else if (name === "c" || name === "r") {
    event.stopImmediatePropagation(); // Streamlit would clear its caches, or run the page anew
  }
}
