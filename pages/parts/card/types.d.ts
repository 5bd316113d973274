/** Types shared by the modules of the question card and the server (`question_card.py`). */

/**
 * Every kind of entry that a press can send: an answer, undo or redo. A test compares the list with the
 * server's.
 */
export type EntryKind =
  | "is"
  | "among"
  | "not"
  | "none"
  | "labels"
  | "yes"
  | "no"
  | "unsure"
  | "bad"
  | "skip"
  | "undo"
  | "redo";

/**
 * Other kinds of clicks: pause and resume; open a row of the history, or the Export page; the steps of a qualification; a
 * verdict, another dispute (seq: its row), a note next to it; many rows at once (labels of "confirm": the
 * numbers of the excluded rows), and back to one; the next question is in another project (at).
 */
export type OtherPress =
  | "pause"
  | "resume"
  | "open"
  | "export"
  | "begin"
  | "qualify"
  | "next"
  | "settle"
  | "look"
  | "discuss"
  | "many"
  | "confirm"
  | "one"
  | "go";

export type Segment = [start: number | null, end: number | null];

/** Edges of a spectrogram: seconds, Hz. seconds : of the whole recording */
export interface Edges {
  t0: number;
  t1: number;
  f0: number;
  f1: number;
  seconds: number;
}

export interface Picture {
  edges: Edges;
  image: ImageBitmap;
}

/** Files of a row that the browser can prefetch. */
export type Coming = Pick<View, "images" | "audio" | "segment">;

/**
 * A detection in an image. place : left, top, width, height as shares of it. name : "" if it is not to be
 * shown
 */
export interface Box {
  place: [left: number, top: number, width: number, height: number];
  name: string;
  score: string;
}

/** The row of the question. A feature is its name and its value, both as displayed. */
export interface View {
  id: string;
  images: string[];
  /** Detections in its image, best first. */
  boxes: Box[];
  audio: string | null;
  /** Segment of the recording in seconds; null for its start or end; null as a whole: the whole recording. */
  segment: Segment | null;
  /** Column and text of the texts, in the order of the file. */
  texts: [string, string][];
  features: [string, string][];
  /** Column and text of the captions: next to the row's name, or above its text if they are long. */
  caption: [string, string][];
}

/** The images of a row, for the zoom. place : of the first one shown. show : shows one on the card */
export interface Burst {
  images: string[];
  boxes: Box[];
  place: number;
  name: string;
  show(place: number): void;
}

/**
 * One label of a question. key : its key, null if there are no more keys. probability : the model's, 0 to 1
 */
export interface Line {
  key: string | null;
  label: string;
  about: string;
  probability: number;
}

/**
 * Common parts of every kind's question. shown : a stamp of what is on screen, returned with the answer
 * model : source of the bars      learnt : last line of the answer log that the model has learnt from, null
 * without one
 */
export interface Question {
  rows: Line[];
  model: string;
  learnt: number | null;
  why: string;
  shown: string;
  telling: { between: [string, string]; columns: string[] } | null;
  view: View;
  /** The likely next row, if it has files. */
  coming: Coming | null;
}

/** One of the person's last answers. */
export interface Given {
  seq: number;
  words: string;
  withdrawn: boolean;
  redoable: boolean;
  note: string | null;
  flagged: boolean;
}

/**
 * An answered row similar to the one on screen. text : its beginning, "" if it has none. note : "" without
 * one
 */
export interface SimilarRow {
  id: string;
  image: string | null;
  audio: string | null;
  text: string;
  features: [string, string][];
  labels: string[];
  note: string;
  /** Of the answer, in the history; else null. */
  seq: number | null;
}

/**
 * Result of the server for the question with this token. refused : why there are no rows, null if there are
 */
export interface Similar {
  token: string;
  refused: string | null;
  rows: SimilarRow[];
}

/** Content of a panel that is filled on demand. wanted : the name under which it was requested */
export interface PanelRows {
  wanted: string;
  refused: string | null;
  rows: SimilarRow[];
  /** The whole history, newest first. */
  given: Given[];
}

/**
 * The person's day. goal : the progress, in words. about : explanation. reached : shown once. rest : offers a
 * break
 */
export interface Day {
  goal: string | null;
  about: string;
  reached: string | null;
  rest: string | null;
}

/**
 * Several projects ask about the same row. lead : the first one. words : which question this is. undoAt : the
 * project of the answer that undo withdraws, if it is another one
 */
export interface Walk {
  lead: number;
  words: string;
  undoAt: number | null;
}

/** Buttons shown if there is no question. */
export interface Offer {
  kind: OtherPress;
  text: string;
}

/** Result of an answer to a known row. said : the person's label. label : the row's own */
export interface Judged {
  said: string;
  label: string;
  words: string;
  note: string;
}

/** A known row, asked before someone starts. judged : once it is answered */
export interface KnownQuestion extends Question {
  about: string;
  judged: Judged | null;
}

