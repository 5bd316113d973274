"""How a learner of label vectors learns and asks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from plcore.arrays.types import check_choice, check_int, check_names, check_share, is_real, is_whole
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
"""Name of this kind of project in stored settings; it never changes, for projects are stored under it."""
FOLDS = ("latest", "majority")
"""Rules by which several people's answers to a label of a row become one (`.several`)."""

MODES = ("paper", "fast")
MISSING = ("block", "zero")
MOST_COMPONENTS = 64
"""Components by default: beyond, an answer is felt, and precision gains little (`benchmarks`, Corel5k at K = 0.25
L)."""

LEAST_COMPONENTS = 8


@dataclass(frozen=True)
class LabelVectorSettings(OverlapSettings):
    """How a learner learns and asks; plain JSON values. Raises ValueError naming the setting that is wrong.

    kind : "multilabel", always: the word under which settings of label vectors are stored
    model : one of `PREDICTOR_ENTRIES`, what predicts: "automatic", "bmlcs" or "onevsall"
    question : one of `QUESTION_ENTRIES`: "instance" (all labels of a row), "diagnosis" (one label of each row in turn,
        the most useful one of it) or "cell" (the most useful label of any row)
    criterion : one of `CRITERION_ENTRIES`: "entropy", "variance", "information" or "random"; None: the one that the
        kind of question has by default
    n_components : K of BML-CS, an int, or a share of the labels; None: half of them, at least 8 (or all, where
        there are fewer) and at most 64
    mode, missing : as `BMLCSClassifier`
    max_iter : as there. With more than 1, what is believed of cells that were not asked shrinks towards a sure no; it
        shrinks more where fewer cells are known
    test_share : share in [0, 1) of the rows whose vector is fully known at import that is held out
    control_share : share in [0, 1) of the cells not known at import, and of the questions, that are blind checks;
        with question "instance", of the rows (see `LabelVectorPool`)
    seed : of the draws of test rows and controls, of Phi, and of the criterion "random"
    refresh_every : answers after which the model is to be refitted; each is applied at once, at rank one
    overlap, overlap_share, agree, checks_by_all, own_since : as `plcore.loop.standings.OverlapSettings`; people agree
        label by label
    fold : what several answers to a label of a row make of it: "latest", or "majority" (as imported if it is tied)
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
            raise ValueError(
                f"n_components must be None, an int of at least 1, or a share in (0, 1]. Got {K!r}."
            )

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> LabelVectorSettings:
        """The settings that `to_json` gave, with `kind` or without; without `model`, as they were stored before there
        was a choice, BML-CS; what else is missing is as by default. Raises ValueError."""
        check_names("setting", stored, cls.__dataclass_fields__)
        return cls(**{"model": BMLCS, **stored})

    def to_json(self) -> dict[str, object]:
        """Plain values for `json.dumps`."""
        return asdict(self)

    @property
    def model_key(self) -> str:
        """Key of a model and its curve points, in addition to the project: all settings.

        Its text may never change, for stored projects have it: it is made of the JSON of all settings, `kind` among
        them, and begins with the word that the kind had first. `model` came later, so that BML-CS is left out; so did
        several people at a question, who change it if there are some.
        """
        chosen = {name: value for name, value in self.to_json().items() if (name, value) != ("model", BMLCS)}
        for name in OverlapSettings.__annotations__:
            chosen.pop(name)
        text = json.dumps(chosen, sort_keys=True) + (repr(self.overlap_parts) if self.several else "")
        return f"{KIND}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"

    @property
    def model_in_force(self) -> str:
        """The name of the model; which of two predicts under "automatic" is found with each fit."""
        return self.model

    @property
    def is_automatic(self) -> bool:
        """Whether comparisons choose the model: never."""
        return False

    @property
    def question_entry(self) -> QuestionEntry:
        """The registry entry of the kind of question."""
        return QUESTION_ENTRIES[self.question]

    @property
    def proves_done(self) -> bool:
        """Whether "settled" is a proof about predictions: nothing is proved of label vectors."""
        return False

    @property
    def by_row(self) -> bool:
        """Whether a question is about a whole row, not about one label of it."""
        return self.question_entry.by_row

    @property
    def asked_by(self) -> str:
        """The criterion in use."""
        return self.criterion or self.question_entry.criterion

    def components(self, L: int) -> float:
        """Value of n_components of `BMLCSClassifier` for L labels."""
        if self.n_components is not None:
            # Beyond L the projection is orthonormal already: more would cost memory and add nothing.
            return min(self.n_components, L)
        return min(max(L // 2, min(L, LEAST_COMPONENTS)), MOST_COMPONENTS)
