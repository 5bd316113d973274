import type { Line, Question } from "../card/types.js";

/** One label of a row. cell : its known value, 1 yes, 0 no, -1 unknown */
export interface CellLine extends Line {
  cell: -1 | 0 | 1;
}

/**
 * Which labels of a row are right, or whether one is. asked : that one, null if the question is about the
 * whole row
 */
export interface VectorQuestion extends Question {
  rows: CellLine[];
  asked: CellLine | null;
}

/** Selection and search. screen : identifies the question on screen that they belong to */
export interface Picks {
  screen: string;
  labels: Set<string>;
  sought: string;
}
