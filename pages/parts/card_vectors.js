// Label vectors: all labels of a row as toggles, or yes and no about one of them.

const counted = (count, one, many) => `${count.toLocaleString()} ${count === 1 ? one : many}`;

// What is picked stays while the same question is on screen, also after a refused save.
function picked(state) {
  const { data } = state;
  const name = `${data.tab} ${data.token} ${data.question.shown}`;
  if (state.pickedFor !== name) {
    state.pickedFor = name;
    state.picked = new Set(data.question.rows.filter((row) => row.cell === 1).map((row) => row.label));
    state.sought = "";
  }
  return state.picked;
}

function toggleRow(state, row) {
  const percent = percentOf(row.probability);
  const known = row.cell === 1 ? "known: yes" : row.cell === 0 ? "known: no" : null;
  const about = [known, row.about].filter(Boolean).join(" · ");
  const toggle = make("button", { class: "choice toggle", type: "button", "data-key": row.key, "data-label": row.label,
      "aria-keyshortcuts": row.key || null, "aria-pressed": String(picked(state).has(row.label)),
      "aria-label": `${row.label}${about ? `, ${about}` : ""}, the model's share ${percent} %`,
      onclick: () => {
        const has = picked(state);
        has.has(row.label) ? has.delete(row.label) : has.add(row.label);
        toggle.setAttribute("aria-pressed", String(has.has(row.label)));
        showPicked(state);
      } },
    row.key ? key(row.key.toUpperCase()) : make("span"),
    make("span", { class: "what" }, make("span", { class: "label", text: row.label }), about && make("span", { class: "about", text: about })),
    make("span", { class: "bar" }, make("span", { class: "fill", style: `width:${percent}%` })),
    make("span", { class: "percent", text: `${percent} %` }));
  return toggle;
}

function showPicked(state) {
  const { rows } = state.data.question;
  const yes = picked(state).size;
  state.holder.querySelector("[data-save-row] .count").textContent =
    yes === 0 ? `Save: none of ${counted(rows.length, "label", "labels")}` : `Save: ${counted(yes, "label", "labels")}, ${(rows.length - yes).toLocaleString()} not`;
}

function labelsAsking(state) {
  const { question } = state.data;
  picked(state);
  const list = make("div", { class: "choices", role: "group", "aria-label": "Labels" }, ...question.rows.map((row) => toggleRow(state, row)));
  const told = make("p", { class: "small quiet", role: "status", hidden: true });
  const tell = (words) => { told.textContent = words; told.hidden = !words; };
  const seek = make("input", { class: "query seek", type: "text", autocomplete: "off", spellcheck: "false", "aria-label": "Search the labels",
    placeholder: `Search ${question.rows.length.toLocaleString()} labels; Enter marks the first` });
  const filter = () => {
    state.sought = seek.value;
    const words = seek.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const toggle of list.children) {
      const name = toggle.dataset.label.toLowerCase();
      toggle.hidden = !words.every((word) => name.includes(word));
      found += toggle.hidden ? 0 : 1;
    }
    tell(found ? "" : "No label holds these words.");
  };
  seek.oninput = filter;
  seek.onkeydown = (event) => {
    if (event.isComposing || !["Enter", "Escape"].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Escape" && !seek.value) { seek.blur(); return; }
    const first = event.key === "Enter" && !event.repeat && seek.value.trim() && list.querySelector(".toggle:not([hidden])");
    seek.value = "";
    filter();
    if (!first) return;
    const marked = first.getAttribute("aria-pressed") === "true"; // to search for it is no wish to unmark it
    if (!marked) first.click();
    tell(marked ? `${first.dataset.label} was marked already; press it to unmark it.` : `${first.dataset.label} is marked.`);
  };
  seek.value = state.sought;
  filter();
  return make("section", { class: "ask labels", "aria-label": "Labels" },
    questionHead(question, "Which labels are right?"),
    question.rows.length > SEARCHED && make("div", { class: "seeking" }, actionButton("0", "Find", () => seek.focus(), { "aria-label": "Find a label" }), seek),
    told, list,
    make("button", { class: "action strong saverow", type: "button", "data-save-row": "", "aria-keyshortcuts": "Enter", onclick: () => saveRow(state) },
      key("↵"), make("span", { class: "count" })),
    noteField(state),
    make("p", { class: "why" }, make("strong", { text: "Why this row? " }), question.why));
}

