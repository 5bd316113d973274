import type { Question } from "../card/types.js";

/** Which of a row's candidates is right. hidden : candidates beyond those listed. none : there are classes besides them */
export interface CandidateQuestion extends Question {
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
