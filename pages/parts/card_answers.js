// The candidates as rows, and everything else one can answer.

function candidateRow(state, candidate) {
  const percent = percentOf(candidate.probability);
  const label = make("span", { class: "label", text: candidate.label });
  const choose = make("button", { class: "choice", type: "button", "data-key": candidate.key, "data-label": candidate.label,
      "aria-keyshortcuts": candidate.key || null,
      "aria-label": `${candidate.label}${candidate.about ? `, ${candidate.about}` : ""}, the model's share ${percent} %`,
      onclick: () => (state.marking ? toggleMark(state, choose) : state.press(choose, "is", [candidate.label])) },
    candidate.key ? key(candidate.key.toUpperCase()) : make("span"),
    make("span", { class: "what" }, label, candidate.about && make("span", { class: "about", text: candidate.about })),
    make("span", { class: "bar" }, make("span", { class: "fill", style: `width:${percent}%` })),
    make("span", { class: "percent", text: `${percent} %` }));
  const out = make("button", { class: "out", type: "button", "data-out": candidate.key, text: "✕",
    "aria-label": `Rule out ${candidate.label}`, title: candidate.key ? `Rule out (Shift+${candidate.key.toUpperCase()})` : "Rule out",
    "aria-keyshortcuts": candidate.key ? `Shift+${candidate.key}` : null, onclick: () => state.press(out, "not", [candidate.label]) });
  return make("div", { class: "candidate" }, choose, out);
}

function actionButton(name, text, does, more = {}) {
  return make("button", { class: "action", type: "button", "data-key": name, "aria-keyshortcuts": name, onclick: does, ...more },
    key(name.toUpperCase()), make("span", { text }));
}

// An answer without a label.
function answerButton(state, name, kind, text, more = {}) {
  const button = actionButton(name, text, () => state.press(button, kind, []), more);
  return button;
}

function answerActions(state) {
  return make("div", { class: "actions", role: "group", "aria-label": "Other answers" },
    actionButton("0", state.data.question.none ? "None of these…" : "Find a class…", () => openSearch(state), { "aria-haspopup": "dialog" }),
    state.data.question.rows.length > 1 && actionButton("m", "Mark several", () => setMarking(state, !state.marking), { "aria-pressed": "false" }),
    answerButton(state, "c", "unsure", "Cannot tell"),
    answerButton(state, "s", "skip", "Skip", { title: "It comes back later" }),
    answerButton(state, "x", "bad", "Bad item", { title: "Takes the row out: broken, or not what this project is about" }));
}

function otherActions(state) {
  const { data } = state;
  const back = (name, kind, text, seq, label) => {
    const button = actionButton(name, text, () => state.press(button, kind, [], seq), { disabled: seq === null, "aria-label": label });
    return button;
  };
  return make("div", { class: "actions minor", role: "group", "aria-label": "Back, notes and help" },
    back("u", "undo", "Undo", data.undoable, "Undo my last answer"),
    back(roomOf(state).redo, "redo", "Redo", data.redoable, "Redo the answer I took back"),
    data.question && actionButton("t", "Note", () => openNote(state), { "aria-expanded": String(Boolean(state.note)) }),
    data.question && actionButton("f", "Flag", () => setFlag(state, !state.flagged), { "aria-pressed": String(state.flagged),
      title: "Marks the row for a second look, with your answer" }),
    actionButton("h", "History", () => openHistory(state), { "aria-haspopup": "dialog" }),
    actionButton("?", "Keys", () => openKeys(state), { "aria-haspopup": "dialog" }));
}

// Narrow to several: keys and clicks mark, Enter stores.
function markingBar(state) {
  const save = make("button", { class: "action strong", type: "button", "data-save": "", disabled: true, onclick: () => saveMarked(state) },
    key("↵"), make("span", { class: "count", text: "Save the marked ones" }));
  return make("div", { class: "markbar", hidden: true }, make("p", { class: "small", text: "Mark every label that may be right." }), save,
    make("button", { class: "action", type: "button", onclick: () => setMarking(state, false) }, key("Esc"), make("span", { text: "Stop marking" })));
}

function setMarking(state, on) {
  state.marking = on;
  const { holder } = state;
  holder.querySelector(".card").classList.toggle("marking", on);
  holder.querySelector(".markbar").hidden = !on;
  holder.querySelector("[data-key=m]").setAttribute("aria-pressed", String(on));
  for (const button of holder.querySelectorAll(".choice")) on ? button.setAttribute("aria-pressed", "false") : button.removeAttribute("aria-pressed");
  showMarked(state);
  say(state, on ? "Marking: the keys of the candidates mark them, Enter saves, Escape stops." : "Marking stopped.");
}

const marked = (state) => [...state.holder.querySelectorAll('.choice[aria-pressed="true"]')].map((button) => button.dataset.label);

function toggleMark(state, button) {
  button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
  showMarked(state);
}

function showMarked(state) {
  const count = marked(state).length;
  const save = state.holder.querySelector("[data-save]");
  save.disabled = count === 0;
  save.querySelector(".count").textContent = count > 1 ? `Save: one of these ${count}` : count ? "Save: this one" : "Save the marked ones";
}

function saveMarked(state) {
  const labels = marked(state);
  if (labels.length) state.press(state.holder.querySelector("[data-save]"), labels.length === 1 ? "is" : "among", labels);
}

function setFlag(state, on) {
  state.flagged = on;
  state.holder.querySelector("[data-key=f]").setAttribute("aria-pressed", String(on));
  say(state, on ? "Flagged; it is stored with your answer." : "The flag is taken away.");
}

function noteField(state) {
  const field = make("textarea", { class: "note", rows: "2", maxlength: "2000", "aria-label": "Note", placeholder: "A note, stored with your answer. Escape goes back to the keys.",
    oninput: () => { state.note = field.value; } });
  field.value = state.note;
  field.hidden = !state.note;
  return field;
}

function openNote(state) {
  const field = state.holder.querySelector(".note");
  field.hidden = false;
  state.holder.querySelector("[data-key=t]").setAttribute("aria-expanded", "true");
  field.focus();
}
