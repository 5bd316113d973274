"""How a learner of label vectors learns and asks."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from numbers import Integral, Real
from typing import Any

from plcore.common.checks import check_choice

KIND = "multilabel"
QUESTIONS = {"instance": "instance", "diagnosis": "label", "cell": "pair"}
"""What is asked, and what `plcore.sensing.information` calls it."""

CRITERIA = ("entropy", "variance", "information", "random")
MODES = ("paper", "fast")
MISSING = ("block", "zero")
MOST_COMPONENTS = 64
"""Components by default: beyond, an answer is felt, and precision gains little (`benchmarks`, Corel5k at K = .25 L)."""

LEAST_COMPONENTS = 8


@dataclass(frozen=True)
class LabelVectorSettings:
    """Plain JSON values. Raises ValueError naming the setting that is wrong.

    kind : "multilabel", always
    question : "instance" (all labels of a row), "diagnosis" (one label of each row in turn, the most useful one of
        it) or "cell" (the most useful label of any row)
    criterion : "entropy", "variance", "information" or "random"; None: variance for instances, information for
        labels
    n_components : K of BML-CS, an int, or a share of the labels; None: half of them, at least 8 (or all, where
        there are fewer) and at most 64
    mode, missing : as `BMLCSClassifier`      max_iter : as there; more than 1 shrinks what is believed of cells not
        asked towards a sure no, the more the fewer cells are known
    test_share : share in [0, 1) of the rows whose vector is fully known at import that is held out
    control_share : share in [0, 1) of the cells not known at import, and of the questions, that are blind controls;
        in question "instance" of the rows (see `LabelVectorPool`)
    seed : of the draws of test rows and controls, of Phi, and of the criterion "random"
    refresh_every : answers after which the model is to be fitted anew; between, each is taken in at rank one
    """

    kind: str = KIND
    question: str = "cell"
    criterion: str | None = None
    n_components: float | None = None
    max_iter: int = 1
    mode: str = "paper"
    missing: str = "block"
    test_share: float = 1 / 3
    control_share: float = 0.0
    seed: int = 0
    refresh_every: int = 10

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, (KIND,))
        check_choice("question", self.question, tuple(QUESTIONS))
        if self.criterion is not None:
            check_choice("criterion", self.criterion, CRITERIA)
        check_choice("mode", self.mode, MODES)
        check_choice("missing", self.missing, MISSING)
        for name, least in (("seed", 0), ("max_iter", 1), ("refresh_every", 1)):
            value = getattr(self, name)
            if not _is_whole(value) or value < least:
                raise ValueError(f"{name} must be an int of at least {least}. Got {value!r}.")
        for name in ("test_share", "control_share"):
            value = getattr(self, name)
            if not _is_real(value) or not 0 <= float(value) < 1:
                raise ValueError(f"{name} must be a number in [0, 1). Got {value!r}.")
        K = self.n_components
        if K is not None and not (_is_whole(K) and K >= 1) and not (_is_real(K) and 0 < K <= 1):
            raise ValueError(
                f"n_components must be None, an int of at least 1, or a share in (0, 1]. Got {K!r}."
            )

    @property
    def by_row(self) -> bool:
        """Whether a question is about a whole row, not about one label of it."""
        return self.question == "instance"

    @property
    def asked_by(self) -> str:
        """The criterion in use."""
        return self.criterion or ("variance" if self.by_row else "information")

    def components(self, L: int) -> float:
        """What `BMLCSClassifier` is given as n_components for L labels."""
        if self.n_components is not None:
            # Beyond L the projection is orthonormal already: more would cost memory and add nothing.
            return min(self.n_components, L)
        return min(max(L // 2, min(L, LEAST_COMPONENTS)), MOST_COMPONENTS)

    def to_json(self) -> dict[str, Any]:
        """A plain dict; `LabelVectorSettings(**data)` reads it."""
        return asdict(self)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
