/** Data for the list of rows, its drawer and its facts (`row_table.py`). */

/** The columns after those that every list has: place, image, row. */
export type ColumnName = "shares" | "words" | "near" | "answer" | "predicted" | "person" | "at";

export interface Column {
  name: ColumnName;
  title: string;
  /** Shown on hovering over the title; "" for none. */
  about: string;
}

/** Shape and colour of an answer: one label, undecided, a bad item. */
export type Mark = "good" | "open" | "bad";

/** One row. Only data for the list's columns is sent. */
export interface Line {
  id: string;
  place: number;
  /** Address of the thumbnail, null without one. */
  image: string | null;
  /** It has a recording and no image. */
  sound: boolean;
  /** The beginning of its text, "" without one. */
  text: string;
  /** The largest probabilities, 0 to 1; null without a model's prediction. */
  shares?: [label: string, share: number | null][];
  /** Number of labels with smaller probabilities. */
  more?: number;
  words?: string;
  near?: string;
  answer?: { mark: Mark; words: string; flagged: boolean; note: string };
  predicted?: { words: string; differs: boolean };
  person?: string;
  /** A time in ISO 8601. */
  at?: string;
}

/**
 * list : identifies these lines; ticks of others are dropped      opened : index among the lines, null for
 * none
 * rows : their numbers in the table      ticked : of these rows; null if rows cannot be ticked
 * zone : time zone of times      pictured : there is a column of images and recordings
 */
export interface ListData {
  list: string;
  name: string;
  columns: Column[];
  lines: Line[];
  rows: number[];
  pictured: boolean;
  opened: number | null;
  ticked: number[] | null;
  zone: string;
}

/** at : index of the row among the lines, null if it is not listed      count : of the lines */
export interface DrawerData {
  title: string;
  at: number | null;
  count: number;
}

/** One entry about a row. details : name and value of further stored facts */
export interface Entry {
  person: string;
  words: string;
  at: string;
  details: [string, string][];
}

/** shares : of all candidates      notes : sentences below them      history : null if it is not shown */
export interface Facts {
  shares: [label: string, share: number][];
  notes: string[];
  history: Entry[] | null;
  zone: string;
}