const SEARCHED = 12; // labels beyond which there is a search

const labelsActions = (state) => make("div", { class: "actions", role: "group", "aria-label": "Other answers" },
  ...setAside(state));

function saveRow(state) {
  const labels = state.data.question.rows.map((row) => row.label).filter((label) => picked(state).has(label));
  state.press(state.holder.querySelector("[data-save-row]"), "labels", labels);
}

const setAside = (state) => [
  answerButton(state, "c", "unsure", "Cannot tell", { title: "You are not asked this again" }),
  answerButton(state, "s", "skip", "Skip", { title: "It comes back later" }),
  answerButton(state, "x", "bad", "Bad item", { title: "The row is broken or belongs to none: take it out" })];

function cellAsking(state) {
  const { question } = state.data;
  const row = question.asked;
  const percent = percentOf(row.probability);
  const verdict = (name, kind, text, words) => {
    const button = make("button", { class: "choice verdict", type: "button", "data-key": name, "aria-keyshortcuts": name,
      "aria-label": words, onclick: () => state.press(button, kind, []) }, key(name.toUpperCase()), make("span", { class: "label", text }));
    return button;
  };
  const known = question.rows.filter((one) => one.cell !== -1);
  const chips = known.slice(0, 12).map((one) => make("span", { class: one.cell ? "chip yes" : "chip", text: `${one.cell ? "✓" : "✗"} ${one.label}` }));
  return make("section", { class: "ask", "aria-label": "Label" },
    questionHead(question, "Is this label right?"),
    make("div", { class: "single" }, make("p", { class: "named", text: row.label }), row.about && make("p", { class: "about", text: row.about }),
      make("div", { class: "believed" }, make("span", { class: "bar" }, make("span", { class: "fill", style: `width:${percent}%` })),
        make("span", { class: "percent", text: `${percent} %` }))),
    make("div", { class: "choices verdicts", role: "group", "aria-label": "Answer" },
      verdict("y", "yes", "Yes", `Yes, ${row.label} is right`), verdict("n", "no", "No", `No, ${row.label} is not right`),
      verdict("c", "unsure", "Cannot tell", "Cannot tell")),
    known.length > 0 && make("p", { class: "chips small" }, make("span", { class: "quiet", text: "Known of this row:" }), ...chips,
      known.length > chips.length && make("span", { class: "quiet", text: `and ${(known.length - chips.length).toLocaleString()} more` })),
    noteField(state),
    make("p", { class: "why" }, make("strong", { text: "Why this one? " }), question.why));
}

const cellActions = (state) => make("div", { class: "actions", role: "group", "aria-label": "Other answers" }, ...setAside(state).slice(1));

const VECTOR_KEYS = [
  ["S", "Skip: it comes back later"],
  ["X", "Bad item: take the row out"],
  ...COMMON_KEYS,
];

ROOMS.labels = {
  asking: labelsAsking, actions: labelsActions, drawn: showPicked, enter: saveRow, redo: "y",
  keys: [["1 – 9, then letters", "The label is right, or not after all"], ["↵ Enter", "Save: the marked labels are right, all others are not"],
    ["0", "Search the labels; Enter marks the first and never unmarks it, Escape goes back to the keys"], ["C", "Cannot tell: you are not asked about this row again"],
    ["U / Y", "Undo, redo: over your last 50 answers"], ...VECTOR_KEYS],
};
ROOMS.cell = {
  asking: cellAsking, actions: cellActions, redo: "r",
  keys: [["Y", "Yes, the label is right"], ["N", "No, it is not"], ["C", "Cannot tell: you are not asked this again"],
    ["U / R", "Undo, redo: over your last 50 answers"], ...VECTOR_KEYS],
};
