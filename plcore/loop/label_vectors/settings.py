"""Settings of a learner of label vectors."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from plcore.arrays.checks import check_choice, check_int, check_names, check_share, is_real, is_whole
from plcore.loop.label_vectors.registry import (
    AUTOMATIC,
    BMLCS,
    CRITERION_ENTRIES,
    DEFAULT_QUESTION,
    PREDICTOR_ENTRIES,
    QUESTION_ENTRIES,
    QuestionEntry,
)
from plcore.loop.standings import OverlapSettings

KIND = "multilabel"
"""Name of this kind of project in stored settings. It never changes, since stored projects have it."""
FOLDS = ("latest", "majority")
"""Rules that merge several people's answers to a label of a row (`.pool`)."""

MODES = ("paper", "fast")
MISSING = ("block", "zero")
MOST_COMPONENTS = 64
"""Default maximum of components: with more, an answer takes noticeable time, and precision gains little (`benchmarks`,
Corel5k at K = 0.25 L)."""

LEAST_COMPONENTS = 8


@dataclass(frozen=True)
class LabelVectorSettings(OverlapSettings):
    """Settings of a learner as plain JSON values. Raises ValueError naming the setting that is wrong.

    kind : always "multilabel", the name under which settings of label vectors are stored
    model : the model that predicts, one of `PREDICTOR_ENTRIES`: "automatic", "bmlcs" or "onevsall"
    question : one of `QUESTION_ENTRIES`: "instance" (all labels of a row), "diagnosis" (the most useful label of each
        row in turn) or "cell" (the most useful label of any row)
    criterion : one of `CRITERION_ENTRIES`: "entropy", "variance", "information" or "random"; None: the default of the
        question type
    n_components : K of BML-CS, an int, or a share of the labels; None: half of them, at least 8 (or all, if there are
        fewer) and at most 64
    mode, missing : as in `BMLCSClassifier`
    max_iter : as in `BMLCSClassifier`. With more than 1, beliefs about unasked cells shrink towards a certain no, more
        so the fewer cells are known
    test_share : share in [0, 1) of the rows with a fully known vector at import that is held out
    control_share : share in [0, 1) of the cells not known at import, and of the questions, that are blind checks; with
        question "instance", of the rows (see `LabelVectorPool`)
    seed : seed of the draws of test rows and controls, of Phi, and of the criterion "random"
    refresh_every : number of answers after which the model is refitted; each answer is also applied at once, as a
        rank-one update
    overlap, overlap_share, agree, checks_by_all, own_since : as in `plcore.loop.standings.OverlapSettings`; agreement
        is counted per label
    fold : rule that merges several answers to a label of a row: "latest", or "majority" (as imported in case of a tie)
    """

    kind: str = KIND
    model: str = AUTOMATIC
    question: str = DEFAULT_QUESTION
    criterion: str | None = None
    n_components: float | None = None
    max_iter: int = 1
    mode: str = "paper"
    missing: str = "block"
    test_share: float = 1 / 3
    control_share: float = 0.0
    seed: int = 0
    refresh_every: int = 10
    overlap: int = 1
    overlap_share: float = 1.0
    agree: int | None = None
    checks_by_all: bool = False
    fold: str = "latest"
    own_since: int | None = None

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, (KIND,))
        check_choice("model", self.model, tuple(PREDICTOR_ENTRIES))
        check_choice("question", self.question, tuple(QUESTION_ENTRIES))
        if self.criterion is not None:
            check_choice("criterion", self.criterion, tuple(CRITERION_ENTRIES))
        check_choice("mode", self.mode, MODES)
        check_choice("missing", self.missing, MISSING)
        check_int("seed", self.seed, 0)
        check_int("max_iter", self.max_iter, 1)
        check_int("refresh_every", self.refresh_every, 1)
        check_share("test_share", self.test_share)
        check_share("control_share", self.control_share)
        self.check_overlap(FOLDS)
        K = self.n_components
        if K is not None and not (is_whole(K) and K >= 1) and not (is_real(K) and 0 < K <= 1):
            raise ValueError(f"n_components must be None, an int of at least 1, or a share in (0, 1]. Got {K!r}.")

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> LabelVectorSettings:
        """Restore the settings from `to_json`, with or without `kind`.

        Without `model`, as in settings stored before there was a choice, it is BML-CS. Other missing settings get their
        defaults. Raises ValueError."""
        check_names("setting", stored, cls.__dataclass_fields__)
        return cls(**{"model": BMLCS, **stored})

    def to_json(self) -> dict[str, object]:
        """Return plain values for `json.dumps`."""
        return asdict(self)

    @property
    def model_key(self) -> str:
        """Return the key of a model and its curve points within the project: all settings.

        Its text may never change, since stored projects have it. It is the kind and a hash of the JSON of all settings.
        `model` and the settings for independent answers came later, so they are left out if they have their defaults.
        """
        chosen = {name: value for name, value in self.to_json().items() if (name, value) != ("model", BMLCS)}
        for name in OverlapSettings.__annotations__:
            chosen.pop(name)
        text = json.dumps(chosen, sort_keys=True) + (repr(self.overlap_parts) if self.several else "")
        return f"{KIND}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"

    @property
    def model_in_force(self) -> str:
        """Return the name of the model. Under "automatic" each fit decides which of the two predicts."""
        return self.model

    @property
    def is_automatic(self) -> bool:
        """Return whether comparisons choose the model: never."""
        return False

    @property
    def question_entry(self) -> QuestionEntry:
        """Return the registry entry of the question type."""
        return QUESTION_ENTRIES[self.question]

    @property
    def proves_done(self) -> bool:
        """Return whether "settled" is a proof about predictions: never for label vectors."""
        return False

    @property
    def by_row(self) -> bool:
        """Return whether a question is about a whole row, not about one label of it."""
        return self.question_entry.by_row

    @property
    def asked_by(self) -> str:
        """Return the criterion in use."""
        return self.criterion or self.question_entry.criterion

    def components(self, L: int) -> float:
        """Return the value of n_components of `BMLCSClassifier` for L labels."""
        if self.n_components is not None:
            # With L components the projection is already orthonormal: more would cost memory and add nothing.
            return min(self.n_components, L)
        return min(max(L // 2, min(L, LEAST_COMPONENTS)), MOST_COMPONENTS)
