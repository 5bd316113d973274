import type { Line, Question } from "../card/types.js";

/** weight : how much the file lets the label count, in words; "" where all its candidates count alike */
export interface Candidate extends Line {
  weight: string;
}

/** Which of a row's candidates is right. hidden : candidates beyond those listed. none : there are classes besides them */
export interface CandidateQuestion extends Question {
  rows: Candidate[];
  hidden: number;
  none: boolean;
  nClasses: number;
}

/** A class as the search reads it. sought : its name in lower case */
export interface SoughtClass {
  label: string;
  about: string;
  sought: string;
}
