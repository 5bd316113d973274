"""Which columns of a table of votes are what: by the names of crowd-kit, cleanlab, Toloka, Mechanical Turk and Appen.

crowd-kit: `task, worker, label` (before 1.0 `performer`); cleanlab: `task, annotator, label`; Toloka: `INPUT:*`,
`OUTPUT:*`, `GOLDEN:*`, `ASSIGNMENT:worker_id`, `ASSIGNMENT:started`, `ASSIGNMENT:status`; Mechanical Turk: `HITId`,
`WorkerId`, `Input.*`, `Answer.*`, `SubmitTime`, `AssignmentStatus`; Appen: `_unit_id`, `_worker_id`, `_created_at`,
and the question, which has a second column that ends in `_gold`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from plcore.tables.formats.disambiguated import DECIDING

_PLAIN_TASKS = ("task", "task_id", "taskid", "_unit_id", "unit_id", "hitid", "hit_id")
_ROW_NAMES = (
    "item",
    "item_id",
    "id",
    "row",
    "row_id",
    "example_id",
    "instance_id",
    "question_id",
    "document_id",
    "object",
)
_WORKERS = (
    "worker", "worker_id", "workerid", "_worker_id", "performer", "performer_id", "annotator", "annotator_id",
    "assignment:worker_id", "rater", "rater_id", "coder", "labeler", "labeller", "user", "user_id", "person",
)  # fmt: skip
_LABELS = ("label", "vote", "answer", "response", "choice", "annotation")
_GOLD = ("gold", "gold_label", "golden", "truth", "true_label", "ground_truth")
_TIMES = (
    "timestamp",
    "time",
    "at",
    "created_at",
    "_created_at",
    "submitted_at",
    "submittime",
    "assignment:started",
)
_STATUS = ("assignment:status", "assignmentstatus")
_KINDS = ("", *DECIDING, "unsure", "skip")
"""What stands in the column `kind` of votes that were written here; other tables call something of their own so."""
_OTHERS = (
    "seconds", "model_version", "assignment:link", "assignment:assignment_id", "assignment:task_id", "status",
)  # fmt: skip


@dataclass(frozen=True)
class VoteColumns:
    """Columns by their names in the file.

    `task` is None where the tasks have no names but `inputs` that are the same for every vote on one of them. `kind`
    says of each line whether it names a label (`plcore.tables.formats.disambiguated.VOTES`).
    """

    task: str | None
    inputs: tuple[str, ...]
    worker: str
    label: str
    gold: str | None = None
    time: str | None = None
    weight: str | None = None
    status: str | None = None
    kind: str | None = None
    about_votes: tuple[str, ...] = ()

    @property
    def taken(self) -> set[str]:
        """All columns that say something about a vote and not about a task."""
        single = (
            self.task,
            self.worker,
            self.label,
            self.gold,
            self.time,
            self.weight,
            self.status,
            self.kind,
        )
        return {name for name in single if name is not None} | set(self.about_votes)


def vote_columns(cells: pd.DataFrame) -> VoteColumns | None:
    """The columns of a table with a vote a row; None where it seems to be another table.

    Names that any table may have (`id, user, label`) are only taken where the ids repeat, as those of tasks do.
    """
    names = [str(name) for name in cells.columns]
    low = {name.strip().lower(): name for name in reversed(names)}

    def first(options: Sequence[str]) -> str | None:
        return next((low[option] for option in options if option in low), None)

    worker = first(_WORKERS)
    label, gold = _question(names, low)
    if worker is None or label is None or worker == label:
        return None
    inputs = tuple(name for name in names if name.lower().startswith(("input:", "input.")))
    task = first(_PLAIN_TASKS)
    if task is None and not inputs:
        task = first(_ROW_NAMES)
        if task is None or not bool(cells[task].duplicated().any()):
            return None
    about = tuple(low[name] for name in _OTHERS if name in low)
    kind = low.get("kind")
    own_kinds = kind is not None and bool(cells[kind].str.strip().isin(_KINDS).all())
    appen = tuple(name for name in names if name.startswith("_")) if "_unit_id" in low else ()
    turk: tuple[str, ...] = ()
    if "hitid" in low and "assignmentstatus" in low:
        turk = tuple(name for name in names if not name.lower().startswith("input."))
    return VoteColumns(
        task,
        inputs,
        worker,
        label,
        gold or first(_GOLD),
        first(_TIMES),
        first(("weight",)),
        first(_STATUS),
        kind if own_kinds else None,
        (*about, *appen, *turk),
    )


def _question(names: list[str], low: dict[str, str]) -> tuple[str | None, str | None]:
    """The column with the label voted, and the one with the right label, where its name follows from the first.

    None where there is none, or several of Toloka's or Mechanical Turk's: which one is meant nobody can tell.
    """
    outputs = [name for name in names if name.lower().startswith(("output:", "answer."))]
    if outputs:
        if len(outputs) > 1:
            return None, None
        return outputs[0], low.get("golden:" + outputs[0][len("output:") :].lower())
    if "_unit_id" in low:
        pairs = [name for name in names if f"{name.strip().lower()}_gold" in low]
        if len(pairs) == 1:
            return pairs[0], low[f"{pairs[0].strip().lower()}_gold"]
    return next(((low[name], None) for name in _LABELS if name in low), (None, None))