/**
 * Data that the server sends at every redraw. turn : number of presses it has handled. tab : names its
 * session.
 * drawing : number of redraws in this session. person : whose page it is. route : address for answers; null
 * if every press uses the page. height : of the log; larger is newer, null if there is no order. frame : a
 * stamp of the card's surroundings
 */
export interface Data<Q extends Question = Question> {
  project: number;
  room: string;
  tab: string;
  turn: number;
  drawing: number;
  person?: number;
  route: string | null;
  height: number | null;
  frame: string | null;
  token: string | null;
  question: Q | null;
  empty: { title: string; message: string } | null;
  undoable: number | null;
  redoable: number | null;
  saved: { tone: "good" | "bad" | "quiet"; message: string; seq: number | null; row: number | null } | null;
  similar: Similar | null;
  panel: PanelRows | null;
  day: Day | null;
  offer: Offer | null;
  /** There are examples of classes to show. */
  examples: boolean;
  done: string | null;
  /** null: no other project asks about the row. */
  walk: Walk | null;
  /** done : the word for answered rows, if it is another */
  counts: { answered: number; begun: number; left: number; share: string; about: string; of: string; done?: string };
}

/**
 * Reply of the direct route. card : data for what comes next, null if it is not available.
 * together : the person confirms many rows at once, which the page draws. go : the project with the next
 * question, if it is another one
 */
export interface Answer {
  card: Partial<Data> | null;
  together: boolean;
  go?: number;
}

/** One press, as the server reads it. */
export interface Press {
  kind: EntryKind | OtherPress;
  labels: string[];
  seq: number | null;
  /** The project of that answer, or to go to, if it is another one. */
  at: number | null;
  token: string | null;
  shown: string | null;
  note: string;
  flagged: boolean;
}

/** Arguments that Streamlit passes to a component. */
export interface Component<D> {
  data: D;
  parentElement: ParentNode & Node;
  setTriggerValue(name: string, value: unknown): void;
}

/** A dialog over the card. keys : handles a key, given its name and its event; returns whether it did */
export type Panel = HTMLDialogElement & { keys?: (typed: string, event: KeyboardEvent) => boolean };

export interface Draft {
  note: string;
  flagged: boolean;
}

/** How one sort of question is drawn and answered: what a kind of project adds to the card. */
export interface Room<Q extends Question = Question> {
  /** The key help: each key, and what it does. */
  keys: [string, string][];
  /** Area next to the instance. */
  asking?(state: State, question: Q): HTMLElement;
  /** Content shown instead of instance and question. */
  whole?(state: State, question: Q): HTMLElement;
  /** The answers below it. */
  actions(state: State, question: Q): HTMLElement;
  /** Content shown instead of the instance, around it. */
  lead?(state: State, question: Q, instance: HTMLElement): (Node | string)[];
  /** Called once the question is on the page. */
  drawn?(state: State, question: Q): void;
  /** Action of Enter now; null if the room has none. */
  entering?(state: State, question: Q): (() => void) | null;
  /** Keys that this room handles first; null if it has no action. name : of the key */
  command?(state: State, question: Q, event: KeyboardEvent, name: string): (() => void) | null;
  /** Its questions have no undo, notes or history. */
  bare?: boolean;
  /** Handles Escape; returns whether it did. */
  escape?(state: State): boolean;
}

/** State of one card between redraws. */
export interface State {
  rooms: Record<string, Room>;
  data: Data;
  send(name: "press", value: Press): void;
  send(name: "similar", value: { token: string }): void;
  /** The question is still on screen. */
  send(name: "here", value: { token: string }): void;
  send(name: "panel", value: { wanted: string }): void;
  /** The permanent nodes: the card itself, what opens over it, screen reader announcements. */
  holder: HTMLElement;
  over: HTMLElement;
  spoken: HTMLElement;
  /** The line that says what was saved. */
  saved: HTMLElement;
  turn: number | null;
  /** The stamp of the card's surroundings, shown or requested. */
  frame: string | null;
  /** The press sent to the direct route; only its reply ends the wait. */
  posted: Press | null;
  /** Later redraws of the page for the same project. */
  held: Data | null;
  /** Name under which a panel has requested its content. */
  wanted: string | null;
  /** Shows data (`card.js`). */
  take(state: State, data: Data, how: { first?: boolean; dealt?: boolean }): void;
  /** An answer is being sent: the card ignores input. */
  busy: boolean;
  late: number | undefined;
  saving: number | undefined;
  /** Timer that tells the server that the question is still on screen. */
  staying: number | undefined;
  /** Name of the question answered last. */
  answered: string | null;
  /** The latest press was a note saved for the row next to it. */
  leftNote: boolean;
  note: string;
  flagged: boolean;
  /** Notes and flags of questions left unanswered, by the name of the question. */
  drafts: Map<string, Draft>;
  dialog: Panel | null;
  /** A key, and text typed after it, for the next question. */
  waiting: { name: string; text: string } | null;
  listener: ((event: KeyboardEvent) => void) | null;
  /** The latest call by Streamlit: only its end ends the card. */
  call: object | null;
}
