/** Data for the tables of people and models (`team_table.py`, `model_table.py`). */

/**
 * A figure with its 95% interval. value : null while it is unknown; sofar : the count until then, in words
 */
export interface Measured {
  value: number | null;
  low: number | null;
  high: number | null;
  sofar: string;
}

/** Overall agreement. about : the method; reading : the figure in a plain sentence, or why there is none */
export interface Agreement extends Measured {
  about: string;
  reading: string;
}

/** One annotator. pace : "3.1 s"; seen : a time in ISO 8601; warnings : the claim, and its evidence */
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

/** Two people who share rows. shared : how many, in words; kappa : in words */
export interface Pair {
  one: string;
  other: string;
  shared: string;
  agreement: Measured;
  kappa: string;
}

/** One more measure of agreement, in words. */
export type Measure = [name: string, words: string];

/**
 * disputes : open ones      excludes : the viewer may exclude answers      invites : null if no one may invite
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

/**
 * A model. plain : what it does, in two words; method : its name in the literature; note : why it was not
 * measured
 * seconds : training time, "" if unknown
 */
export interface Model {
  name: string;
  plain: string;
  method: string;
  about: string;
  measured: Measured;
  seconds: string;
  note: string;
  inUse: boolean;
  best: boolean;
}

/**
 * An encoder of meaning. words, meaning : accuracy without and with it, null if it was not measured
 * sofar : in place of a gain; facts : size, licence and the like; action : text of the button, "" for none
 */
export interface Meaning {
  about: string;
  on: boolean;
  words: number | null;
  meaning: number | null;
  gain: string;
  sofar: string;
  time: string;
  facts: string[];
  action: string;
}

/** title, about : of the figures; axis, ticks : shares; more : models that are listed on request */
export interface ModelsData {
  title: string;
  about: string;
  axis: [low: number, high: number];
  ticks: number[];
  models: Model[];
  more: Model[];
  meaning: Meaning | null;
  foot: string;
}
