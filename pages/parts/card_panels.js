// What opens over the card: the search over all classes, the history, the key sheet. Escape closes each.

function openDialog(state, name, title, ...children) {
  state.dialog?.close();
  const dialog = make("dialog", { class: `panel ${name}`, "aria-label": title }, ...children);
  dialog.onclose = () => { dialog.remove(); if (state.dialog === dialog) state.dialog = null; };
  dialog.onpointerdown = (event) => { if (event.target === dialog) dialog.close(); }; // beside it
  state.dialog = dialog;
  state.over.append(dialog);
  dialog.showModal();
  return dialog;
}

const closeButton = (close) => make("button", { class: "action", type: "button", autofocus: true, onclick: close }, key("Esc"), make("span", { text: "Close" }));

const SHOWN = 50;

// The classes that hold all words, those that begin with the first of them before the others.
function matching(classes, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return classes;
  const found = classes.filter((one) => words.every((word) => one.sought.includes(word)));
  const begins = (one) => (one.sought.startsWith(words[0]) ? 0 : 1);
  return found.map((one, place) => [begins(one), place, one]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, , one]) => one);
}

function openSearch(state) {
  const { question, project } = state.data;
  const here = new Set(question.rows.map((one) => one.label));
  const title = question.none ? "None of these" : "Find a class";
  const list = make("ul", { class: "found", role: "listbox", id: "found", "aria-label": "Classes" });
  const status = make("p", { class: "small quiet", role: "status" });
  let others = [], options = [], active = 0;
  const readClasses = () => {
    const classes = window.__winnowClasses?.get(project) ?? [];
    others = [...classes.filter((one) => !here.has(one.label)), ...classes.filter((one) => here.has(one.label))];
  };
  const input = make("input", { class: "query", type: "text", role: "combobox", "aria-expanded": "true", "aria-controls": "found", "aria-autocomplete": "list",
    autocomplete: "off", spellcheck: "false", "aria-label": "Search all classes", placeholder: `Search all ${question.nClasses.toLocaleString()} classes` });
  const light = (place) => {
    list.children[active]?.setAttribute("aria-selected", "false");
    active = Math.min(place, options.length - 1);
    list.children[active]?.setAttribute("aria-selected", "true");
    list.children[active]?.scrollIntoView({ block: "nearest" });
    active < 0 ? input.removeAttribute("aria-activedescendant") : input.setAttribute("aria-activedescendant", `found${active}`);
  };
  const take = (option) => { if (option) { dialog.close(); state.press(null, "none", option.labels); } };
  const fill = () => {
    const found = matching(others, input.value);
    const cannot = question.none ? [{ text: "None of these, and I cannot say which", labels: [], cannot: true }] : [];
    const named = found.slice(0, SHOWN).map((one) => ({ text: one.label, about: one.about, labels: [one.label] }));
    options = input.value.trim() ? [...named, ...cannot] : [...cannot, ...named];
    list.replaceChildren(...options.map((option, place) => make("li", { role: "option", id: `found${place}`, class: option.cannot ? "cannot" : "", "aria-selected": "false",
      onpointermove: () => light(place), onclick: () => take(option) },
      make("span", { text: option.text }),
      make("span", { class: "about", text: [here.has(option.labels[0]) && "a candidate", option.about].filter(Boolean).join(" · ") || null }))));
    status.textContent = !others.length ? "The list of classes is still on its way."
      : !found.length && cannot.length ? "0 found. Arrow down, then Enter: none of these, without a name."
      : found.length > SHOWN ? `${SHOWN} of ${found.length.toLocaleString()} shown; type to narrow.` : `${found.length.toLocaleString()} found.`;
    light(input.value.trim() && !found.length ? -1 : 0); // a word that no class has must not say "none of these"
  };
  // The list may come, or come anew, while the search is open: it is shown, and what was lit stays lit.
  const refill = () => {
    const [lit] = options[active]?.labels ?? [];
    readClasses();
    fill();
    const place = options.findIndex((one) => one.labels[0] === lit);
    if (lit !== undefined && place >= 0) light(place);
  };
  input.oninput = fill;
  input.onkeydown = (event) => {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
    if (steps[event.key]) { event.preventDefault(); light(Math.max(0, active + steps[event.key])); }
    else if (event.key === "Enter" && !event.isComposing && !event.repeat) { event.preventDefault(); take(options[active]); }
  };
  const dialog = openDialog(state, "searching", title, make("h2", { text: title }),
    question.none && make("p", { class: "small", text: "Which one is it instead? Enter takes the one that is lit." }), input, list, status,
    make("div", { class: "row" }, closeButton(() => dialog.close())));
  window.addEventListener("winnow-classes", refill);
  dialog.addEventListener("close", () => window.removeEventListener("winnow-classes", refill));
  readClasses();
  fill();
  input.focus();
}

function openHistory(state) {
  const { history } = state.data;
  const line = (one) => {
    const back = one.withdrawn;
    const button = make("button", { class: "action", type: "button", disabled: back && !one.redoable,
      "aria-label": `${back ? "Redo" : "Undo"}: ${one.words}`, title: back && !one.redoable ? "Given again, or the row has other candidates now" : null,
      onclick: () => { dialog.close(); state.press(null, back ? "redo" : "undo", [], one.seq); } }, make("span", { text: back ? "Redo" : "Undo" }));
    return make("li", { class: back ? "back" : "" }, make("div", { class: "told" }, make("span", { class: "words", text: one.words }),
      back && make("span", { class: "about", text: "taken back" }), one.flagged && make("span", { class: "about", text: "flagged" }),
      one.note && make("span", { class: "about", text: `“${one.note}”` })), button);
  };
  const dialog = openDialog(state, "history", "Your last answers", make("h2", { text: "Your last answers" }),
    history.length ? make("ol", { class: "past" }, ...history.map(line)) : make("p", { text: "Nothing answered yet in this project." }),
    make("div", { class: "row" }, closeButton(() => dialog.close())));
  dialog.keys = (name) => name === "h" && (dialog.close(), true);
}

// What ends every sheet of keys.
const COMMON_KEYS = [
  ["H", "History of your answers"],
  ["T / F", "Note, flag: stored with the answer"],
  ["Z", "Zoom into the image; wheel or + and −, arrows move it"],
  ["P", "Play or pause the recording"],
  ["G", "Guidelines, where the owner has written some"],
  ["Tab", "To every button; Enter presses it"],
  ["? / Esc", "This sheet; close what is open"],
];

const CANDIDATE_KEYS = [
  ["1 – 9, then letters", "It is this one"],
  ["Shift + its key", "Rule it out"],
  ["M, keys, Enter", "Mark several: it is one of these"],
  ["0", "None of these: search all classes, or say that you cannot name it"],
  ["C", "Cannot tell: you are not asked about this row again"],
  ["S", "Skip: it comes back later"],
  ["X", "Bad item: take the row out"],
  ["U / Y", "Undo, redo: over your last 50 answers"],
  ...COMMON_KEYS,
];

function openKeys(state) {
  const dialog = openDialog(state, "sheet", "Keys", make("h2", { text: "Keys" }),
    make("dl", { class: "sheet" }, ...roomOf(state).keys.flatMap(([name, does]) => [make("dt", {}, make("kbd", { text: name })), make("dd", { text: does })])),
    make("div", { class: "row" }, closeButton(() => dialog.close())));
  dialog.keys = (name) => name === "?" && (dialog.close(), true);
}
