import type { Line, Question, View } from "../card/types.js";

/**
 * weight : how much the file lets the label count, in words; "" where all its candidates count alike
 * given : the same as a number; left out if it is none
 * voters : who named it before the import, in words; "" if no one may or can know
 */
export interface Candidate extends Line {
  weight: string;
  given?: number;
  voters: string;
}

/** The candidates that a group of classes holds: some, not all of them. key : chooses it in the list of groups */
export interface CandidateGroup {
  key: string | null;
  name: string;
  labels: string[];
}

/**
 * One candidate, or those of a group, asked about in yes and no. name : of the label or the group; "" unknown
 * rest : the other candidates, where a group is asked about. leaves : the others in words
 */
export interface YesNo {
  name: string;
  labels: string[];
  rest: string[];
  leaves: string;
  about: string;
  probability: number;
}

/**
 * Which of a row's candidates is right. yesNo : asked instead of which. hidden : candidates beyond those listed
 * votes : this many people voted on the row before, 0 if no one did or it is not known
 * first : how many of `rows` are shown at first, the others are behind a key; null: all are shown
 * none : there are classes in addition to the candidates
 */
export interface CandidateQuestion extends Question {
  rows: Candidate[];
  groups: CandidateGroup[];
  yesNo: YesNo | null;
  hidden: number;
  votes: number;
  first: number | null;
  /** The key that says "none of these", or searches. */
  noneKey: string;
  none: boolean;
  nClasses: number;
  /** Pieces of the text that speak for a candidate: from and to in characters, its place in `rows`, how strongly (0 to 1). */
  marks: [start: number, end: number, candidate: number, strength: number][];
}

/** Data of a question that the class search needs. */
export type SearchedQuestion = Pick<CandidateQuestion, "none" | "nClasses" | "groups"> & { rows: Line[] };

/** The number of a label's colour and shape; null: it has none */
export type Mark = number | null;

/** A label of a disputed row. about : who says so. shown : whether the model's share is */
export interface DisputedLabel extends Line {
  shown: boolean;
  mark: Mark;
}

/**
 * A row that people disagree on. list : the disputes, worst first, of which there are `total`; each with how many people
 * left the label of a mark. said : who said what, the names with an "or" between them
 */
export interface DisputeQuestion extends Question {
  rows: DisputedLabel[];
  list: { row: number; id: string; words: string; shares: [mark: Mark, people: number][]; current: boolean }[];
  total: number;
  said: { person: string; names: [name: string, mark: Mark][]; when: string; note: string }[];
  notes: { person: string; when: string; text: string }[];
  /** The key that says "none of these", or searches. */
  noneKey: string;
  none: boolean;
  nClasses: number;
  groups: CandidateGroup[];
}

/** Classes and groups that the search covers. sought : its name as searches compare it */
export interface Sought {
  label: string;
  sought: string;
}

export interface SoughtClass extends Sought {
  about: string;
}

export interface SoughtGroup extends Sought {
  classes: string[];
}

/** One row of a batch. key : takes it out. row : its number. share : the model's of the batch's label, 0 to 1 */
export interface Tile {
  key: string | null;
  row: number;
  share: number;
  view: View;
}

/**
 * Rows that may all have this label. asks, why, checked : sentences over the tiles. about : of the class, "" without one.
 * view : of the first tile
 */
export interface BatchQuestion extends Question {
  label: string;
  asks: string;
  about: string;
  checked: string;
  tiles: Tile[];
}
