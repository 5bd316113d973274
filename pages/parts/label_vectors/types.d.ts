import type { Line, Question } from "../card/types.js";

/** One label of a row. cell : what is known of it, 1 yes, 0 no, -1 nothing */
export interface CellLine extends Line {
  cell: -1 | 0 | 1;
}

/** Which labels of a row are right, or whether one is. asked : that one, null where the whole row is asked about */
export interface VectorQuestion extends Question {
  rows: CellLine[];
  asked: CellLine | null;
}

/** Selection and search. screen : names the question on the screen that it belongs to */
export interface Picks {
  screen: string;
  labels: Set<string>;
  sought: string;
}
