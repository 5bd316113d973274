// The question card: one instance, its candidates on keys, one press per question.
// It sends the token of the question on screen, ignores key repeats, and goes deaf after a press until the
// server has moved on (`turn`). The files card_*.js come before this one in the same module.

function say(state, words) {
  state.spoken.textContent = words;
}

function heading(data) {
  const { counts } = data;
  const total = counts.answered + counts.left;
  return make("header", { class: "head" },
    make("div", { class: "counts" },
      make("span", { text: `${counts.answered.toLocaleString()} answered` }),
      make("span", { class: "quiet", text: `${counts.left.toLocaleString()} open` }),
      make("span", { class: "quiet", text: counts.share, title: counts.about })),
    make("div", { class: "track", role: "progressbar", "aria-valuemin": 0, "aria-valuemax": total, "aria-valuenow": counts.answered,
        "aria-label": counts.of },
      make("span", { class: "fill", style: `width:${total ? (100 * counts.answered) / total : 100}%` })));
}

// How a question is answered: what stands beside the instance, the answers under it, and their keys.
ROOMS.candidates = { asking, actions: answerActions, redo: "y", keys: CANDIDATE_KEYS };

function asking(state) {
  const { question } = state.data;
  const hidden = question.hidden && make("p", { class: "small quiet",
    text: `${question.hidden.toLocaleString()} more candidates with smaller shares: find them with 0.` });
  return make("section", { class: "ask", "aria-label": "Candidates" },
    questionHead(question, "Which one is it?"),
    make("div", { class: "choices" }, ...question.rows.map((candidate) => candidateRow(state, candidate))), hidden,
    markingBar(state), noteField(state),
    make("p", { class: "why" }, make("strong", { text: "Why this row? " }), question.why));
}

// The list is so high that what stands under it is in sight above the footer; guidelines that are open do not count.
function leaveRoom({ holder }) {
  const [list, ask, foot] = [".choices", ".ask", ".foot"].map((one) => holder.querySelector(one)?.getBoundingClientRect());
  if (!list) return;
  const scrolled = document.querySelector("[data-testid=stMain]")?.scrollTop ?? 0;
  const around = Math.min(list.top + scrolled, 384) + (ask.bottom - list.bottom) + foot.height + 16;
  const room = `${Math.ceil(around)}px`;
  // Setting it has the whole page laid out once more.
  if (holder.style.getPropertyValue("--around") !== room) holder.style.setProperty("--around", room);
}

function draw(state) {
  const { data } = state;
  const focused = state.holder.getRootNode().activeElement?.dataset?.key;
  const saved = make("p", { class: `saved ${data.saved ? data.saved.tone : "quiet"}`, "data-seq": data.saved?.seq ?? "",
    "data-row": data.saved?.row ?? "", text: data.saved ? data.saved.message : "Nothing answered yet in this project." });
  const root = make("div", { class: "card", "data-token": data.token ?? "", "data-row": data.question?.view.id ?? "", "data-turn": data.turn });
  const head = heading(data);
  head.append(saved);
  if (data.done) head.append(make("p", { class: "settled", text: data.done }));
  root.append(head);
  if (data.question) {
    root.append(make("div", { class: "body" }, instance(state), roomOf(state).asking(state)),
      make("footer", { class: "foot" }, roomOf(state).actions(state), otherActions(state)));
  } else {
    root.append(make("section", { class: "done" }, make("h2", { text: data.empty.title }), make("p", { text: data.empty.message })), otherActions(state));
  }
  state.holder.replaceChildren(root);
  if (data.question) roomOf(state).drawn?.(state);
  // Before the frame is painted, but after all else that is changed for it: the page is laid out once.
  requestAnimationFrame(() => leaveRoom(state));
  state.saved = saved;
  // A node that stays, so that a screen reader hears what was saved; and the focus stays on its key.
  say(state, saved.textContent);
  if (focused) state.holder.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
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

function press(state, button, kind, labels, seq = null) {
  if (state.busy) return;
  state.busy = true;
  state.late = setTimeout(() => whenLate(state), 4000);
  if (kind !== "undo" && kind !== "redo") state.answered = state.data.token;
  state.send("press", { kind, labels, seq, token: state.data.token, shown: state.data.question?.shown ?? null, note: state.note, flagged: state.flagged });
  // Once it is on its way. Most answers are stored before the words would be read; painting them would only delay what comes.
  setTimeout(() => state.busy && button?.classList.add("pressed"));
  state.saving = setTimeout(() => {
    state.saved.className = "saved waiting";
    state.saved.textContent = "Saving…";
  }, 150);
}

// Note and flag of a question left unanswered (undo, redo) wait until it comes back.
function keepDraft(state, token) {
  const old = state.data?.token;
  if (old && old !== state.answered) state.drafts.set(old, { note: state.note, flagged: state.flagged });
  Object.assign(state, state.drafts.get(token) ?? { note: "", flagged: false });
  state.drafts.delete(token);
}

export default function (component) {
  const { parentElement, setTriggerValue, data } = component;
  const state = (parentElement.__winnow ??= { turn: null, busy: false, marking: false, note: "", flagged: false, drafts: new Map(), dialog: null });
  const other = state.data?.token !== data.token || state.data?.tab !== data.tab;
  if (other) keepDraft(state, data.token);
  const fresh = other || state.turn !== data.turn;
  Object.assign(state, { data, send: setTriggerValue });
  if (!state.holder) {
    state.holder = make("div", { class: "holder" });
    state.over = make("div", { class: "over" });
    state.spoken = make("p", { class: "spoken", role: "status" });
    parentElement.append(state.holder, state.over, state.spoken);
    state.press = (...parts) => press(state, ...parts);
  }
  if (fresh) {
    clearTimeout(state.late);
    clearTimeout(state.saving);
    Object.assign(state, { turn: data.turn, busy: false, marking: false });
    state.dialog?.close();
    draw(state);
    pressWaiting(state);
    // On a phone the answer was given below: the next instance begins at its top.
    if (other && state.holder.getBoundingClientRect().top < 0) state.holder.scrollIntoView({ block: "start" });
  }
  if (!state.listener) {
    state.listener = (event) => onKey(state, event);
    window.addEventListener("keydown", state.listener, true);
  }
  return () => {
    window.removeEventListener("keydown", state.listener, true);
    state.listener = null;
  };
}
