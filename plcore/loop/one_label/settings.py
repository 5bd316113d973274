"""Settings of a learner for one true label among candidates."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from plcore.arrays.checks import check_choice, check_int, check_names, check_share, is_real
from plcore.arrays.types import BOTH, FEATURE_SETS
from plcore.loop.registry import DEFAULT_MODEL, ModelEntry, Upkeep, check_model, find_model
from plcore.loop.standings import OverlapSettings
from plcore.neighbors.graph import WEIGHTS
from plcore.query.registry import STRATEGY_ENTRIES, Need, StrategyEntry, StrategyKind, check_strategy

FOLDS = ("latest", "majority", "intersection", "dawid-skene")
"""Rules that merge several people's answers into the candidates of a row (`.several`)."""

TRUTH_ROLES = ("hidden", "given")

AUTOMATIC = "automatic"
"""Setting of the model: models are compared from time to time, and the best is adopted (`.comparing`). Setting of the
strategy: the one that suits the current model, by its entry.
"""


@dataclass(frozen=True)
class LearnerSettings(OverlapSettings):
    """Settings of a learner as plain JSON values. Raises ValueError naming the setting that is wrong.

    n_neighbors : K of PL-KNN and of the effect scores, including the row itself
    weights : "linear" or "uniform"
    strategy : "automatic", the one that suits the model, or one of `plcore.query.STRATEGY_ENTRIES`: an effect rule
        "apl", "mw" or "pl" (exact, by search); a baseline "random", "mp" or "act"; "margin" (the smallest margin
        between two candidates); "moves" (the answers that would change a kernel ridge most; "margin" for other models);
        or "cover" (the first rows represent many others, then as "automatic"). A plug-in's strategy acts as "automatic"
        while the plug-in is missing, and with models that are not trained in the background
    by_source : whether all open rows of a source, such as a photo, are asked about one after the other, in table order;
        the source with the highest mean score comes next. No effect without a column of sources
    test_share : share in [0, 1) of the rows with a true label that is held out to measure accuracy
    truth_role : use of the other true labels: "hidden" (never used), "given" (exact labels to train on)
    seed : seed of the draws of test rows and control rows, and of the strategy's draws
    model : one of `plcore.loop.MODEL_ENTRIES`, or "automatic": the model adopted last. The name of a plug-in's model is
        allowed even if the plug-in is not there, so that a project can be opened without it
    adopted : the current model while `model` is "automatic"; the first one answers at once and needs no comparison
    features : one of `plcore.arrays.types.FEATURE_SETS`, or "automatic": the features adopted last
    adopted_features : the current features while `features` is "automatic"; both sets are the safe start
    C : parameter C of the current model, under the name in its entry, if it has one. None: its default
    train_every, train_seconds : a model trained in the background is retrained after this many answers, or this many
        seconds after an answer, whichever is first
    control_share : share in [0, 1) of the rows, and of the questions, that are blind checks (see `.pool`)
    overlap, overlap_share, agree, checks_by_all, own_since : as in `plcore.loop.standings.OverlapSettings`
    fold : rule that merges several answers to a row: "latest", "majority" (the labels that most allow), "intersection"
        (the labels that all allow; if there are none, those that anyone allows), "dawid-skene" (a model of the
        annotators)
    """

    n_neighbors: int = 10
    weights: str = "linear"
    strategy: str = AUTOMATIC
    test_share: float = 1 / 3
    truth_role: str = "hidden"
    seed: int = 0
    model: str = DEFAULT_MODEL
    adopted: str = DEFAULT_MODEL
    C: float | None = None
    train_every: int = 5
    train_seconds: float = 2.0
    control_share: float = 0.0
    overlap: int = 1
    overlap_share: float = 1.0
    agree: int | None = None
    checks_by_all: bool = False
    fold: str = "latest"
    own_since: int | None = None
    features: str = AUTOMATIC
    adopted_features: str = BOTH
    by_source: bool = False

    def __post_init__(self) -> None:
        check_choice("weights", self.weights, WEIGHTS)
        check_strategy("strategy", self.strategy, AUTOMATIC)
        check_model("model", self.model, AUTOMATIC)
        check_model("adopted", self.adopted)
        check_choice("features", self.features, (AUTOMATIC, *FEATURE_SETS))
        check_choice("adopted_features", self.adopted_features, FEATURE_SETS)
        check_choice("truth_role", self.truth_role, TRUTH_ROLES)
        if not isinstance(self.by_source, bool):
            raise ValueError(f"by_source must be True or False. Got {self.by_source!r}.")
        check_int("n_neighbors", self.n_neighbors, 1)
        check_int("seed", self.seed, 0)
        check_int("train_every", self.train_every, 1)
        check_share("test_share", self.test_share)
        check_share("control_share", self.control_share)
        self.check_overlap(FOLDS)
        if not is_real(self.train_seconds) or not 0 <= self.train_seconds < np.inf:
            raise ValueError(f"train_seconds must be a number of at least 0. Got {self.train_seconds!r}.")
        if self.C is not None and (not is_real(self.C) or not 0 < self.C < np.inf):
            raise ValueError(f"C must be None or a number above 0. Got {self.C!r}.")

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> LearnerSettings:
        """Restore the settings from `to_json`; missing ones get their defaults, except the strategy, whose default was
        "apl" then. Raises ValueError."""
        check_names("setting", stored, cls.__dataclass_fields__)
        return cls(**{"strategy": "apl", **stored})

    def to_json(self) -> dict[str, object]:
        """Return plain values for `json.dumps`."""
        return asdict(self)

    @property
    def is_automatic(self) -> bool:
        """Return whether the model is chosen by comparisons."""
        return self.model == AUTOMATIC

    @property
    def model_in_force(self) -> str:
        """Return the name of the model in use."""
        return self.adopted if self.is_automatic else self.model

    def adopting(self, model: str, C: float | None = None) -> LearnerSettings:
        """Return these settings with this model adopted, still chosen by comparisons. Raises ValueError."""
        return replace(self, model=AUTOMATIC, adopted=model, C=C)

    @property
    def features_in_force(self) -> str:
        """Return the current features of models, one of `FEATURE_SETS`."""
        return self.adopted_features if self.features == AUTOMATIC else self.features

    @property
    def model_entry(self) -> ModelEntry:
        """Return the registry entry of the current model."""
        return find_model(self.model_in_force)

    @property
    def opening_entry(self) -> StrategyEntry | None:
        """Return the registry entry of the strategy for the first questions, if it is a different one."""
        entry = STRATEGY_ENTRIES.get(self.strategy)
        return entry if entry is not None and entry.kind is StrategyKind.OPENING else None

    @property
    def strategy_entry(self) -> StrategyEntry:
        """Return the registry entry of the strategy after the first questions."""
        suits = STRATEGY_ENTRIES[self.model_entry.strategy]
        entry = suits if self.opening_entry is not None else STRATEGY_ENTRIES.get(self.strategy, suits)
        if entry.needs is Need.ORDER and not self.is_trained:
            return suits
        if entry.needs is Need.EFFECTS and not self.model_entry.relabels:
            return STRATEGY_ENTRIES["margin"]
        return entry

    @property
    def by_votes(self) -> bool:
        """Return whether the model or the strategy uses neighbour votes."""
        return self.strategy_entry.needs is Need.GRAPH or self.model_entry.upkeep is Upkeep.VOTES

    @property
    def needs_graph(self) -> bool:
        """Return whether the neighbours of the rows are needed."""
        return self.by_votes or self.opening_entry is not None

    @property
    def by_row(self) -> bool:
        """Return whether a question is about a whole row: always."""
        return True

    @property
    def is_trained(self) -> bool:
        """Return whether the model is trained as a whole, in the background."""
        return self.model_entry.upkeep is Upkeep.TRAINED

    @property
    def is_online(self) -> bool:
        """Return whether the model makes one learning step per answer."""
        return self.model_entry.upkeep is Upkeep.ONLINE

    @property
    def proves_done(self) -> bool:
        """Return whether "settled" is a proof about the model's predictions; otherwise it is the share of decided
        rows."""
        return self.model_entry.proves_done

    @property
    def model_key(self) -> str:
        """Return a key for the inputs of a trained model other than table and log, as part of a file name."""
        drawn = float(self.test_share).hex(), float(self.control_share).hex()
        parts: tuple[object, ...] = (
            self.model_in_force,
            None if self.C is None else float(self.C),
            *drawn,
            self.truth_role,
            self.seed,
        )
        parts += self.overlap_parts
        if self.features_in_force != BOTH:
            parts += (self.features_in_force,)
        if self.model_entry.source:  # another version of a plug-in is another model
            parts += (self.model_entry.source,)
        if self.strategy_entry.needs is Need.ORDER:  # versions bring its scores
            parts += (self.strategy_entry.logged,)
        return f"{self.model_in_force}-{hashlib.sha256(repr(parts).encode()).hexdigest()[:16]}"
