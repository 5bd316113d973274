/** Types shared by the modules of the question card and the server (`question_card.py`). */

/** Every kind of entry that a press can send: an answer, or undo and redo. A test holds the list against the server's. */
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
 * Other kinds of clicks: a pause and its end, a row of the history opened, the steps of a qualification; a verdict,
 * another dispute (seq: its row), a note next to it; many rows at once (labels of "confirm": the numbers of rows that are
 * excluded), and back to one.
 */
export type OtherPress =
  | "pause"
  | "resume"
  | "open"
  | "begin"
  | "qualify"
  | "next"
  | "settle"
  | "look"
  | "discuss"
  | "many"
  | "confirm"
  | "one";

export type Segment = [start: number | null, end: number | null];

/** Where a picture of sound begins and ends: seconds, Hz. seconds : of the whole recording */
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

/** A detection in a picture. place : left, top, width, height as shares of it. name : "" if it is not to be shown */
export interface Box {
  place: [left: number, top: number, width: number, height: number];
  name: string;
  score: string;
}

/** The row that is asked about. A feature is its name and its value, both as they are read. */
export interface View {
  id: string;
  images: string[];
  /** In its picture, the best first. */
  boxes: Box[];
  audio: string | null;
  /** Seconds of the recording between which the row lies; null for its begin or end, and for the whole recording. */
  segment: Segment | null;
  text: string | null;
  features: [string, string][];
  /** Column and text of what is next to the row's name. */
  caption: [string, string][];
}

/** The pictures of a row, as the zoom gets them. place : of the one it begins with. show : shows one on the card */
export interface Burst {
  images: string[];
  boxes: Box[];
  place: number;
  name: string;
  show(place: number): void;
}

/** One label of a question. key : the key that stands for it, null beyond the keys. probability : the model's, 0 to 1 */
export interface Line {
  key: string | null;
  label: string;
  about: string;
  probability: number;
}

/**
 * Common parts of every kind's question. shown : a stamp of what is on the screen, which the answer carries back
 * model : what the bars are      learnt : the line of the answer log up to which the model has learnt, null without one
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

/** An answered row next to the one on the screen. text : its beginning, "" if it has none. note : "" without one */
export interface SimilarRow {
  id: string;
  image: string | null;
  audio: string | null;
  text: string;
  features: [string, string][];
  labels: string[];
  note: string;
  /** For the answer, in the history; else null. */
  seq: number | null;
}

/** Result of the server for the question with this token. refused : why it has not looked, null if it has */
export interface Similar {
  token: string;
  refused: string | null;
  rows: SimilarRow[];
}

/** Content of a panel that is filled on demand. wanted : the name under which it was asked for */
export interface PanelRows {
  wanted: string;
  refused: string | null;
  rows: SimilarRow[];
  /** All that the history lists, the newest first. */
  given: Given[];
}

/** The person's day. goal : the progress, in words. about : what that means. reached : said once. rest : offers a break */
export interface Day {
  goal: string | null;
  about: string;
  reached: string | null;
  rest: string | null;
}

/** Buttons shown if there is no question. */
export interface Offer {
  kind: OtherPress;
  text: string;
}

/** Result of an answer to a known row. said, label : what the person named, and the row's own */
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

/** Data that the server sends at every redraw. turn : counts the presses it has dealt with. tab : names its session.
 * drawing : counts its drawings in this session. person : whose page it is. route : where answers are sent to; null where
 * every press uses the page. height : of the log; more is newer, null if there is no order. frame : a stamp of what
 * stands around the card */
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
  /** There are examples of classes to be shown. */
  examples: boolean;
  done: string | null;
  /** done : the word for what is answered, if it is another */
  counts: { answered: number; left: number; share: string; about: string; of: string; done?: string };
}

/** Reply of the route: what the card is told of what comes next, null where that could not be had.
 * together : rows are before the person together, which the page draws */
export interface Answer {
  card: Partial<Data> | null;
  together: boolean;
}

/** One press, as the server reads it. */
export interface Press {
  kind: EntryKind | OtherPress;
  labels: string[];
  seq: number | null;
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

/** A dialog over the card. keys : deals with a key, given what it types and its event; true where it did */
export type Panel = HTMLDialogElement & { keys?: (typed: string, event: KeyboardEvent) => boolean };

export interface Draft {
  note: string;
  flagged: boolean;
}

/** How a question of one sort is drawn and answered: what a kind of project brings to the card. */
export interface Room<Q extends Question = Question> {
  /** The sheet of keys: each key, and what it does. */
  keys: [string, string][];
  /** Area next to the instance. */
  asking?(state: State, question: Q): HTMLElement;
  /** Content shown instead of instance and question. */
  whole?(state: State, question: Q): HTMLElement;
  /** The answers under it. */
  actions(state: State, question: Q): HTMLElement;
  /** Content shown instead of the instance, around it. */
  lead?(state: State, question: Q, instance: HTMLElement): (Node | string)[];
  /** Called once the question is on the page. */
  drawn?(state: State, question: Q): void;
  /** Action of Enter now; null if it does nothing of the room's. */
  entering?(state: State, question: Q): (() => void) | null;
  /** Keys that this room handles first; null if it does nothing of the room's. name : of the key */
  command?(state: State, question: Q, event: KeyboardEvent, name: string): (() => void) | null;
  /** No undo, notes or history belong under its questions. */
  bare?: boolean;
  /** Deals with Escape; true where it did. */
  escape?(state: State): boolean;
}

/** State of one card between redraws. */
export interface State {
  rooms: Record<string, Room>;
  data: Data;
  send(name: "press", value: Press): void;
  send(name: "similar", value: { token: string }): void;
  /** The question is still looked at. */
  send(name: "here", value: { token: string }): void;
  send(name: "panel", value: { wanted: string }): void;
  /** The nodes that stay: the card itself, what opens over it, what a screen reader hears. */
  holder: HTMLElement;
  over: HTMLElement;
  spoken: HTMLElement;
  /** The line that says what was saved. */
  saved: HTMLElement;
  turn: number | null;
  /** The stamp of what stands around the card now, or is requested. */
  frame: string | null;
  /** The press that is with the route, which alone ends the wait for it. */
  posted: Press | null;
  /** Later drawings of the page for the same project. */
  held: Data | null;
  /** For a panel that is to be filled: the name it asked under. */
  wanted: string | null;
  /** Shows data (`card.js`). */
  take(state: State, data: Data, how: { first?: boolean; dealt?: boolean }): void;
  /** An answer is on its way: the card is deaf. */
  busy: boolean;
  late: number | undefined;
  saving: number | undefined;
  /** Tells the server that the question is looked at. */
  staying: number | undefined;
  /** Token of the question answered last. */
  answered: string | null;
  /** The latest press was a note left next to the row. */
  leftNote: boolean;
  note: string;
  flagged: boolean;
  /** Notes and flags of questions that were left unanswered, by token. */
  drafts: Map<string, Draft>;
  dialog: Panel | null;
  /** A key, and what was typed after it, that is meant for the question to come. */
  waiting: { name: string; text: string } | null;
  listener: ((event: KeyboardEvent) => void) | null;
  /** The latest call by Streamlit: only its end is the card's end. */
  call: object | null;
}
