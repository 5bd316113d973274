/** What the tables of people and of models are sent (`team_table.py`). */

/** A figure with its 95% interval. value : null while there are fewer than `needed`; of : how many there are */
export interface Measured {
  value: number | null;
  low: number | null;
  high: number | null;
  of: number;
  needed: number;
}

/** The agreement of everybody. title : what it is of; reading : in a plain sentence, or why there is no figure */
export interface Agreement extends Measured {
  about: string;
  reading: string;
}

/** One annotator. pace : "3.1 s"; seen : a moment as ISO 8601 has it; warnings : the claim, and its evidence */
export interface Person {
  id: number;
  name: string;
  role: string;
  answers: number;
  pace: string;
  seen: string | null;
  agreement: Measured;
  warnings: [claim: string, evidence: string][];
  excluded: boolean;
}

/** A member without answers. link : the state of their latest link; at : when it expires, or was used */
export interface Invite {
  id: number;
  name: string;
  role: string;
  link: "open" | "used" | "expired" | "none";
  at: string | null;
}

/** Two people who share rows. kappa : in words */
export interface Pair {
  one: string;
  other: string;
  agreement: Measured;
  kappa: string;
}

/** One more measure of agreement, in words. */
export type Measure = [name: string, words: string];

/**
 * disputes : open ones      excludes : the viewer may exclude answers      invites : null where nobody may invite
 * links : the viewer may make sign-in links      foot : sentences about the columns
 */
export interface TeamData {
  agreement: Agreement;
  disputes: number;
  people: Person[];
  invites: Invite[] | null;
  pairs: Pair[];
  measures: Measure[];
  excludes: boolean;
  links: boolean;
  foot: string;
  zone: string;
}
