// @ts-check
// The question card of projects with one label per row.

import { questionCard } from "../card/card.js";
import { qualifying } from "../card/question.js";
import { batch } from "./batch.js";
import { candidates } from "./candidates.js";
import { dispute } from "./dispute.js";

export default questionCard({ candidates, qualifying, dispute, batch });
