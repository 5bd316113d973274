"""The audit trail, and excluded answers."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from db import entries
from tests.conftest import ROOT
from tests.present import present
from tests.workflow import vector_world
from tests.workflow.people.conftest import add_person, whats
from tests.workflow.world import annotator, opened, small_project
from workflow.access import NotAllowed, NotFound
from workflow.answering import loop, room, undoing
from workflow.answering.room import RoomSettings
from workflow.answering.turn import StaleQuestion
from workflow.exporting import files as exporting
from workflow.importing import more_rows
from workflow.log.verifying import verify_project
from workflow.opened import Reading
from workflow.people import attempts, audit, audited, browsers, passwords, team
from workflow.people.aside import count_again, set_aside
from workflow.people.audit import DETAIL_LENGTH, EventKind
from workflow.people.audited import EventFilter, audit_csv, audit_lines
from workflow.people.browsers import Visit
from workflow.people.passwords import note_refused
from workflow.people.tokens import new_secret, secret_hash
from workflow.projects import classes, managing, progress, standing
from workflow.projects.classes import ClassError
from workflow.rows import reviewing
from workflow.seat import Seat
from workflow.server.home import Home

# Audit entries and their people; nothing is recorded that did not happen; reading it, filtered and as CSV


def test_every_event_kind_has_words() -> None:
    assert set(audited.KIND_WORDS) == set(EventKind)
    assert len(set(audited.KIND_WORDS.values())) == len(EventKind)


def test_every_event_kind_is_used() -> None:
    files = [one for one in (ROOT / "workflow").rglob("*.py") if not one.name.startswith("audit")]
    text = "".join(one.read_text() for one in files)
    assert [one.name for one in EventKind if f"EventKind.{one.name}" not in text] == []


def test_changes_to_people_are_audited(home: Home, chief: Seat) -> None:
    ada = add_person(chief, "Ada")
    team.redeem_link(home, team.make_link_for(chief, ada.person_id), Visit("192.0.2.1", "Firefox on Linux"))
    passwords.set_password(ada, "four plain words here")
    passwords.clear_password(chief, ada.person_id)
    team.disable_person(chief, ada.person_id)
    team.disable_person(chief, ada.person_id)
    team.make_link_for(chief, ada.person_id)
    team.end_links(chief, ada.person_id)
    team.end_links(chief, ada.person_id)
    assert whats(chief) == [
        "links ended",
        "link created",
        "access restored",
        "access ended",
        "password cleared",
        "password set",
        "signed in",
        "link created",
        "link created",
        "person added",
    ]
    signed_in = audit_lines(chief, EventFilter(what="sign-in"))[0]
    assert (signed_in.who, signed_in.address) == ("Ada", "192.0.2.1")
    assert signed_in.details == "how: link; browser: Firefox on Linux"
    ended = audit_lines(chief, EventFilter(what="person-ended"))[0]
    assert (ended.who, ended.whom) == ("owner", "Ada")


def test_changes_to_project_are_audited_with_it(home: Home, chief: Seat) -> None:
    seat = chief.at(small_project(home, chief.person_id))
    managing.rename_project(seat, "owls", "")
    managing.rename_project(seat, "owls", "Of the night")
    managing.change_learner(seat, strategy="random")
    room.change_room(seat, RoomSettings("Look twice."))
    progress.change_stop_rules(seat, progress.StopRules())
    exporting.prepare(seat, exporting.ExportChoice(), "owls")
    exporting.take(seat, exporting.ExportChoice())
    managing.archive_project(seat)
    managing.archive_project(seat)
    managing.bin_project(seat)
    managing.restore_project(seat)
    managing.restore_project(seat)
    found = audit_lines(chief, EventFilter(project_id=seat.project_id))
    assert [(one.what, one.details) for one in found] == [
        ("project restored", ""),
        ("project moved to the bin", ""),
        ("project archived", ""),
        ("export created", "file: csv"),
        ("export created", "file: owls-winnowed.csv"),
        ("settings changed", "settings: stop rules"),
        ("settings changed", "settings: question page"),
        ("settings changed", "settings: strategy"),
        ("settings changed", "settings: description"),
        ("project renamed", "before: small; after: owls"),
        ("project created", f"rows: {managing.get_project(seat).n_rows}"),
    ]
    assert {(one.who, one.project) for one in found} == {("owner", "owls")}


def note_and_fail(there: Reading) -> None:
    audit.note_at(there, EventKind.SETTINGS_CHANGED, settings="all")
    team.checked_name("")


def test_refused_actions_are_not_audited(home: Home, chief: Seat) -> None:
    ada = add_person(chief, "Ada")
    before = whats(chief)
    with pytest.raises(NotAllowed):
        team.make_link(ada, "Eve")
    with pytest.raises(NotAllowed):
        team.disable_person(chief, chief.person_id)
    with pytest.raises(team.PersonNameError):
        team.make_link(chief, "")
    with pytest.raises(team.PersonNameError), chief.owning() as owning:
        note_and_fail(owning)
    assert whats(chief) == before


def test_audit_is_filtered_by_day(chief: Seat) -> None:
    add_person(chief, "Ada")
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    assert audit_lines(chief, EventFilter(since=tomorrow)) == []
    assert len(audit_lines(chief, EventFilter(until=tomorrow))) == 2
    assert len(audit_lines(chief, EventFilter(), 1)) == 1


def test_audited_refusals_are_rate_limited(home: Home, chief: Seat) -> None:
    for _ in range(attempts.NOTED_PER_ADDRESS.amount + 20):
        note_refused(home, "wrong name or password", Visit("192.0.2.1"), about_id=chief.person_id)
    lines = audit_lines(chief, EventFilter(what="sign-in-refused"), None)
    assert len(lines) == attempts.NOTED_PER_ADDRESS.amount
    assert {(one.who, one.whom, one.address) for one in lines} == {("", "owner", "192.0.2.1")}


def test_audit_contains_no_secret(home: Home, chief: Seat) -> None:
    ada = add_person(chief, "Ada")
    link = team.make_link_for(chief, ada.person_id)
    cookie = team.redeem_link(home, link)
    passwords.set_password(ada, "four plain words here")
    browsers.sign_out(home, cookie)
    kept = audit_csv(chief, EventFilter())
    for secret in (link, cookie, "four plain words here"):
        assert secret not in kept
        assert secret_hash(secret) not in kept
    assert "argon2" not in kept


def test_secrets_are_long_and_unique() -> None:
    made = {new_secret() for _ in range(100)}
    assert len(made) == 100
    assert min(map(len, made)) >= 43
    assert len({secret_hash(one) for one in made}) == 100


@given(name=st.text(st.characters(codec="utf-8"), max_size=300))
def test_audit_csv_neutralises_formulas(name: str) -> None:
    kept = audited._harmless(name[:DETAIL_LENGTH])
    assert not kept.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert kept.removeprefix("'").endswith(name[:DETAIL_LENGTH].removeprefix("'"))


@pytest.mark.parametrize("mark", ["\r", "\n", "\r\n"])
def test_line_ends_stay_in_their_cell(home: Home, chief: Seat, mark: str) -> None:
    note_refused(home, "wrong", Visit(f"192.0.2.1{mark}2"), about_id=chief.person_id)
    text = audit_csv(chief, EventFilter(what="sign-in-refused"))
    assert [row["address"] for row in csv.DictReader(io.StringIO(text, newline=""))] == [f"192.0.2.1{mark}2"]


def test_formula_like_names_are_text_in_csv(chief: Seat) -> None:
    add_person(chief, '=HYPERLINK("http://evil.example")')
    rows = list(csv.DictReader(io.StringIO(audit_csv(chief, EventFilter()))))
    assert {row["whom"] for row in rows} == {'\'=HYPERLINK("http://evil.example")'}
    assert [row["what"] for row in rows] == ["link created", "person added"]


# Setting a person's answers aside, and counting them again, in projects of both kinds


Make = Callable[[Home, int], int]


def vectors(home: Home, owner: int) -> int:
    return vector_world.vector_project(home, owner)


def vectors_by_row(home: Home, owner: int) -> int:
    return vector_world.vector_project(home, owner, question="instance")


def doubled(home: Home, owner: int) -> int:
    return small_project(home, owner, overlap=2, fold="majority", test_share=0.5)


MAKERS = [small_project, doubled, vectors, vectors_by_row]


def press(seat: Seat, which: int = 0) -> None:
    """Answer the current question, whatever the kind of project."""
    question = present(loop.next_question(seat))
    if hasattr(question, "choices"):
        labels = [question.choices[which % len(question.choices)]]
        loop.submit_answer(seat, question.token, "is", labels)
    else:
        vector_world.answer_truly(seat.home, seat.person_id, seat.project_id or 0, question)


def test_excluding_person_keeps_classes_and_rows(home: Home, chief: Seat) -> None:
    here = chief.at(small_project(home, chief.person_id))
    eve = annotator(home, chief.person_id, "Eve")
    press(Seat(home, eve, here.project_id))
    before, rows = classes.classes_view(here).version, more_rows.version(here)
    set_aside(here, eve)
    assert classes.classes_view(here).version == before
    assert more_rows.version(here) == rows
    assert classes.change_classes(here, before, "add", ["elk"])[-1] == "elk"
    then = classes.classes_view(here).version
    count_again(here, eve)
    assert classes.classes_view(here).version == then > before
    with pytest.raises(ClassError, match="changed"):
        classes.change_classes(here, before, "add", ["fox"])
    assert "elk" not in classes.take_back(here, then)


def state(home: Home, owner: int, project: int) -> np.ndarray:
    with opened(home, owner, project) as learner:
        pool = learner.pool
        return np.array(pool.candidates if hasattr(pool, "candidates") else pool.cells)


def check_counts(here: Seat) -> None:
    """Check that Home, which counts by table and log, agrees with the learner."""
    summary, now, view = managing.get_project(here), standing.standing(here), progress.read_progress(here)
    assert (summary.answered, summary.left) == (now.answered, now.left) == (view.answered, view.left)


@pytest.mark.parametrize("make", MAKERS)
def test_excluding_and_including_person_changes_labels_back(home: Home, chief: Seat, make: Make) -> None:
    project = make(home, chief.person_id)
    here = chief.at(project)
    ada, ben = (Seat(home, annotator(home, chief.person_id, name), project) for name in ("Ada", "Ben"))
    first = state(home, chief.person_id, project)
    for _ in range(4):
        press(ada)
    without_ben = state(home, chief.person_id, project)
    assert not np.array_equal(first, without_ben)
    for _ in range(3):
        press(ben, 1)
    before = state(home, chief.person_id, project)
    assert not np.array_equal(before, without_ben)

    set_aside(here, ben.person_id)
    set_aside(here, ben.person_id)  # twice is harmless
    assert np.array_equal(state(home, chief.person_id, project), without_ben)
    check_counts(here)
    verify_project(here)
    set_aside(here, ada.person_id)
    assert np.array_equal(state(home, chief.person_id, project), first)
    check_counts(here)
    count_again(here, ada.person_id)
    count_again(here, ben.person_id)
    count_again(here, ben.person_id)
    assert np.array_equal(state(home, chief.person_id, project), before)
    check_counts(here)
    verify_project(here)
    with home.database.read() as session:
        log = entries.about_project(session, project)
    assert [(one.kind, one.labels) for one in log] == [
        ("aside", (str(ben.person_id),)),
        ("aside", (str(ada.person_id),)),
        ("withdraw", ()),
        ("withdraw", ()),
    ]
    assert whats(chief)[:4] == ["answers counted again"] * 2 + ["answers excluded"] * 2


@pytest.mark.parametrize("make", MAKERS)
def test_excluded_answers_survive_restart_and_undo(home: Home, chief: Seat, make: Make) -> None:
    project = make(home, chief.person_id)
    here = chief.at(project)
    ada = Seat(home, annotator(home, chief.person_id, "Ada"), project)
    first = state(home, chief.person_id, project)
    press(ada)
    set_aside(here, ada.person_id)
    press(ada)  # later answers do not count either
    live = state(home, chief.person_id, project)
    assert np.array_equal(live, first)
    home.shelf.close()
    assert np.array_equal(state(home, chief.person_id, project), live)
    assert undoing.undo(ada) is not None
    verify_project(here)
    count_again(here, ada.person_id)
    assert undoing.undo(ada) is not None
    assert np.array_equal(state(home, chief.person_id, project), first)
    verify_project(here)


def test_excluding_person_closes_open_questions(home: Home, chief: Seat) -> None:
    project = small_project(home, chief.person_id)
    ada, ben = (Seat(home, annotator(home, chief.person_id, name), project) for name in ("Ada", "Ben"))
    press(ben)
    question = present(loop.next_question(ada))
    set_aside(chief.at(project), ben.person_id)
    with pytest.raises(StaleQuestion):
        loop.submit_answer(ada, question.token, "is", [question.choices[0]])


def test_person_without_answers_cannot_be_excluded(home: Home, chief: Seat) -> None:
    project = small_project(home, chief.person_id)
    ada = annotator(home, chief.person_id, "Ada")
    with pytest.raises(NotFound, match="answered nothing"):
        set_aside(chief.at(project), ada)
    count_again(chief.at(project), ada)
    assert managing.get_project(chief.at(project)).answered == 0


def test_review_leaves_out_entries_without_row(home: Home, chief: Seat) -> None:
    project = small_project(home, chief.person_id)
    ada = Seat(home, annotator(home, chief.person_id, "Ada"), project)
    press(ada)
    set_aside(chief.at(project), ada.person_id)
    found = reviewing.find(chief.at(project), reviewing.Search())
    assert all(one.row >= 0 for one in found.rows)
