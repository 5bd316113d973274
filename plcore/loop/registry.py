"""The models for projects with one true label, in the order users see them, the default first.

A new model is a scikit-learn classifier and an entry in `MODEL_ENTRIES`, which settings, learner, forms and tests read.
`docs/first-change.md` names the few other places. The registry of strategies is `plcore.query.registry`, that of label
vectors `plcore.loop.label_vectors.registry`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sklearn.base import BaseEstimator

from plcore.arrays.checks import check_choice
from plcore.arrays.plugins import PREFIX, Plugin
from plcore.baselines.declared import ModelPlugin, model_plugins
from plcore.baselines.plugged import PluggedClassifier
from plcore.kernel import PLKernelRidge
from plcore.margin import PLSVC, CLPLClassifier, LMPlaneClassifier, M3PLClassifier
from plcore.neighbors.classifier import PLKNeighborsClassifier
from plcore.online import PLPegasos, PLPerceptron
from plcore.trees import PLForest


class Upkeep(StrEnum):
    """How a model is kept up to date while answers come in."""

    VOTES = "at once"
    """Integer votes of the neighbours, updated at once by each answer."""
    ONLINE = "online"
    """One learning step per answer, at once."""
    TRAINED = "trained"
    """Full refits in the background: a refit after every answer would take too long."""


@dataclass(frozen=True)
class ModelEntry:
    """A model: its name in stored settings, its description for users, and the properties that the loop needs.

    estimator : its class
    options : its parameters in a project. Trained models are fitted between two answers: their options reach nearly the
        same objective as the defaults in about half the time
    c_option : the parameter set by the setting C, None if there is none      c_inverse : the parameter is set to 1 / C
    seeded : whether it draws at random; it then gets the seed of the project
    proves_done : whether "settled" is proved about its predictions; otherwise it is the share of decided rows
    uses_scores : whether its `fit` takes prior weights of the candidates (`candidate_weights`)
    relabels : whether a fitted model can take new candidates of its rows in a few rounds (`relabel`). Learners then use
        first updates to follow answers and to estimate how much an answer would change the model
    uses_sources : whether its `fit` takes the source of each row (`groups`)
    leaves_out : whether its prediction for a training row uses the other rows only, so that held-out accuracy applies
        to training rows too
    strategy : meaning of the strategy "automatic" for this model
    plain : description in two words for users who do not know the method; "": none
    source : distribution and version of the plug-in that declares it; "": it is one of ours
    """

    name: str
    words: str
    estimator: Callable[..., BaseEstimator]
    upkeep: Upkeep
    options: Mapping[str, object] = field(default_factory=dict)
    c_option: str | None = None
    c_inverse: bool = False
    seeded: bool = False
    proves_done: bool = False
    uses_scores: bool = False
    relabels: bool = False
    uses_sources: bool = False
    leaves_out: bool = False
    strategy: str = "margin"
    plain: str = ""
    source: str = ""

    @property
    def weighs_candidates(self) -> bool:
        """Whether a project's model learns from the weights of its table's candidates.

        Votes updated by each answer count all candidates alike: the proofs of settled rows and the effect scores depend
        on it."""
        return self.uses_scores and self.upkeep is not Upkeep.VOTES

    def make(self, C: float | None = None, seed: int = 0) -> BaseEstimator:
        """Return an unfitted estimator.

        C : the setting C, if the model has one; None: its default
        """
        options = dict(self.options)
        if self.c_option is not None and C is not None:
            options[self.c_option] = 1.0 / float(C) if self.c_inverse else float(C)
        if self.seeded:
            options["random_state"] = seed
        return self.estimator(**options)


def _perceptron(loss: str) -> ModelEntry:
    """Return the entry of a perceptron. It predicts with the mean of its iterates; its step depends on the scale of the
    features."""
    return ModelEntry(
        name=f"perceptron-{loss}",
        words=f"Perceptron ({loss}): learns from each answer at once",
        plain="Fast linear",
        estimator=PLPerceptron,
        upkeep=Upkeep.ONLINE,
        options={"loss": loss, "average": True, "eta0": "auto"},
        seeded=True,
    )


def _pegasos(loss: str) -> ModelEntry:
    """Return the entry of a Pegasos model. Unless C is given, its regularisation depends on the scale of the
    features."""
    return ModelEntry(
        name=f"pegasos-{loss}",
        words=f"Pegasos ({loss}): keeps a margin, learns from each answer at once",
        plain="Fast margin",
        estimator=PLPegasos,
        upkeep=Upkeep.ONLINE,
        options={"loss": loss},
        c_option="alpha",
        c_inverse=True,
        seeded=True,
    )


def _plugged(name: str, words: str, reference: str, plain: str = "", source: str = "") -> ModelEntry:
    """Return the entry of a model of a plug-in. name : that of its entry point"""
    return ModelEntry(
        name=PREFIX + name,
        words=words,
        plain=plain,
        estimator=PluggedClassifier,
        upkeep=Upkeep.TRAINED,
        options={"reference": reference},
        seeded=True,
        uses_scores=True,
        source=source,
    )


def plugged_entry(plugin: Plugin[ModelPlugin], declared: ModelPlugin) -> ModelEntry:
    """Return the entry of a plug-in, in whose description its distribution and version are named."""
    words = f"{declared.words} ({plugin.source}), trained in the background"
    return _plugged(plugin.name, words, declared.classifier, declared.plain, plugin.source)


MODEL_ENTRIES: dict[str, ModelEntry] = {
    entry.name: entry
    for entry in (
        ModelEntry(
            name="plknn",
            words="PL-KNN: similar rows vote, learns from each answer at once",
            plain="Nearest rows",
            estimator=PLKNeighborsClassifier,
            upkeep=Upkeep.VOTES,
            proves_done=True,
            uses_scores=True,
            leaves_out=True,
            strategy="apl",
        ),
        ModelEntry(
            name="plsvc",
            words="PL-SVM: the best candidate against the best other class, trained in the background",
            plain="Largest margin",
            estimator=PLSVC,
            upkeep=Upkeep.TRAINED,
            options={"tol": 1e-2},
            c_option="C",
        ),
        ModelEntry(
            name="lmplane",
            words="LM-PLANE: every candidate counts by its likelihood, trained in the background",
            plain="Weighted margin",
            estimator=LMPlaneClassifier,
            upkeep=Upkeep.TRAINED,
            options={"solver": "mm", "tol": 1e-2},
            c_option="C",
            uses_scores=True,
        ),
        ModelEntry(
            name="m3pl",
            words="M3PL: predicts each class as often as it occurs, trained in the background",
            plain="Balanced margin",
            estimator=M3PLClassifier,
            upkeep=Upkeep.TRAINED,
            options={"tol": 5e-2},
            c_option="C_max",
        ),
        ModelEntry(
            name="clpl",
            words="CLPL: the mean of the candidates against every other class, trained in the background",
            plain="Average loss",
            estimator=CLPLClassifier,
            upkeep=Upkeep.TRAINED,
            c_option="C",
        ),
        ModelEntry(
            name="kernelridge",
            words="Kernel ridge: refines the likelihood of each candidate, trained in the background",
            plain="Kernel regression",
            estimator=PLKernelRidge,
            upkeep=Upkeep.TRAINED,
            seeded=True,
            uses_scores=True,
            relabels=True,
            uses_sources=True,
            leaves_out=True,
        ),
        ModelEntry(
            name="forest",
            words="Forest: many trees, for features of mixed kinds, trained in the background",
            plain="Decision trees",
            estimator=PLForest,
            upkeep=Upkeep.TRAINED,
            options={"n_estimators": 100},
            seeded=True,
            uses_scores=True,
            uses_sources=True,
        ),
        _perceptron("average"),
        _perceptron("max"),
        _pegasos("average"),
        _pegasos("max"),
        *(plugged_entry(one, one.declared) for one in model_plugins() if one.declared is not None),
    )
}
"""Every model by its name in stored settings: ours, then those of plug-ins."""


def find_model(name: str) -> ModelEntry:
    """Return the entry of a stored name. The entry of a missing plug-in raises an error when it is fitted.

    Raises KeyError for other unknown names.
    """
    if name not in MODEL_ENTRIES and name.startswith(PREFIX):
        return _plugged(name.removeprefix(PREFIX), f"{name}: a plug-in that is not there", "")
    return MODEL_ENTRIES[name]


def check_model(setting: str, name: str, *others: str) -> None:
    """Raise ValueError naming the setting if this is neither a model, nor one that a plug-in had, nor one of the
    others."""
    if not (isinstance(name, str) and name.startswith(PREFIX)):
        check_choice(setting, name, (*others, *MODEL_ENTRIES))


DEFAULT_MODEL = next(iter(MODEL_ENTRIES))
