"""A project's rows, listed by a language model: tried, run by a worker, continued after a kill, calibrated."""

from __future__ import annotations

import dataclasses
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from db import entries, trained
from plcore import LabelTable, LearnerSettings, Roles
from tests.fake_model import FakeModel, knows, serving_model
from tests.workflow.text_world import TOPICS, text_frame, text_project
from tests.workflow.vector_world import vector_project
from tests.workflow.world import opened, small_project
from workflow.answering import loop
from workflow.models.language import suggestions
from workflow.models.language.ledger import LedgerError, OverCapError
from workflow.models.language.requests import LanguageModelError
from workflow.models.language.suggestions import ModelChoice
from workflow.models.language.worker import SuggestionWorker, has_due_work
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

KEY = "sk-very-secret"


def lists(first: Sequence[int] = ()) -> dict[str, list[str]]:
    """The topics that the model lists of each text: the true one first, but in these rows another one."""
    found = {}
    for row, (text, truth) in enumerate(text_frame()[["text", "truth"]].itertuples(index=False)):
        names = [truth, *(one for one in TOPICS if one != truth)]
        found[text] = names[1:] if row in first else names[:2]
    return found


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with serving_model(FakeModel(knows(lists()))) as made:
        yield made


@pytest.fixture
def seat(home: Home, owner: int) -> Seat:
    return Seat(home, owner, text_project(home, owner))


@pytest.fixture
def worker(home: Home) -> SuggestionWorker:
    return SuggestionWorker(home, "one")


@pytest.fixture
def choice(model: FakeModel) -> ModelChoice:
    return ModelChoice(model.url, "m", "Topics of short texts.")


def work(worker: SuggestionWorker) -> suggestions.SuggestionState:
    """Do the runs that are asked for, and return the state after the last."""
    with worker.home.database.read() as session:
        asked = trained.SUGGESTIONS.unfinished(session)
    for one in asked:
        worker.suggest(one)
    state = suggestions.state(Seat(worker.home, asked[-1].asked_by, asked[-1].project_id))
    assert state is not None
    return state


def weights(seat: Seat) -> np.ndarray:
    with opened(seat.home, seat.person_id, seat.project_id or 0) as learner:
        return np.asarray(learner.table.candidate_weights)


def test_trial_shows_rows_and_the_rest_is_estimated(seat: Seat, choice: ModelChoice, model: FakeModel) -> None:
    assert suggestions.models(seat, model.url, KEY) == ["m", "other"]
    trial = suggestions.try_rows(seat, choice, KEY)
    assert [one.row_id for one in trial.rows] == ["t0", "t1", "t2", "t3", "t4"]
    assert list(trial.rows[0].shares) == lists()[trial.rows[0].text]
    assert (trial.missing, trial.is_own, trial.host) == (55, True, "127.0.0.1")
    assert trial.scores == ("the weights that the model states",)
    assert trial.likely is not None
    assert trial.likely.total < trial.most.total
    assert "Topics of short texts." in model.bodies[0]["messages"][0]["content"]
    again = suggestions.try_rows(seat, choice, KEY)
    assert (again.rows[0].row_id, again.missing) == ("t5", 50), "no row is asked twice"
    assert suggestions.state(seat) is None


def test_model_reads_the_texts_that_are_shown_with_the_row(home: Home, owner: int) -> None:
    frame = text_frame().assign(premise="the old people sail near the harbour", place="Rome")
    frame.loc[1, ["text", "premise"]] = "", "no text of its own"
    roles = Roles(candidates="candidates", id="id", text="text", caption=("premise", "place"))
    made = managing.create_project(
        Seat(home, owner), "pairs", LabelTable.from_frame(frame, roles), LearnerSettings(n_neighbors=4)
    )
    rows = suggestions.rows_of(Seat(home, owner, made))
    assert rows.columns == ("text", "premise"), "a place is no text"
    assert rows.texts[0] == f"text: {frame.loc[0, 'text']}\npremise: the old people sail near the harbour"
    assert rows.texts[1] == ""


def test_model_reads_further_texts_of_few_words(home: Home, owner: int) -> None:
    frame = text_frame().assign(title="Storm")
    roles = Roles(candidates="candidates", id="id", text="text", more_texts=("title",))
    made = managing.create_project(
        Seat(home, owner), "titles", LabelTable.from_frame(frame, roles), LearnerSettings(n_neighbors=4)
    )
    rows = suggestions.rows_of(Seat(home, owner, made))
    assert (rows.columns, rows.texts[0]) == (("text", "title"), f"text: {frame.loc[0, 'text']}\ntitle: Storm")


