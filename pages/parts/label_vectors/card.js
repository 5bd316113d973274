// @ts-check
// The question card of label vectors: all labels of a row, or one of them.

import { questionCard } from "../card/card.js";
import { cell } from "./cell.js";
import { labels } from "./labels.js";

export default questionCard({ cell, labels });
