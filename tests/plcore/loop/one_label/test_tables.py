"""ActiveLearner on real LabelTables: numbers, text, categories, and the public birdsong data."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from plcore import ActiveLearner, Entry, LabelTable, LearnerSettings, Roles

WORDS = {"wren": "small brown loud song", "robin": "red breast garden", "emu": "tall runs far australia"}


def small_table(n=30):
    rng = np.random.default_rng(0)
    truth = rng.choice(list(WORDS), n)
    others = rng.choice(list(WORDS), n)
    frame = pd.DataFrame(
        {
            "labels": ["|".join(dict.fromkeys(pair)) for pair in zip(truth, others, strict=True)],
            "truth": truth,
            "height": [{"wren": 10.0, "robin": 14.0, "emu": 160.0}[name] + rng.normal() for name in truth],
            "colour": [{"wren": "brown", "robin": "red", "emu": "grey"}[name] for name in truth],
            "note": [WORDS[name] + f" seen {rng.integers(9)} times" for name in truth],
        }
    )
    return frame, truth


@pytest.mark.parametrize(
    "columns", [{"numbers": ("height",)}, {"categories": ("colour",)}, {"text": "note"}], ids=lambda c: next(iter(c))
)
def test_every_kind_of_feature_teaches(columns):
    frame, truth = small_table()
    table = LabelTable.from_frame(frame, Roles(candidates="labels", truth="truth", **columns))
    learner = ActiveLearner(table, LearnerSettings(n_neighbors=4))
    seq = 0
    while question := learner.next_question("ann"):
        seq += 1
        assert truth[question.row] in question.choices
        learner.apply(Entry(seq, "is", question.row, "ann", (str(truth[question.row]),)))
    assert learner.progress().accuracy == 1.0
    result = learner.disambiguate()
    assert [table.classes[label] for label in result.labels] == truth.tolist()


@pytest.mark.public_data
def test_birdsong(data_folder):
    stored = np.load(data_folder / "birdsong.npz", allow_pickle=False)
    sets, truth = stored["S"].astype(bool), stored["y"]
    names = np.array([f"bird{number:02}" for number in range(sets.shape[1])])
    frame = pd.DataFrame(stored["X"].astype(float), columns=[f"f{number}" for number in range(38)])
    frame["labels"] = ["|".join(names[row]) for row in sets]
    frame["truth"] = names[truth]
    roles = Roles(candidates="labels", truth="truth", numbers=tuple(f"f{number}" for number in range(38)))
    table = LabelTable.from_frame(frame, roles)
    np.testing.assert_array_equal(table.candidates, sets)
    learner = ActiveLearner(table)
    start = learner.progress()
    assert (start.n_train, start.n_test) == (3332, 1666)
    log = []
    for seq in range(1, 301):
        question = learner.next_question("ann")
        log.append(Entry(seq, "is", question.row, "ann", (names[truth[question.row]],)))
        learner.apply(log[-1])
    end = learner.progress()
    assert end.accuracy > start.accuracy + 0.05
    assert end.settled > start.settled + 0.15  # answers alone would give 0.135
    result = learner.disambiguate()
    answered = [entry.row for entry in log]
    assert (result.labels[answered] == truth[answered]).all()
    assert set(result.sources[answered]) == {"person"}
    assert sets[np.arange(4998), result.labels].all()
    again = ActiveLearner(table)
    for entry in log:
        again.apply(entry)
    assert again.next_question("ann") == learner.next_question("ann")
    assert again.curve == learner.curve
