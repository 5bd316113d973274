"""What every kind says of rows that are confirmed together: all of it, or that there is none."""

from __future__ import annotations

import inspect

import pytest

from workflow.kinds import KINDS
from workflow.kinds.kind import Batching

ASKED = [name for name in vars(Batching) if not name.startswith("_")]


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_a_kind_answers_everything_or_confirms_nothing_together(kind: object) -> None:
    batching = kind.BATCHING  # type: ignore[attr-defined]
    assert len(ASKED) == 7
    for name in ASKED if batching is not None else ():
        asked = list(inspect.signature(getattr(Batching, name)).parameters)
        assert ["self", *inspect.signature(getattr(batching, name)).parameters] == asked, name


def test_there_is_a_kind_that_does() -> None:
    assert [name for name, kind in KINDS.items() if kind.BATCHING is not None] == ["one_label"]
