"""The rights of each role: every use case of `use_cases.py`, over every kind of project and every role."""

from __future__ import annotations

import inspect
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.workflow.kind_worlds import EVERY_FORM, WORLDS, KindWorld
from tests.workflow.use_cases import (
    ANSWER,
    ASKED_WITHIN,
    AT_NO_PROJECT,
    BY_RIGHT,
    NOTES,
    OWN,
    OWN_ANYWHERE,
    OWN_SOMEWHERE,
    OWN_WINNOW,
    REVIEW,
    SEE,
    UseCase,
)
from tests.workflow.world import annotator, somebody, stored
from workflow import kinds
from workflow.access import RIGHTS, Action, NotAllowed, NotFound, Right, Role, TokenScope
from workflow.answering import loop, oracle
from workflow.answering.turn import StaleQuestion
from workflow.exporting import files
from workflow.models import comparing
from workflow.models.choosing import CannotCompare
from workflow.people import members, team
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

pytestmark = pytest.mark.slow

ONE_KIND = pytest.mark.parametrize("world", WORLDS[:1], indirect=True, ids=lambda world: world.name)
"""Whether someone may enter is decided before the kind of the project is known."""
AT_A_PROJECT = {name: act for acts in BY_RIGHT.values() for name, act in acts.items()}
TABLES = (
    "projects",
    "members",
    "groups",
    "group_members",
    "links",
    "entries",
    "questions",
    "leases",
    "batches",
    "encodings",
    "accounts",
    "events",
    "dispute_notes",
    "goals",
    "examples",
    "qualifications",
    "sign_ins",
    "people",
    "random_orders",
    "suggestions",
)


