"""Why a row is asked, in words."""

from __future__ import annotations

import pytest

from plcore.loop import MODEL_ENTRIES
from plcore.query import STRATEGY_ENTRIES
from workflow.kinds import KINDS
from workflow.kinds.one_label import settings


@pytest.mark.parametrize("strategy", STRATEGY_ENTRIES)
def test_a_reason_says_what_the_answer_could_do(strategy: str) -> None:
    entry = STRATEGY_ENTRIES[strategy]
    first = "" if entry.counts_say_why else f"{entry.why}. "
    assert (
        settings.reason(strategy, 3, 1_200)
        == f"{first}Your answer could change the model's label of 3 of 1,200 rows that are not settled."
    )
    assert settings.reason(strategy, 0, 7).startswith(
        f"{first}No single answer here can change the model's label of one of the 7 "
    )
    assert settings.reason(strategy, 0, 0).startswith(f"{first}No answer can change a prediction any more")
    uncounted = settings.reason(strategy, 3, 9, counted=False)
    assert uncounted.startswith(entry.why)
    assert "9" not in uncounted


def test_models_that_weigh_candidates_go_by_their_short_names() -> None:
    assert settings.WEIGHING == ("LM-PLANE", "Kernel ridge")


def test_every_strategy_and_model_has_its_words() -> None:
    assert set(settings.NAMES) == set(STRATEGY_ENTRIES)
    assert set(settings.MODELS) == set(MODEL_ENTRIES)
    for model, entry in MODEL_ENTRIES.items():
        offered = settings.strategies_for(model)
        assert next(iter(offered)) == "automatic"
        assert settings.NAMES[entry.strategy] in offered["automatic"]
        assert entry.strategy in offered
        assert ("apl" in offered) == (model == "plknn")
        assert ("moves" in offered) == (model == "kernelridge")
        assert {"margin", "random", "mp", "act", "cover"} < set(offered)
        assert settings.strategies_for(model, "apl")["apl"] == settings.NAMES["apl"]
    assert all({**settings.NAMES, **settings.MODELS}.values())
    assert set(settings.TRAINED) < set(settings.CHOICES)
    assert "plknn" not in settings.TRAINED
    assert set(settings.WITH_C) < set(settings.MODELS)
    assert KINDS["one_label"].CLASSES is not None
