"""What is stored of a question that is put before somebody."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from workflow.answering.asked import AskedAs, QuestionForm
from workflow.answering.turn import says_the_same, to_store

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ASKED = SimpleNamespace(
    strategy="effect", score=0.5, model_version=7, decides=3, undecided=9, predicted="wren"
)
WHERE = {
    "project_id": 1, "person_id": 2, "row": 3, "token": "2.3.0", "revision": 0, "shown_at": NOW, "reserved_at": NOW,
    "reserved_until": NOW,
}  # fmt: skip


def test_a_question_is_stored_with_why_it_is_asked_and_how_it_is_put() -> None:
    how = AskedAs(QuestionForm.WHICH)
    stored = to_store(ASKED, how, **WHERE)
    assert {name: getattr(stored, name) for name in vars(ASKED)} == vars(ASKED)
    assert {name: getattr(stored, name) for name in WHERE} == WHERE
    assert stored.asked == how.to_json()
    assert to_store(ASKED, None, **WHERE).asked is None


@pytest.mark.parametrize("part", vars(ASKED))
def test_it_says_the_same_until_any_part_is_another(part: str) -> None:
    how = AskedAs(QuestionForm.WHICH)
    stored = to_store(ASKED, how, **WHERE)
    assert says_the_same(ASKED, how, stored)
    assert not says_the_same(SimpleNamespace(**(vars(ASKED) | {part: "another"})), how, stored)
    assert not says_the_same(ASKED, None, stored)
    assert not says_the_same(ASKED, how, replace(stored, asked=None))
