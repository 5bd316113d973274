"""Programs have a language model list the classes of rows."""

from __future__ import annotations

import pytest

from tests.fake_model import FakeModel, knows, serving_model
from tests.workflow.models.language.test_suggestions import KEY, lists, work
from tests.workflow.text_world import text_project
from winnow_labels.client import Winnow, WinnowError
from workflow.models.language.worker import SuggestionWorker
from workflow.people import team
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture
def seat(home: Home) -> Seat:
    owner = team.ensure_owner(home).id
    return Seat(home, owner, text_project(home, owner))


def test_rows_are_listed_by_a_language_model(winnow: Winnow, seat: Seat) -> None:
    texts = winnow.project(seat.project_id or 0)
    assert texts.suggestions() is None
    with serving_model(FakeModel(knows(lists()))) as model:
        with pytest.raises(WinnowError, match=r"could cross its cap of 10 tokens\. Fix: raise the cap"):
            texts.suggest(model.url, "m", cap="10")
        texts.suggest(model.url, "m", key=KEY)
        assert (texts.suggestions() or {})["state"] == "waiting"
        with pytest.raises(WinnowError, match="A run is under way"):
            texts.suggest(model.url, "m")
        texts.cancel_suggestions()
        assert (texts.suggestions() or {})["state"] == "cancelled"
        texts.suggest(model.url, "m", key=KEY)
        work(SuggestionWorker(seat.home, "one"))
    found = texts.suggestions() or {}
    assert (found["state"], found["model"], found["done"]) == ("done", "m", 60)
    assert found["report"]["weighed"] == 60
    assert KEY not in str(found)