def names_of_use_cases() -> set[str]:
    """Every public function of workflow whose first argument is a seat, except helpers of kinds and use cases."""
    found = set()
    for path in sorted((ROOT / "workflow").rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        if name.split(".")[1:2] in (["kinds"], ["common"]):
            continue
        module = import_module(name)
        for name, function in inspect.getmembers(module, inspect.isfunction):
            parameters = list(inspect.signature(function).parameters.values())
            own = function.__module__ == module.__name__ and not name.startswith("_")
            if own and parameters and parameters[0].annotation == "Seat":
                found.add(f"{path.stem}.{name}")
    return found


def test_every_use_case_has_its_rights() -> None:
    tables = (SEE, ANSWER, REVIEW, OWN, OWN_ANYWHERE, AT_NO_PROJECT, OWN_SOMEWHERE, OWN_WINNOW)
    known = [name for table in tables for name in table]
    assert len(known) == len(set(known)), "one line for each"
    assert names_of_use_cases() == {*known, *ASKED_WITHIN}
    assert set(NOTES) <= set(known)


@pytest.fixture(autouse=True)
def no_long_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests cover the findings of a comparison; here only who may request one."""

    def refuse(*_: object) -> Any:
        raise CannotCompare("not here")

    monkeypatch.setattr(comparing, "make_comparer", refuse)


def compared(home: Home) -> dict[str, object]:
    """Everything that a use case could have changed."""
    return {name: lines for name, lines in stored(home).items() if name in TABLES}


def must_be_refused(name: str, act: UseCase, seat: Seat, world: KindWorld, row: int, words: str) -> None:
    with pytest.raises(NotAllowed, match=words):
        pytest.fail(f"{name} gave {act(seat, world, row)!r}")


def prepare_guests(seat: Seat) -> None:
    """Data stored by the lines of the table exists before the comparison."""
    from tests.workflow.use_cases import group

    group(seat)


def test_use_case_without_right_is_refused(world: KindWorld, seat: Seat) -> None:
    eve = Seat(seat.home, annotator(seat.home, seat.person_id, "Eve"), seat.project_id)
    row = world.answer(seat).row
    prepare_guests(seat)
    for role in (Role.REVIEWER, Role.ANNOTATOR, Role.VIEWER):
        members.give_role(seat, [eve.person_id], role)
        must_be_refused_all(world, seat, eve, role, row)


def must_be_refused_all(world: KindWorld, seat: Seat, eve: Seat, role: Role, row: int) -> None:
    """Everything that this role of Eve's does not allow."""
    before, tables = compared(seat.home), sorted(seat.home.tables_dir.iterdir())
    words = {
        Right.ANSWER: "Only annotators, reviewers and the owner may do this; Eve is",
        Right.REVIEW: "Only reviewers and the owner may do this; Eve is",
        Right.OWN: "Only the owner may do this; Eve is",
    }
    for right, acts in BY_RIGHT.items():
        if right not in RIGHTS[role]:
            for name, act in acts.items():
                must_be_refused(name, act, eve, world, row, rf"{words[right]} an? {role} of this project\.")
    for name, act in OWN_WINNOW.items():
        nowhere = Seat(seat.home, eve.person_id)
        must_be_refused(name, act, nowhere, world, row, r"Only the owner may do this; Eve is an annotator\.$")
    for name, act in OWN_SOMEWHERE.items():
        must_be_refused(name, act, eve, world, row, r"^Only owners upload files\.")
    for name in (*kinds.KINDS[world.kind].FORMATS, "log"):
        with pytest.raises(NotAllowed):
            files.prepare(eve, files.ExportChoice(name), "small")
    assert not seat.home.exports_dir.exists()
    assert compared(seat.home) == before
    assert sorted(seat.home.tables_dir.iterdir()) == tables


@ONE_KIND
@pytest.mark.parametrize("role", Role)
def test_use_case_with_right_is_allowed(world: KindWorld, seat: Seat, role: Role) -> None:
    """It may still be unavailable: an answered question, or a project without groups."""
    who = Seat(seat.home, annotator(seat.home, seat.person_id, "Eve", role), seat.project_id)
    rights = RIGHTS[role]
    assert members.rights_of(who) == rights
    row = world.answer(who if Right.ANSWER in rights else seat).row
    for right, acts in BY_RIGHT.items():
        for name, act in acts.items():
            if right in rights and name not in OWN_ANYWHERE:
                with suppress(ValueError):  # they may, but it is not available
                    act(who, world, row)
    for act in AT_NO_PROJECT.values():
        with suppress(NotFound):  # there are no files
            act(Seat(seat.home, who.person_id), world, row)
    if Right.OWN in rights:
        for act in (*OWN_ANYWHERE.values(), *OWN_SOMEWHERE.values()):
            act(who, world, row)
        assert managing.get_project(who).role is Role.OWNER


@ONE_KIND
def test_token_that_only_reads_changes_nothing(world: KindWorld, seat: Seat) -> None:
    """Exports alone are noted, in the audit."""
    row = world.answer(seat).row
    prepare_guests(seat)
    reader = replace(seat, narrowed=TokenScope(Action.READ))
    before = compared(seat.home) | {"events": []}
    for acts in (*BY_RIGHT.values(), AT_NO_PROJECT, OWN_SOMEWHERE, OWN_WINNOW):
        for name, act in acts.items():
            with suppress(ValueError, NotAllowed, NotFound):
                act(reader, world, row)
            assert compared(seat.home) | {"events": []} == before, name


@ONE_KIND
def test_token_of_another_project_does_nothing_here(world: KindWorld, seat: Seat) -> None:
    row = world.answer(seat).row
    prepare_guests(seat)
    elsewhere = replace(seat, narrowed=TokenScope(projects=frozenset({1000})))
    before = compared(seat.home)
    for acts in (AT_A_PROJECT, OWN_SOMEWHERE, OWN_WINNOW):
        for name, act in acts.items():
            must_be_refused(name, act, elsewhere, world, row, "^This token is for project 1000 alone")
    assert compared(seat.home) == before


@ONE_KIND
def test_non_member_gets_same_error_as_for_missing_project(world: KindWorld, seat: Seat) -> None:
    row = world.answer(seat).row
    eve = Seat(seat.home, somebody(seat.home, seat.person_id, "Eve"), seat.project_id)
    unknown = eve.at(1000 + (seat.project_id or 0))
    prepare_guests(seat)
    before = compared(seat.home)

    def words(act: UseCase, at: Seat) -> str:
        with pytest.raises(NotFound) as refused:
            act(at, world, row)
        return str(refused.value).replace(str(at.project_id), "N")

    said = "There is no project N here, or no one has shared it with you. Fix: choose one on the Home page."
    for state in ("in use", "archived", "in the bin"):
        for name, act in AT_A_PROJECT.items():
            assert words(act, eve) == words(act, unknown) == said, (name, state)
        with pytest.raises(NotFound):
            eve.settle()
        with pytest.raises(NotFound):
            _ = eve.kind
        assert managing.list_projects(Seat(seat.home, eve.person_id)) == []
        assert managing.put_away(Seat(seat.home, eve.person_id)) == managing.PutAway((), ())
        if state == "in use":
            assert compared(seat.home) == before
            managing.archive_project(seat)
        elif state == "archived":
            managing.bin_project(seat)


@pytest.mark.usefixtures("checked_here")
@pytest.mark.parametrize(
    "world",
    [pytest.param(one, marks=() if at < 2 else pytest.mark.proof, id=one.name) for at, one in enumerate(EVERY_FORM)],
    indirect=True,
)
def test_every_use_case_works_for_owner(world: KindWorld, seat: Seat, ada: Seat) -> None:
    """Valid calls raise no error at all."""
    row = world.answer(ada).row
    mine = world.answer(seat).row
    for whose, answered in ((ada, row), (seat, mine)):
        for act in (*SEE.values(), *ANSWER.values()):
            with suppress(StaleQuestion, loop.AnswerError):
                act(whose, world, answered)
    refused = {
        "classes.take_back",  # a change other than the latest
        "reviewing.ask_scored",  # the tables came without scores
        "row_records.append_rows",  # a column that the project does not have
        "disputes.settle",  # no one disagrees
    }
    if kinds.KINDS[world.kind].CLASSES is None:
        refused |= {name for name in OWN if name.startswith("classes.")}
    if not kinds.KINDS[world.kind].TAKES_GROUPS:
        refused |= {"room.groups_in_file", "room.set_groups"}
    if kinds.KINDS[world.kind].REPLAYS is None:
        refused.add("progress.estimate_random_order")
    if world.table().label_vectors is not None:
        refused.add("predictions.add_predictions")
    if not oracle.can_answer(seat):
        refused.add("oracle.answer_for_me")
    for name, act in {**REVIEW, **OWN}.items():
        if name.startswith("choosing."):
            with suppress(ValueError):  # not every kind has several models
                act(seat, world, mine)
        elif name in refused:  # they may, but it does not fit the project
            with pytest.raises(ValueError, match=r"project|changed|not here|again"):
                act(seat, world, mine)
        else:
            act(seat, world, mine)
    for act in OWN_WINNOW.values():
        act(Seat(seat.home, seat.person_id), world, mine)
    for act in (*OWN_ANYWHERE.values(), *OWN_SOMEWHERE.values()):
        act(seat, world, mine)


@ONE_KIND
def test_project_owner_is_not_server_owner(world: KindWorld, seat: Seat) -> None:
    eve = Seat(seat.home, annotator(seat.home, seat.person_id, "Eve", Role.OWNER), seat.project_id)
    row = world.answer(seat).row
    prepare_guests(seat)
    before = compared(seat.home)
    for name, act in OWN_WINNOW.items():
        must_be_refused(name, act, eve, world, row, r"Only the owner may do this; Eve is an annotator\.$")
    assert compared(seat.home) == before


@ONE_KIND
@pytest.mark.parametrize("who", ["disabled", "unknown"])
def test_disabled_or_unknown_person_is_refused_everywhere(world: KindWorld, seat: Seat, ada: Seat, who: str) -> None:
    row = world.answer(ada).row
    loop.next_question(ada)
    team.disable_person(Seat(seat.home, seat.person_id), ada.person_id)
    person = ada.person_id if who == "disabled" else 999
    prepare_guests(seat)
    before = compared(seat.home)
    there, nowhere = Seat(seat.home, person, seat.project_id), Seat(seat.home, person)
    for name, act in AT_A_PROJECT.items():
        must_be_refused(name, act, there, world, row, "Your access has ended")
        must_be_refused(name, act, there.at(999), world, row, "Your access has ended")
    for name, act in {**AT_NO_PROJECT, **OWN_SOMEWHERE, **OWN_WINNOW}.items():
        must_be_refused(name, act, nowhere, world, row, "Your access has ended")
    with pytest.raises(NotAllowed):
        there.settle()
    with pytest.raises(NotAllowed):
        _ = there.kind
    assert compared(seat.home) == before


@ONE_KIND
@pytest.mark.parametrize("where", ["unknown", "archived", "binned"])
def test_archived_or_binned_project_is_not_found(world: KindWorld, seat: Seat, ada: Seat, where: str) -> None:
    rows = {ada: world.answer(ada).row, seat: world.answer(seat).row}
    if where == "archived":
        managing.archive_project(seat)
    elif where == "binned":
        managing.bin_project(seat)
    project = 999 if where == "unknown" else seat.project_id
    words = {"unknown": "There is no project 999", "archived": "is archived", "binned": "is in the bin"}[where]
    prepare_guests(seat)
    before = compared(seat.home)
    for name, act in AT_A_PROJECT.items():
        if name in OWN_ANYWHERE:
            continue
        for whose, row in rows.items():
            with pytest.raises(NotFound, match=words):
                pytest.fail(f"{name} gave {act(Seat(seat.home, whose.person_id, project), world, row)!r}")
    with pytest.raises(NotFound, match=words):
        Seat(seat.home, seat.person_id, project).settle()
    assert compared(seat.home) == before
    if where == "unknown":
        for act in OWN_ANYWHERE.values():
            with pytest.raises(NotFound, match=words):
                act(Seat(seat.home, seat.person_id, 999), world, 0)
    else:
        for act in OWN_ANYWHERE.values():
            act(seat, world, 0)
        assert managing.get_project(seat).name == "small"