def test_run_weighs_candidates_and_is_in_the_log(
    seat: Seat, choice: ModelChoice, model: FakeModel, worker: SuggestionWorker
) -> None:
    suggestions.try_rows(seat, choice, KEY)
    suggestions.ask(seat, choice, KEY)
    assert has_due_work(seat.home)
    with pytest.raises(LanguageModelError, match="under way"):
        suggestions.ask(seat, choice, KEY)
    state = work(worker)
    assert (state.state, state.done, state.total, state.choice) == ("done", 60, 60, choice)
    assert not has_due_work(seat.home)
    assert state.report is not None
    assert state.report["outcomes"] == {"listed": 60, "none": 0, "refused": 0, "broken": 0}
    assert (state.report["weighed"], state.report["calibrated_by"]) == (60, 0)
    assert model.counts() == dict.fromkeys(lists(), 1)
    found = weights(seat)
    with opened(seat.home, seat.person_id, seat.project_id or 0) as learner:
        truth = [list(learner.classes).index(one) for one in text_frame()["truth"]]
        inside = learner.table.candidates
    assert (found.argmax(axis=1) == truth).all()
    assert (found[inside] > 0.01).all(), "no candidate is ruled out"
    assert (found[~inside] == 0).all()
    question = loop.next_question(seat)
    assert question is not None
    assert question.scored_by == "m at 127.0.0.1", "the card does not call it the file's"
    with seat.reading() as reading:
        (added,) = entries.about_project(reading.session, reading.project.id)
    assert (added.person_id, added.note) == (
        seat.person_id,
        f"scores of m at 127.0.0.1 (60 rows, prompt {_prompt(seat, choice)})",
    )


def _prompt(seat: Seat, choice: ModelChoice) -> str:
    from workflow.models.language.requests import LabelTask

    return LabelTask(suggestions.rows_of(seat).classes, choice.guide).sha256[:12]


