"""The Suggest labels page: a server is chosen, a few rows are tried, the rest is asked about, the result is told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import TextInput

from tests.fake_model import FakeModel, knows, serving_model
from tests.pages.conftest import Open, words
from tests.workflow.models.language.test_suggestions import KEY, lists, work
from tests.workflow.text_world import text_project
from tests.workflow.vector_world import vector_project
from tests.workflow.world import annotator
from workflow.models.language import suggestions
from workflow.models.language.suggestions import ModelChoice
from workflow.models.language.worker import SuggestionWorker
from workflow.seat import Seat
from workflow.server.home import Home

PAGE = "suggest.py"


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with serving_model(FakeModel(knows(lists()))) as made:
        yield made


@pytest.fixture
def seat(home: Home, owner: int) -> Seat:
    return Seat(home, owner, text_project(home, owner))


def press(test: AppTest, label: str) -> AppTest:
    next(one for one in test.button if one.label == label).click().run()
    assert not test.exception
    return test


def chosen(test: AppTest, model: FakeModel) -> AppTest:
    """The page once server, key and model are typed."""
    for name, value in (("url", model.url), ("model", "m"), ("key", KEY)):
        box(test, name).set_value(value)
    return test.run()


def box(test: AppTest, name: str) -> TextInput:
    """The text box whose key ends like this."""
    return next(one for one in test.text_input if str(one.key).endswith(f"-{name}"))


def test_rows_are_tried_asked_about_and_weighed(seat: Seat, show: Open, model: FakeModel) -> None:
    test = show(seat.person_id, PAGE, project=str(seat.project_id))
    assert "Choose the server and a model; then try a few rows." in words(test)
    test = press(chosen(test, model), "Try 5 rows")
    (table,) = test.table
    assert table.value["Row"].tolist() == ["t0", "t1", "t2", "t3", "t4"]
    assert table.value["Classes"][0] == "birds 0.67, ships 0.33"
    shown = words(test)
    assert "The shares come from the weights that the model states." in shown
    assert "55 rows to go: at most" in shown
    assert "will be sent to" not in shown, "the server is this machine"
    test = press(test, "Ask about 55 rows")
    assert "Waiting for a worker …" in "".join(one.proto.text for one in test.get("progress"))
    assert work(SuggestionWorker(seat.home, "one")).state == "done"
    test.run()
    (told,) = [one.value for one in test.success]
    assert "m at 127\\.0\\.0\\.1 listed classes for 60 of 60 rows." in told
    assert "It took 7,200 tokens." in told
    assert {headers["authorization"] for headers in model.headers} == {f"Bearer {KEY}"}


def test_other_host_is_named_before_a_text_is_sent(seat: Seat, show: Open) -> None:
    test = show(seat.person_id, PAGE, project=str(seat.project_id))
    box(test, "url").set_value("https://api.example.com/v1")
    box(test, "model").set_value("small")
    assert "The texts of 5 rows will be sent to **api\\.example\\.com**." in words(test.run())


def test_models_of_the_server_can_be_listed(seat: Seat, show: Open, model: FakeModel) -> None:
    test = show(seat.person_id, PAGE, project=str(seat.project_id))
    box(test, "url").set_value(model.url)
    test = press(test.run(), "List the server's models")
    (listed,) = [one for one in test.selectbox if one.label == "Model"]
    assert listed.options == ["m", "other"]


def test_cancelled_run_can_be_resumed(seat: Seat, show: Open, model: FakeModel) -> None:
    suggestions.ask(seat, ModelChoice(model.url, "m"), None)
    test = press(show(seat.person_id, PAGE, project=str(seat.project_id)), "Cancel")
    assert "The run was cancelled after 0 of 0 rows." in words(test)
    state = suggestions.state(seat)
    assert state is not None
    assert state.state == "cancelled"
    test = press(test, "Try 5 rows")
    press(test, "Ask about 55 rows")
    assert work(SuggestionWorker(seat.home, "one")).state == "done"


def test_unreachable_server_is_reported(seat: Seat, show: Open, model: FakeModel) -> None:
    model.faults = [(404, {}, "no such model")]
    test = press(chosen(show(seat.person_id, PAGE, project=str(seat.project_id)), model), "Try 5 rows")
    assert [one.value.replace("\\", "") for one in test.error] == ["127.0.0.1 replied with status 404: no such model"]


def test_page_needs_owner_and_one_right_label(home: Home, seat: Seat, show: Open) -> None:
    ada = annotator(home, seat.person_id, "Ada")
    assert "Only owners can open this page." in words(show(ada, PAGE, project=str(seat.project_id)))
    vectors = vector_project(home, seat.person_id)
    assert "rows with one right label" in words(show(seat.person_id, PAGE, project=str(vectors)))
