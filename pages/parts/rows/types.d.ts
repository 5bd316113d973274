/** Data for the list of rows, its drawer and its facts (`row_table.py`). */

/** The columns after those that every list has: place, picture, row. */
export type ColumnName = "shares" | "words" | "near" | "answer" | "predicted" | "person" | "at";

export interface Column {
  name: ColumnName;
  title: string;
  /** Shown when the title is pointed at; "" without. */
  about: string;
}

/** Shape and colour of an answer: one label, not decided, a bad item. */
export type Mark = "good" | "open" | "bad";

/** One row. Only what its list has columns for is sent. */
export interface Line {
  id: string;
  place: number;
  /** Address of the small picture, null without one. */
  image: string | null;
  /** It has a recording and no picture. */
  sound: boolean;
  /** The beginning of its text, "" without one. */
  text: string;
  /** The largest shares, 0 to 1; null where the model says nothing. */
  shares?: [label: string, share: number | null][];
  /** How many labels have smaller ones. */
  more?: number;
  words?: string;
  near?: string;
  answer?: { mark: Mark; words: string; flagged: boolean; note: string };
  predicted?: { words: string; differs: boolean };
  person?: string;
  /** A moment as ISO 8601 has it. */
  at?: string;
}

/**
 * list : names these lines; of others nothing is ticked      opened : place among the lines, null for none
 * rows : their numbers in the table      ticked : of these rows; null where rows cannot be ticked
 * zone : the time zone of moments      pictured : there is a column of pictures and recordings
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

/** at : place of the row among the lines, null if it is not listed      count : of the lines */
export interface DrawerData {
  title: string;
  at: number | null;
  count: number;
}

/** One entry about a row. details : name and value of what else is stored with it */
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