def test_cancelled_run_continues_without_asking_twice(
    seat: Seat, choice: ModelChoice, model: FakeModel, worker: SuggestionWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workflow.models.language.worker.NOTED_EVERY", 0.01)

    def cancel_at_20() -> None:
        if len(model.bodies) == 20:
            suggestions.cancel(seat)

    model.gate = cancel_at_20
    suggestions.ask(seat, choice, KEY)
    assert work(worker).state == "cancelled"
    assert 20 <= len(model.asked) < 60
    assert weights(seat).shape == (), "nothing is weighed yet"
    model.gate = lambda: None
    suggestions.ask(seat, choice, KEY)
    assert work(worker).state == "done"
    assert model.counts() == dict.fromkeys(lists(), 1)


def test_worker_that_ends_leaves_the_run_to_the_next_one(
    seat: Seat, choice: ModelChoice, model: FakeModel, worker: SuggestionWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workflow.models.language.worker.NOTED_EVERY", 0.01)

    def end_at_20() -> None:
        if len(model.bodies) == 20:
            worker._stop.set()

    model.gate = end_at_20
    suggestions.ask(seat, choice, None)
    worker._run(_asked(seat))
    state = suggestions.state(seat)
    assert state is not None
    assert state.unfinished
    assert work(SuggestionWorker(seat.home, "two")).state == "done"
    assert model.counts() == dict.fromkeys(lists(), 1)


def _asked(seat: Seat) -> trained.Suggestion:
    with seat.reading() as reading:
        found = trained.SUGGESTIONS.latest(reading.session, reading.project.id)
    assert found is not None
    return found


@pytest.mark.parametrize("begin", [SuggestionWorker.look, SuggestionWorker.meanwhile], ids=["idle", "comparing"])
def test_requested_run_has_a_thread_of_its_own(
    seat: Seat, choice: ModelChoice, worker: SuggestionWorker, begin: Callable[[SuggestionWorker], object]
) -> None:
    suggestions.ask(seat, choice, None)
    begin(worker)
    (thread,) = worker._runs.values()
    thread.join()
    state = suggestions.state(seat)
    assert state is not None
    assert state.state == "done"


def test_key_is_kept_in_a_private_file_until_the_end(
    seat: Seat, choice: ModelChoice, model: FakeModel, worker: SuggestionWorker
) -> None:
    suggestions.ask(seat, choice, KEY)
    path = seat.home.suggestions_dir / f"{seat.project_id}.key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    others = [one for one in seat.home.settings.home.rglob("*") if one.is_file() and one != path]
    assert not [one for one in others if KEY.encode() in one.read_bytes()]
    work(worker)
    assert {headers["authorization"] for headers in model.headers} == {f"Bearer {KEY}"}
    assert not path.exists()
    suggestions.ask(seat, dataclasses.replace(choice, guide="other"), KEY)
    suggestions.cancel(seat)
    assert not path.exists()


def test_answers_calibrate_the_shares(seat: Seat, model: FakeModel, worker: SuggestionWorker) -> None:
    """The true class is listed first in half of the rows, and not at all in the others: the first gets half, too."""
    wrong = range(0, 60, 2)
    model.reply = knows({text: names[:1] for text, names in lists(wrong).items()})
    choice = ModelChoice(model.url, "m")
    suggestions.ask(seat, choice, None)
    state = work(worker)
    sure = weights(seat).max(axis=1) > 0.9  # the class that is listed is a candidate
    assert sure.sum() >= 30
    truth = text_frame()["truth"]
    for _ in range(30):
        question = loop.next_question(seat)
        assert question is not None
        loop.submit_answer(seat, question.token, "is", [truth[question.view.row]])
    suggestions.ask(seat, choice, None)
    state = work(worker)
    assert len(model.asked) == 60, "nothing is asked again"
    assert state.report is not None
    assert int(state.report["calibrated_by"]) >= suggestions.LEAST_ANSWERED  # type: ignore[call-overload]
    now = weights(seat)[sure]
    assert 0.5 < (now.max(axis=1) / now.sum(axis=1)).mean() < 0.85


def test_failure_is_reported_and_run_can_continue(
    seat: Seat, choice: ModelChoice, model: FakeModel, worker: SuggestionWorker
) -> None:
    model.faults = [(401, {}, "no such key")]
    suggestions.ask(seat, choice, KEY)
    state = work(worker)
    assert not list(seat.home.suggestions_dir.glob("*.key")), "the run has ended"
    assert (state.state, state.fault) == ("failed", "127.0.0.1 replied with status 401: no such key")
    suggestions.ask(seat, choice, None)
    assert work(worker).state == "done"


def test_refusals(home: Home, owner: int, seat: Seat, choice: ModelChoice, model: FakeModel) -> None:
    with pytest.raises(LanguageModelError, match="rows with one right label"):
        suggestions.ask(Seat(home, owner, vector_project(home, owner)), choice, None)
    with pytest.raises(LanguageModelError, match="no column of texts"):
        suggestions.ask(Seat(home, owner, small_project(home, owner)), choice, None)
    with pytest.raises(OverCapError, match="could cross its cap of 100 tokens"):
        suggestions.ask(seat, dataclasses.replace(choice, cap="100"), None)
    with pytest.raises(LedgerError, match="unknown is not free"):
        suggestions.ask(seat, dataclasses.replace(choice, cap="5 USD"), None)
    with pytest.raises(LedgerError, match="A price is per million prompt tokens"):
        suggestions.ask(seat, dataclasses.replace(choice, price="cheap"), None)
    assert not model.bodies
    assert suggestions.state(seat) is None


@pytest.mark.parametrize(
    ("changed", "allowed"),
    [
        ({"host": "192.0.2.1"}, False),
        ({"public_url": "https://example.org"}, False),
        ({"public_url": "https://example.org", "suggestion_hosts": ("127.0.0.1",)}, True),
        ({"suggestion_hosts": ()}, False),
        ({"host": "localhost"}, True),
    ],
)
def test_server_for_others_reaches_no_program_of_its_machine_unless_listed(
    seat: Seat, choice: ModelChoice, model: FakeModel, changed: dict[str, object], allowed: bool
) -> None:
    settings = dataclasses.replace(seat.home.settings, **changed)  # type: ignore[arg-type]
    there = dataclasses.replace(seat, home=dataclasses.replace(seat.home, settings=settings))
    if allowed:
        suggestions.try_rows(there, choice, None)
        return
    with pytest.raises(LanguageModelError, match="WINNOW_SUGGESTIONS"):
        suggestions.try_rows(there, choice, None)
    assert not model.bodies


def test_journals_and_keys_are_in_no_backup(seat: Seat, choice: ModelChoice, tmp_path: Path) -> None:
    from workflow.backups import making

    suggestions.try_rows(seat, choice, None)
    suggestions.ask(seat, choice, KEY)
    made = tmp_path / "backup.zip"
    making.make(seat.home, made)
    assert seat.home.suggestions_dir.name.encode() + b"/" not in made.read_bytes()
