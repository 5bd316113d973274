"""How a question was put, to plain values and back."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from workflow.answering.asked import AskedAs, QuestionForm

labels = st.lists(st.text(max_size=4), max_size=3).map(tuple)


@given(
    st.builds(
        AskedAs,
        form=st.sampled_from([str(form) for form in QuestionForm]),
        about=labels,
        drawn=st.booleans(),
        choices=st.integers(0, 99),
        first=st.none() | labels,
        batch=st.none() | st.text(min_size=1, max_size=4),
    )
)
def test_it_comes_back_as_it_was(asked: AskedAs) -> None:
    assert AskedAs.from_json(json.loads(json.dumps(asked.to_json()))) == asked


def test_what_is_as_by_default_takes_no_room() -> None:
    assert AskedAs(QuestionForm.WHICH, choices=3).to_json() == {"form": "which", "choices": 3}
    shown = AskedAs("which", choices=2, first=("b", "a"))
    assert shown.to_json() == {"form": "which", "choices": 2, "first": ["b", "a"]}
