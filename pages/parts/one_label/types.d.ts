import type { Line, Question, View } from "../card/types.js";

/**
 * weight : how much the file lets the label count, in words; "" if all its candidates count alike
 * given : the same as a number; omitted if unknown
 * voters : annotators who named it before the import, in words; "" if unknown or not to be shown
 */
export interface Candidate extends Line {
  weight: string;
  given?: number;
  voters: string;
}

/** The candidates in a group of classes: some, not all of them. key : chooses it in the list of groups */
export interface CandidateGroup {
  key: string | null;
  name: string;
  labels: string[];
}

/**
 * A yes/no question about one candidate or a group. name : of the label or the group; "" if unknown
 * rest : the other candidates, if the question is about a group. leaves : the others in words
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
 * Which of a row's candidates is right. yesNo : the yes/no question to ask instead. hidden : candidates
 * beyond those listed
 * votes : number of people who voted on the row before, 0 if none or unknown
 * weighedBy : the model whose scores stand in the place of the file's
 * first : number of `rows` shown at first, the others are behind a key; null: all are shown
 * none : there are classes in addition to the candidates
 */
export interface CandidateQuestion extends Question {
  rows: Candidate[];
  groups: CandidateGroup[];
  yesNo: YesNo | null;
  hidden: number;
  votes: number;
  weighedBy: string | null;
  first: number | null;
  /** The key for "none of these", or for the search. */
  noneKey: string;
  none: boolean;
  nClasses: number;
  /**
   * Parts of the texts that support a candidate: the index of the text, from and to in characters, the candidate's
   * index in `rows`, the strength (0 to 1).
   */
  marks: { text: number; start: number; end: number; candidate: number; strength: number }[];
}

/** Data of a question that the class search needs. */
export type SearchedQuestion = Pick<CandidateQuestion, "none" | "nClasses" | "groups"> & { rows: Line[] };

/** The number of a label's colour and shape; null: it has none */
export type Mark = number | null;

/**
 * A label of a disputed row. about : annotators who chose it. shown : whether the model's probability is
 * shown
 */
export interface DisputedLabel extends Line {
  shown: boolean;
  mark: Mark;
}

/**
 * A row that annotators disagree on. list : the disputes, worst first, of `total`; each with the number of
 * people who chose the label of a mark. said : who chose what, the labels joined by "or"
 */
export interface DisputeQuestion extends Question {
  rows: DisputedLabel[];
  list: { row: number; id: string; words: string; shares: [mark: Mark, people: number][]; current: boolean }[];
  total: number;
  said: { person: string; names: [name: string, mark: Mark][]; when: string; note: string }[];
  notes: { person: string; when: string; text: string }[];
  /** The key for "none of these", or for the search. */
  noneKey: string;
  none: boolean;
  nClasses: number;
  groups: CandidateGroup[];
}

/** Classes and groups that the search covers. sought : the name in the form that searches compare */
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

/**
 * One row of a batch. key : excludes it. row : its number. share : the model's probability of the batch's
 * label, 0 to 1
 */
export interface Tile {
  key: string | null;
  row: number;
  share: number;
  view: View;
}

/**
 * Rows that may all have this label. asks, why, checked : sentences above the tiles. about : of the class, ""
 * without one.
 * view : of the first tile
 */
export interface BatchQuestion extends Question {
  label: string;
  asks: string;
  about: string;
  checked: string;
  tiles: Tile[];
}
