"""Finding answered rows, and correcting them: by new entries, exactly once, never by changing old ones."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from sqlalchemy import insert

from db import entries
from db.entries import NewEntry
from db.models import EntryRow
from plcore import AnswerError
from plcore.loop.one_label import ANSWERS
from tests.present import present
from tests.workflow.world import annotator, answer_next, count_entries, exported, log, opened
from workflow.answering import loop, undoing
from workflow.rows import reviewing
from workflow.rows.finding import Search
from workflow.seat import Seat
from workflow.server.home import Home


def answer_with(home: Home, person: int, project: int, kind: str, **more: object) -> int:
    """Answer the next question in this way; returns its row."""
    question = present(loop.next_question(Seat(home, person, project)))
    labels = more.pop(
        "labels", question.choices[:1] if kind in ("is", "not") else question.choices if kind == "among" else ()
    )
    loop.submit_answer(Seat(home, person, project), question.token, kind, labels, **more)  # type: ignore[arg-type]
    return question.view.row


def rows_found(home: Home, person: int, project: int, **search: object) -> list[int]:
    return [one.row for one in reviewing.find(Seat(home, person, project), Search(**search)).rows]  # type: ignore[arg-type]


def correct(home: Home, person: int, project: int, row: int, kind: str, labels: tuple[str, ...] = (), **more: object):
    token = reviewing.open_row(Seat(home, person, project), row).token
    return reviewing.correct(Seat(home, person, project), row, token, kind, labels, **more)  # type: ignore[arg-type]


def test_correction_adds_entry_and_updates_learner(home: Home, owner: int, project: int) -> None:
    ada = annotator(home, owner, "Ada")
    saved = answer_next(home, ada, project)
    before = log(home, project)
    with opened(home, owner, project) as learner:
        other = next(name for name in learner.state(saved.row).original if name != saved.labels[0])
    made = correct(home, owner, project, saved.row, "is", (other,), note=" wrong ", flagged=True)
    written = log(home, project)
    assert written[:1] == before, "nothing of the past changes"
    assert (made.labels, made.repeated, len(written)) == ((other,), False, 2)
    new = written[1]
    assert (new.kind, new.person_id, new.note, new.flagged, new.strategy) == ("is", owner, "wrong", True, "review")
    assert new.before == saved.labels
    assert new.after == (other,)
    assert new.predicted == before[0].predicted
    with opened(home, owner, project) as learner:
        assert learner.state(saved.row).candidates == (other,)
    row = reviewing.open_row(Seat(home, owner, project), saved.row)
    assert [(one.person, one.labels) for one in row.history] == [("Ada", saved.labels), ("owner", (other,))]
    frame = exported(home, owner, project)
    assert frame.winnow_label[saved.row] == other
    assert frame.winnow_annotator[saved.row] == "owner"


def test_label_outside_candidates_is_stored_as_none_then_is(home: Home, owner: int, project: int) -> None:
    question = present(loop.next_question(Seat(home, owner, project)))
    while len(question.choices) != 2:
        loop.submit_answer(Seat(home, owner, project), question.token, "skip")
        question = present(loop.next_question(Seat(home, owner, project)))
    loop.submit_answer(Seat(home, owner, project), question.token, "is", question.choices[:1])
    row = question.view.row
    (outside,) = {"ant", "bee", "cat"} - set(question.choices)
    token = reviewing.open_row(Seat(home, owner, project), row).token
    for _ in range(3):  # a double press stores nothing more
        made = reviewing.correct(Seat(home, owner, project), row, token, "is", (outside,))
        assert made.labels == (outside,)
    assert made.repeated
    written = [entry for entry in log(home, project) if entry.kind != "skip"]
    assert [(one.kind, one.after) for one in written[1:]] == [
        ("none", tuple(name for name in ("ant", "bee", "cat") if name != question.choices[0])),
        ("is", (outside,)),
    ]
    assert reviewing.open_row(Seat(home, owner, project), row).candidates == (outside,)
    assert undoing.undo(Seat(home, owner, project)) is not None
    assert reviewing.open_row(Seat(home, owner, project), row).candidates == question.choices[:1], "one press, one undo"


@pytest.mark.parametrize(
    ("kind", "labels"),
    [
        ("is", ("dodo",)),
        ("is", ()),
        ("is", ("ant", "bee")),
        ("among", ()),
        ("skip", ()),
        ("withdraw", ()),
        ("bad", ("ant",)),
    ],
)
def test_invalid_correction_is_refused(
    home: Home, owner: int, project: int, kind: str, labels: tuple[str, ...]
) -> None:
    row = answer_next(home, owner, project).row
    token = reviewing.open_row(Seat(home, owner, project), row).token
    with pytest.raises(AnswerError):
        reviewing.correct(Seat(home, owner, project), row, token, kind, labels)
    assert count_entries(home) == 1


def test_bad_item_is_asked_again_after_undo(home: Home, owner: int, project: int) -> None:
    row = answer_with(home, owner, project, "bad")
    opened = reviewing.open_row(Seat(home, owner, project), row)
    assert opened.out
    assert opened.candidates == ()
    correct(home, owner, project, row, "is", opened.imported[:1])
    opened = reviewing.open_row(Seat(home, owner, project), row)
    assert (opened.out, opened.candidates) == (False, opened.imported[:1])


def test_correction_closes_open_question(home: Home, owner: int, project: int) -> None:
    row = answer_with(home, owner, project, "unsure")
    labeling_now = present(loop.next_question(Seat(home, owner, project)))
    correct(home, owner, project, row, "bad")
    still = present(loop.next_question(Seat(home, owner, project)))
    assert still.token == labeling_now.token, "a question about another row stays"


def test_disagreement_uses_prediction_at_question_time(home: Home, owner: int, project: int) -> None:
    rows = [answer_with(home, owner, project, "is") for _ in range(12)]
    told = {entry.row: entry for entry in log(home, project)}
    expected = [row for row in reversed(rows) if told[row].predicted not in (None, told[row].labels[0])]
    assert any(told[row].predicted is not None for row in rows), "the model says something of most rows"
    assert rows_found(home, owner, project, disagrees=True) == expected
    every = reviewing.find(Seat(home, owner, project), Search())
    assert [line.row for line in every.rows if line.differs] == expected


def fill(home: Home, owner: int, project: int, n: int, **changes: object) -> None:
    """Add entries for queries only, row k of person `owner`; no learner reads them."""
    now = datetime.now(UTC)
    rows = [
        {
            "project_id": project,
            "seq": k + 1,
            "kind": "is",
            "row": k,
            "label": "",
            "labels": ["ant" if k % 3 else "Ant"],
            "person_id": owner,
            "token": f"{owner}.{k}.0",
            "revision": 0,
            "model_version": 0,
            "before": ["ant", "Ant"],
            "after": ["ant"],
            "at": now,
            "predicted": "ant",
            "flagged": k % 5 == 0,
        }
        | changes
        for k in range(n)
    ]
    with home.database.write() as session:
        session.execute(insert(EntryRow), rows)


def test_queries_are_exact_on_long_log(home: Home, owner: int, project: int) -> None:
    from db import answers as found_in

    n = 20_000
    fill(home, owner, project, n)
    with home.database.write() as session:
        entries.append(
            session,
            NewEntry(
                project_id=project,
                kind="withdraw",
                row=n - 1,
                person_id=owner,
                token="w",
                revision=1,
                target_seq=n,
                at=datetime.now(UTC),
            ),
        )
    wanted = found_in.Wanted(
        kinds=ANSWERS, exact=("is",), labels=("Ant",), flagged=True, disagrees=True, now={"bee": "ant"}
    )
    with home.database.read() as session:
        assert found_in.tally(session, project, found_in.Wanted(kinds=ANSWERS)).listed == n - 1, (
            "the last one was withdrawn"
        )
        total = found_in.tally(session, project, wanted).listed
        page = found_in.page(session, project, wanted, 50, 50)
    expected = [k for k in range(n - 1) if k % 3 == 0 and k % 5 == 0][::-1]
    assert total == len(expected)
    assert [entry.row for entry in page] == expected[50:100]
