"""Models, strategies, questions and criteria are in registries: each entry works, and nothing else names them."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json

import numpy as np
import pytest
from sklearn.base import clone

from plcore import CLPLClassifier, LearnerSettings
from plcore.loop import MODEL_ENTRIES, Entry, ModelEntry, Upkeep
from plcore.loop.label_vectors import CRITERION_ENTRIES, QUESTION_ENTRIES, RANDOM, LabelVectorSettings
from plcore.loop.one_label import AUTOMATIC, ActiveLearner, Trainer
from plcore.query import STRATEGIES, STRATEGY_ENTRIES, Need, StrategyKind, make_strategy
from plcore.query.effects import RULES
from plcore.sensing import information
from tests.conftest import ROOT
from tests.plcore.loop.fake_table import blobs

REGISTRIES = (MODEL_ENTRIES, STRATEGY_ENTRIES, QUESTION_ENTRIES, CRITERION_ENTRIES)


@pytest.mark.parametrize("registry", REGISTRIES)
def test_every_entry_is_under_its_name_and_has_its_own_text(registry):
    assert registry
    for name, entry in registry.items():
        assert entry.name == name
        assert entry.words == entry.words.strip() != ""
        assert "\n" not in entry.words
        assert getattr(entry, "why", "said elsewhere").strip()
    assert len({entry.words for entry in registry.values()}) == len(registry)


def refused(settings, name):
    """The names that a setting takes, as the message about a wrong one lists them."""
    with pytest.raises(ValueError, match=f"{name} must be one of") as error:
        settings(**{name: "?"})
    listed = str(error.value).split("one of ")[1].split(". Got")[0]
    return [word.strip("'") for word in listed.split(", ")]


@pytest.mark.parametrize(
    ("settings", "name", "registry"),
    [
        (LearnerSettings, "model", MODEL_ENTRIES),
        (LearnerSettings, "strategy", STRATEGY_ENTRIES),
        (LabelVectorSettings, "question", QUESTION_ENTRIES),
        (LabelVectorSettings, "criterion", CRITERION_ENTRIES),
    ],
)
def test_settings_accept_exactly_the_names_in_the_registry(settings, name, registry):
    left_to_us = [AUTOMATIC] if name in ("strategy", "model") and settings is LearnerSettings else []
    assert refused(settings, name) == [*left_to_us, *registry]
    for entry in registry:
        assert getattr(settings(**{name: entry}), name) == entry
    default = {field.name: field.default for field in dataclasses.fields(settings)}[name]
    first = next(iter(registry if name == "model" else [*left_to_us, *registry]))
    assert default == (None if name == "criterion" else first)


@pytest.mark.parametrize("name", MODEL_ENTRIES)
def test_every_model_can_be_made_and_learns(name):
    table, y = blobs(n=60)
    entry = MODEL_ENTRIES[name]
    plain = entry.make(C=2.0, seed=1).fit(table.X, table.candidates)
    assert plain.score(table.X, y) > 0.5
    learner = ActiveLearner(table, LearnerSettings(model=name, strategy="random", n_neighbors=5))
    if entry.upkeep is Upkeep.TRAINED:
        version = Trainer(learner.pool).train()
        learner.publish(version.scores, [version.point])
    question = learner.next_question("ann")
    assert question.predicted in question.choices
    learner.apply(Entry(1, "is", question.row, "ann", (table.classes[y[question.row]],)))
    assert learner.progress().accuracy > 0.5
    assert (learner.model_version == 1) == (entry.upkeep is not Upkeep.TRAINED)
    assert (learner.curve[-1].progressive_error is not None) == (entry.upkeep is Upkeep.ONLINE)


@pytest.mark.parametrize("name", MODEL_ENTRIES)
def test_c_sets_the_option_named_by_the_entry(name):
    entry = MODEL_ENTRIES[name]
    one, other = (entry.make(C).get_params() for C in (4.0, 8.0))
    changed = {option for option in one if one[option] != other[option]}
    assert changed == ({entry.c_option} if entry.c_option else set())
    if entry.c_option:
        assert one[entry.c_option] == (0.25 if entry.c_inverse else 4.0)
        assert clone(entry.make()).get_params()[entry.c_option] != one[entry.c_option]


@pytest.mark.parametrize("name", MODEL_ENTRIES)
def test_settings_properties_match_the_model_entry(name):
    settings, entry = LearnerSettings(model=name), MODEL_ENTRIES[name]
    assert settings.is_trained == (entry.upkeep is Upkeep.TRAINED)
    assert settings.is_online == (entry.upkeep is Upkeep.ONLINE)
    assert settings.proves_done == entry.proves_done
    if entry.proves_done:  # the proof follows from the votes
        assert entry.upkeep is Upkeep.VOTES


def test_online_models_scale_steps_by_row_length():
    X, y = np.full((4, 3), 2.0), [0, 1, 0, 1]  # |x|^2 = 12
    assert MODEL_ENTRIES["perceptron-max"].make().fit(X, y).eta0_ == 1 / 12
    assert MODEL_ENTRIES["pegasos-max"].make().fit(X, y).alpha_ == 12 / 1000
    assert MODEL_ENTRIES["pegasos-average"].make(seed=5).random_state == 5
    assert MODEL_ENTRIES["perceptron-max"].make().fit(0 * X, y).eta0_ == 1.0
    for name in ("perceptron-average", "perceptron-max", "pegasos-average", "pegasos-max"):
        assert MODEL_ENTRIES[name].make().average


@pytest.mark.parametrize("name", MODEL_ENTRIES)
def test_model_uses_weights_only_if_its_entry_says_so(name):
    """Weights that favour the truth then make more rows correct."""
    entry = MODEL_ENTRIES[name]
    takes = "candidate_weights" in inspect.signature(entry.estimator.fit).parameters
    assert entry.uses_scores == takes
    if takes:
        table, y = blobs(n=120, q=0.95)
        sure = np.where(np.eye(4, dtype=bool)[y], 50.0, 1.0) * table.candidates
        told = entry.make().fit(table.X, table.candidates, candidate_weights=sure)
        even = entry.make().fit(table.X, table.candidates)
        assert (told.transduction_ == y).mean() > (even.transduction_ == y).mean() + 0.3


def test_only_models_without_a_proof_weigh_candidates():
    assert [entry.name for entry in MODEL_ENTRIES.values() if entry.weighs_candidates] == [
        "lmplane",
        "kernelridge",
        "forest",
    ]
    assert MODEL_ENTRIES["plknn"].uses_scores
    for entry in MODEL_ENTRIES.values():
        assert not (entry.weighs_candidates and entry.proves_done)


def test_new_model_is_one_class_and_one_entry(monkeypatch):
    entry = ModelEntry("toy", "Toy: for this test", CLPLClassifier, Upkeep.TRAINED, {"tol": 1e-1}, "C")
    monkeypatch.setitem(MODEL_ENTRIES, "toy", entry)
    table, _ = blobs(n=60)
    settings = LearnerSettings(model="toy", strategy="margin", C=3.0)
    assert settings.is_trained
    learner = ActiveLearner(table, settings)
    version = Trainer(learner.pool).train()
    learner.publish(version.scores, [version.point])
    assert learner.next_question("ann").predicted is not None


def test_model_names_appear_only_in_the_registry():
    """A stored name in any other file would be a place to forget when a model is added.

    The comparison of learners is a floor below and names them too: `test_learners.py` holds the two together.
    """
    named = {}
    for room in ("plcore", "workflow", "pages", "web", "cli.py", "app.py", "worker.py"):
        path = ROOT / room
        for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
            text = file.read_text()
            if not any(name in text for name in MODEL_ENTRIES):
                continue  # parsing every file takes seconds
            words = {
                node.value
                for node in ast.walk(ast.parse(text))
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            }
            if found := words & set(MODEL_ENTRIES):
                named[str(file.relative_to(ROOT))] = found
    assert set(named) == {"plcore/loop/registry.py", "plcore/evaluation/learners.py"}


@pytest.mark.parametrize("name", STRATEGY_ENTRIES)
def test_every_strategy_asks(name):
    table, y = blobs(n=60)
    model = "kernelridge" if STRATEGY_ENTRIES[name].needs is Need.EFFECTS else "plknn"
    learner = ActiveLearner(table, LearnerSettings(model=model, strategy=name, n_neighbors=5))
    asked = []
    for seq in range(1, 6):
        question = learner.next_question("ann")
        assert question.strategy == name
        assert learner.ranking()[0][0] == question.row
        asked.append(question.row)
        learner.apply(Entry(seq, "is", question.row, "ann", (table.classes[y[question.row]],)))
    assert len(set(asked)) == 5


def test_strategy_kinds_are_as_expected():
    by_kind = {kind: {n for n, e in STRATEGY_ENTRIES.items() if e.kind is kind} for kind in StrategyKind}
    assert by_kind[StrategyKind.RULE] == set(RULES)
    assert set(STRATEGIES) == by_kind[StrategyKind.RULE] | by_kind[StrategyKind.BASELINE]
    needs = {
        StrategyKind.RULE: {Need.GRAPH},
        StrategyKind.MODEL: {Need.MODEL, Need.EFFECTS},
        StrategyKind.OPENING: {Need.GRAPH},
    }
    for entry in STRATEGY_ENTRIES.values():
        assert entry.needs in needs.get(entry.kind, {None, Need.FEATURES})
    for name in STRATEGIES:
        assert isinstance(make_strategy(name), STRATEGY_ENTRIES[name].strategy)


def test_automatic_strategy_is_the_one_of_the_model():
    """APL with a linear learner is worse than random; where votes decide, it knows what they could become."""
    for name, entry in MODEL_ENTRIES.items():
        asked_by = LearnerSettings(model=name).strategy_entry
        assert asked_by.name == entry.strategy
        assert (asked_by.kind is StrategyKind.RULE) == (entry.upkeep is Upkeep.VOTES)
        assert asked_by.needs is not Need.EFFECTS or entry.relabels
        # Settings do not name a strategy that the model cannot use.
        moves = LearnerSettings(model=name, strategy="moves").strategy_entry.name
        assert moves == ("moves" if entry.relabels else "margin")
    assert LearnerSettings().strategy_entry.name == "apl"


def test_only_random_strategies_depend_on_the_seed():
    table, _ = blobs(n=80, truth="none")
    for name, entry in STRATEGY_ENTRIES.items():
        first = [ActiveLearner(table, LearnerSettings(strategy=name, seed=seed)).ranking()[0] for seed in (0, 1)]
        assert np.array_equal(*first) != entry.draws, name


def test_questions_and_criteria_match_the_sensing_package():
    assert {one.scored_as for one in QUESTION_ENTRIES.values()} == set(information.KINDS)
    assert set(CRITERION_ENTRIES) < set(information.CRITERIA)
    for entry in QUESTION_ENTRIES.values():
        assert entry.criterion == information.DEFAULTS[entry.scored_as]
        assert LabelVectorSettings(question=entry.name).asked_by == entry.criterion
        assert entry.by_row == LabelVectorSettings(question=entry.name).by_row
    assert [name for name, one in CRITERION_ENTRIES.items() if not one.needs_model] == [RANDOM]


# The settings of both kinds of project: refusals, the stored form, and the keys derived from them.


BOTH = (LearnerSettings, LabelVectorSettings)
CHANGED = [
    LearnerSettings(),
    LearnerSettings(n_neighbors=3, strategy="margin", model="plsvc", C=2.0, control_share=0.1, seed=9),
    LabelVectorSettings(),
    LabelVectorSettings(question="instance", criterion="entropy", n_components=0.5, control_share=0.05),
]


@pytest.mark.parametrize("settings", CHANGED)
def test_settings_round_trip_through_json(settings):
    assert type(settings).from_json(json.loads(json.dumps(settings.to_json()))) == settings


@pytest.mark.parametrize("kind", BOTH)
def test_missing_stored_settings_use_the_default(kind):
    # Newer defaults: settings stored earlier keep the default of that time.
    before = {"strategy": "apl"} if kind is LearnerSettings else {"model": "bmlcs"}
    assert kind.from_json({}) == kind(**before)
    assert kind.from_json({"seed": 4}) == kind(seed=4, **before)


@pytest.mark.parametrize("kind", BOTH)
def test_unknown_setting_is_refused_by_name(kind):
    with pytest.raises(ValueError, match=r"no setting 'sede'; there are .*seed"):
        kind.from_json({"sede": 4})


def test_stored_kind_of_label_vectors_is_optional():
    stored = LabelVectorSettings(seed=3).to_json()
    assert stored["kind"] == "multilabel"
    without = {name: value for name, value in stored.items() if name != "kind"}
    assert LabelVectorSettings.from_json(stored) == LabelVectorSettings.from_json(without)
    assert LabelVectorSettings(kind="multilabel", seed=3) == LabelVectorSettings(seed=3)
    with pytest.raises(ValueError, match="kind must be one of 'multilabel'"):
        LabelVectorSettings.from_json({"kind": "candidates"})


WRONG = {
    BOTH: [
        ("seed", [-1, True, 1.0], ""),
        ("test_share", [1.0, -0.1, False, float("nan")], ""),
        ("control_share", [-0.1, 1.0, "a"], ""),
    ],
    (LearnerSettings,): [
        ("n_neighbors", [0, "3"], "an int of at least 1"),
        ("weights", ["x"], "one of 'linear', 'uniform'"),
        ("model", ["svm"], "one of 'automatic', 'plknn'"),
        ("strategy", ["best"], "one of 'automatic', 'apl', 'pl', 'mw', 'mp', 'act', 'random', "),
        ("truth_role", ["shown"], "one of 'hidden', 'given'"),
        ("C", [0.0, float("nan")], ""),
        ("train_every", [0], ""),
        ("train_seconds", [-1.0], ""),
        ("control_share", [True], ""),
    ],
    (LabelVectorSettings,): [
        ("kind", ["partial"], "one of 'multilabel'"),
        ("model", ["svm"], "one of 'automatic', 'bmlcs', 'onevsall'"),
        ("question", ["row"], ""),
        ("criterion", ["margin"], ""),
        ("mode", ["slow"], ""),
        ("missing", ["one"], ""),
        ("n_components", [0, 1.5, True], "None, an int of at least 1"),
        ("max_iter", [0], "an int of at least 1"),
        ("refresh_every", [0, 2.0], ""),
    ],
}


@pytest.mark.parametrize(
    ("kind", "name", "values", "rule"),
    [(kind, *one) for kinds, each in WRONG.items() for kind in kinds for one in each],
)
def test_wrong_settings_are_refused_by_name(kind, name, values, rule):
    for value in values:
        with pytest.raises(ValueError, match=f"^{name} must be {rule}.*Got {value!r}"):
            kind(**{name: value})


@pytest.mark.parametrize("kind", BOTH)
def test_numpy_numbers_are_accepted(kind):
    assert kind(seed=np.int64(3), test_share=np.float64(0.25)) == kind(seed=3, test_share=0.25)


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        (LearnerSettings(), "plknn-6fa7f808912ebd2d"),
        (LearnerSettings(model="plsvc", strategy="margin", C=2, test_share=0.25, seed=3), "plsvc-7d03d5d106d34206"),
        (LearnerSettings(model="pegasos-max"), "pegasos-max-221265117fcb4531"),
        (LabelVectorSettings(model="bmlcs"), "multilabel-293990b734929c23"),
        (
            LabelVectorSettings(
                model="bmlcs",
                question="instance",
                criterion="entropy",
                n_components=0.5,
                test_share=0.2,
                control_share=0.05,
                seed=7,
                refresh_every=3,
            ),
            "multilabel-329cb3c2c333c4c7",
        ),
    ],
)  # fmt: skip
def test_stored_projects_keep_their_model_keys(settings, key):
    """As version 0.1.0 stored them: with another key every version and curve point would be lost."""
    assert settings.model_key == key
    assert type(settings).from_json(settings.to_json()).model_key == key


def test_label_vectors_stored_before_the_choice_of_models_keep_theirs():
    stored = LabelVectorSettings(model="bmlcs", seed=3).to_json()
    del stored["model"]
    read = LabelVectorSettings.from_json(stored)
    assert read.model == "bmlcs"
    assert read.model_key == LabelVectorSettings(model="bmlcs", seed=3).model_key
    assert LabelVectorSettings().model == "automatic"
    keys = {LabelVectorSettings(model=name).model_key for name in ("automatic", "bmlcs", "onevsall")}
    assert len(keys) == 3
    assert LabelVectorSettings.from_json(LabelVectorSettings(model="onevsall").to_json()).model == "onevsall"
