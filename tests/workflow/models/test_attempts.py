"""What a worker tries: cancelled, begun anew by another, or failed and told."""

from __future__ import annotations

import logging

import pytest
from sqlalchemy.exc import SQLAlchemyError

from db.engine import DatabaseUnavailableError
from workflow.models.training import Stopped, WorkCancelled, attempt


def tried(error: BaseException | None) -> list[str]:
    """The faults that are stored when this is raised."""
    faults: list[str] = []
    with attempt(faults.append, "It cannot be done."):
        if error is not None:
            raise error
    return faults


def test_what_is_done_or_cancelled_is_no_fault() -> None:
    assert tried(None) == []
    assert tried(WorkCancelled()) == []


@pytest.mark.parametrize("error", [Stopped(), SQLAlchemyError("away"), DatabaseUnavailableError("away")])
def test_what_another_begins_anew_comes_through(error: Exception) -> None:
    with pytest.raises(type(error)):
        tried(error)


def test_what_fails_is_told_by_its_words_or_its_name(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "winnow"):
        assert tried(ValueError("No room.")) == ["No room."]
        assert tried(MemoryError()) == ["MemoryError"]
    assert [one.message for one in caplog.records] == ["It cannot be done."] * 2
