// The question card: one instance, its candidates on keys, one press per question.
// It sends the token of the question on screen, ignores key repeats, and goes deaf after a press until the
// server has moved on (`turn`). Text from the table enters through textContent and attributes only.

const make = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") node.textContent = value;
    else if (name.startsWith("on")) node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter(Boolean));
  return node;
};

const key = (name) => make("kbd", { text: name, "aria-hidden": "true" });

function instance(view) {
  const parts = [];
  if (view.image) parts.push(make("img", { class: "image", src: view.image, alt: `Image of row ${view.id}` }));
  if (view.text) parts.push(make("p", { class: "text", text: view.text }));
  if (view.features.length) {
    const rows = view.features.map(([name, value]) =>
      make("div", { class: "feature" }, make("dt", { text: name, title: name }), make("dd", { text: value || "–", title: value })));
    const list = make("dl", { class: "features" }, ...rows);
    const folded = Boolean(view.image || view.text);
    parts.push(make("details", { class: "values", open: !folded },
      make("summary", { text: view.features.length === 1 ? "1 feature" : `${view.features.length} features` }), list));
  }
  return make("section", { class: "instance", "aria-label": "The instance" }, ...parts);
}

function choiceButton(choice, press) {
  const percent = Math.round(choice.probability * 100);
  const button = make("button", { class: "choice", type: "button", "data-key": choice.key, "aria-keyshortcuts": choice.key,
      "aria-label": `${choice.label}, the model's share ${percent} %`, onclick: () => press(button, "is", [choice.label]) },
    choice.key ? key(choice.key.toUpperCase()) : make("span"), make("span", { class: "label", text: choice.label }),
    make("span", { class: "bar", title: `The model's current share for this label: ${percent} %` },
      make("span", { class: "fill", style: `width:${percent}%` })),
    make("span", { class: "percent", text: `${percent} %` }));
  return button;
}

function actionButton(name, kind, text, press, disabled = false) {
  const button = make("button", { class: "action", type: "button", "data-key": name, "aria-keyshortcuts": name, disabled,
    onclick: () => press(button, kind, []) }, key(name.toUpperCase()), text);
  return button;
}

function draw(state) {
  const { data, press } = state; // press(button, kind, labels)
  const focused = state.holder.getRootNode().activeElement?.dataset?.key;
  const { counts } = data;
  const total = counts.answered + counts.left;
  const head = make("header", { class: "head" },
    make("div", { class: "counts" },
      make("span", { text: `${counts.answered.toLocaleString()} answered` }),
      make("span", { class: "quiet", text: `${counts.left.toLocaleString()} open` }),
      make("span", { class: "quiet", text: `${counts.settled} of predictions settled`,
        title: "Share of the predictions for rows that were ambiguous at the start which no further answer can change" })),
    make("div", { class: "track", role: "progressbar", "aria-valuemin": 0, "aria-valuemax": total, "aria-valuenow": counts.answered,
        "aria-label": "Rows answered" },
      make("span", { class: "fill", style: `width:${total ? (100 * counts.answered) / total : 100}%` })));
  const saved = make("p", { class: `saved ${data.saved ? data.saved.tone : "quiet"}`, "data-seq": data.saved?.seq ?? "",
    "data-row": data.saved?.row ?? "", text: data.saved ? data.saved.message : "Nothing answered yet in this project." });
  const nothing = make("section", { class: "done" });
  if (!data.question) {
    nothing.append(make("h2", { text: data.empty.title }), make("p", { text: data.empty.message }));
  }
  const actions = make("div", { class: "actions" },
    data.question && actionButton("s", "skip", "Skip – comes back later", press),
    actionButton("u", "undo", "Undo my last answer", press, !data.undoable));
  const root = make("div", { class: "card", "data-token": data.token ?? "", "data-row": data.question?.view.id ?? "", "data-turn": data.turn });
  head.append(saved);
  if (data.done) head.append(make("p", { class: "settled", text: data.done }));
  root.append(head);
  if (data.question) {
    const ask = make("section", { class: "ask", "aria-label": "Candidates" },
      make("h2", { text: "Which one is it?" }),
      make("div", { class: "choices" }, ...data.question.choices.map((choice) => choiceButton(choice, press))),
      actions,
      make("p", { class: "why" }, make("strong", { text: "Why this row? " }), data.question.why));
    const left = instance(data.question.view);
    left.prepend(make("p", { class: "rowname", text: `Row ${data.question.view.id}` }));
    root.append(make("div", { class: "body" }, left, ask));
  } else {
    root.append(nothing, actions);
  }
  state.holder.replaceChildren(root);
  state.saved = saved;
  // A node that stays, so that a screen reader hears what was saved; and the focus stays on its key.
  state.spoken.textContent = saved.textContent;
  if (focused) state.holder.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
}

// No word from the server: it may be slow, or it was restarted and knows this page no more. Once it answers
// again the page is loaded anew; the token makes sure that nothing is stored twice.
async function whenLate(state) {
  state.saved.textContent = "Still saving… An answer that is not shown as saved was not stored.";
  while (state.busy && state.listener) {
    await new Promise((resolve) => setTimeout(resolve, 2000));
    const answer = await fetch("/healthz", { cache: "no-store" }).catch(() => null);
    if (state.busy && answer?.ok) window.location.reload();
  }
}

export default function (component) {
  const { parentElement, setTriggerValue, data } = component;
  const state = (parentElement.__winnow ??= { turn: null, busy: false });
  const fresh = state.turn !== data.turn || state.data?.token !== data.token || state.data?.tab !== data.tab;
  Object.assign(state, { data, send: setTriggerValue });
  if (!state.holder) {
    state.holder = make("div", { class: "holder" });
    state.spoken = make("p", { class: "spoken", role: "status" });
    parentElement.append(state.holder, state.spoken);
  }
  state.press ??= (button, kind, labels) => {
    if (state.busy) return;
    state.busy = true;
    button.classList.add("pressed");
    state.saved.className = "saved waiting";
    state.saved.textContent = "Saving…";
    state.late = setTimeout(() => whenLate(state), 4000);
    state.send("press", { kind, labels, token: state.data.token, seq: state.data.undoable });
  };
  if (fresh) {
    clearTimeout(state.late);
    state.turn = data.turn;
    state.busy = false;
    draw(state);
  }
  if (!state.listener) {
    state.listener = (event) => {
      if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
      const typing = event.composedPath().some((node) => node.tagName && (/^(INPUT|TEXTAREA|SELECT)$/.test(node.tagName) || node.isContentEditable));
      if (typing) return;
      const name = event.key.length === 1 ? event.key.toLowerCase() : event.key === "Backspace" ? "u" : event.key;
      const known = state.holder.querySelector(`[data-key="${CSS.escape(name)}"]`);
      if (!known) return;
      event.preventDefault();
      event.stopImmediatePropagation(); // before Streamlit's own keys
      if (!event.repeat) known.click();
    };
    window.addEventListener("keydown", state.listener, true);
  }
  return () => {
    window.removeEventListener("keydown", state.listener, true);
    state.listener = null;
  };
}
