"""The Queue page searched by meaning."""

from __future__ import annotations

import numpy as np
from streamlit.testing.v1 import AppTest

from pages.parts import state
from tests.pages.conftest import Open, listed, open_in_list, press, words
from tests.workflow.meaning_world import give_vectors, meaning_project
from tests.workflow.text_world import text_frame, text_project
from tests.workflow.vector_world import vector_project
from tests.workflow.world import annotator, small_project
from workflow.answering import batches
from workflow.rows import queue
from workflow.seat import Seat
from workflow.server.home import Home

TRUTH = dict(zip(text_frame()["id"], text_frame()["truth"], strict=True))


def labels(test: AppTest) -> list[str]:
    return [one.label for one in test.button]


def test_search_by_meaning_lists_nearest_rows_first(home: Home, owner: int, show: Open) -> None:
    seat = meaning_project(home, owner)
    test = show(owner, "queue_page.py", project=str(seat.project_id))
    assert "Similarity" not in listed(test)
    test.text_input[0].set_value("animals").run()
    assert "No open row matches." in words(test)
    press(test, "Search by meaning")
    assert test.toggle[0].value is True
    lines = listed(test)
    birds = sum(TRUTH[one.row_id] == "birds" for one in queue.list_queue(seat).rows)
    assert {TRUTH[name] for name in lines["Row"][:birds]} == {"birds"}
    assert lines["Similarity"].is_monotonic_decreasing
    assert f"Showing 1 to {len(lines)} of {len(lines)} nearest rows. {len(lines)} rows are open." in words(test)
    test.toggle[0].set_value(False).run()
    assert "No open row matches." in words(test)
    assert not test.exception


def test_nearest_rows_are_answered_together(home: Home, owner: int, show: Open) -> None:
    seat = meaning_project(home, owner)
    test = show(owner, "queue_page.py", project=str(seat.project_id))
    test.toggle[0].set_value(True).run()
    test.text_input[0].set_value("animals").run()
    assert f"**The nearest {batches.MOST} rows**" in words(test)
    (label,) = (one for one in test.selectbox if one.label == "All of these are")
    assert label.value == "birds"
    (look,) = (one for one in test.button if one.label.startswith("View"))
    look.click().run()
    assert not test.exception
    shown = batches.next_batch(seat)
    assert isinstance(shown, batches.ShownBatch)
    assert (shown.chosen, shown.label) == (True, "birds")
    nearest = {one.row for one in queue.list_nearest(seat, "animals").rows[: batches.MOST]}
    assert {one.view.row for one in shown.tiles} <= nearest


def test_more_like_this_lists_similar_rows_and_returns(home: Home, owner: int, show: Open) -> None:
    for project in (text_project(home, owner), vector_project(home, owner, question="cell")):
        seat = Seat(home, owner, project)
        with seat.reading() as reading:
            n = reading.project.n_rows
        vectors = np.random.default_rng(1).normal(size=(n, 4))
        vectors[queue.list_queue(seat).rows[5].row] = np.nan
        give_vectors(seat, vectors)
        seat.settle()
        test = show(owner, "queue_page.py", project=str(project))
        line = queue.list_queue(seat).rows[3]
        open_in_list(test, project, line.row, state.QUEUE)
        press(test, "More like this")
        assert f"Rows like **{line.row_id}**, the nearest first" in words(test)
        lines = listed(test)
        wanted = [one.row_id for one in queue.list_nearest(seat, like=line.row).rows]
        assert lines["Row"].tolist() == wanted
        assert wanted[0] == line.row_id
        assert "1 row without a vector is not listed" in words(test)
        press(test, "Back to the queue")
        assert "Similarity" not in listed(test)
        assert not test.exception


def test_missing_search_by_meaning_is_explained_to_owners_only(home: Home, owner: int, show: Open) -> None:
    projects = ((small_project(home, owner), []), (text_project(home, owner), [owner]))
    ada = annotator(home, owner, "Ada")
    for project, said_to in projects:
        for person in (owner, ada):
            test = show(person, "queue_page.py", project=str(project))
            assert not test.toggle
            test.text_input[0].set_value("no such thing").run()
            assert "No open row matches." in words(test)
            assert ("by meaning" in words(test)) == (person in said_to)
            assert "Search by meaning" not in labels(test)


def test_failed_search_by_meaning_falls_back_to_words(home: Home, owner: int, show: Open) -> None:
    seat = meaning_project(home, owner)
    give_vectors(seat, np.random.default_rng(1).normal(size=(60, 4)))
    test = show(owner, "queue_page.py", project=str(seat.project_id))
    test.toggle[0].set_value(True).run()
    test.text_input[0].set_value("feather").run()
    assert "gives other vectors" in words(test)
    texts = text_frame().set_index("id")["text"]
    assert all("feather" in texts[name] for name in listed(test)["Row"])
    for one in home.encoders_dir.rglob("*.*"):
        one.unlink()
    test.run()
    assert test.toggle[0].disabled
    assert "not on this server" in test.toggle[0].help
