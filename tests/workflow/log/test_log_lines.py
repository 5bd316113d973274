"""The log as entries, lines and CSV."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from db import entries, events
from db.entries import NO_ROW, LogEntry
from plcore import Entry
from plcore.loop import ClassChange, class_changes
from tests.workflow.kind_worlds import WORLDS, KindWorld
from tests.workflow.log.logs import IDS, an_entry, logs, texts
from tests.workflow.log.written import read_log, read_log_lines
from tests.workflow.world import annotator, answer_next, file_of, log
from workflow.answering import undoing
from workflow.kinds import KINDS
from workflow.log.columns import COLUMNS, LATER, LogError, LogLine, write_log
from workflow.log.lines import LogFooter, LogHeader, check_log_lines, seal, write_log_lines
from workflow.log.reading import Vote, curve_points, figure, follow, learner_entry, number, read_class_changes, told_row
from workflow.projects import classes
from workflow.rows.row import RowView
from workflow.seat import Seat
from workflow.server.home import Home

# The log as sealed lines: entries are read back unchanged, and any change to the file is found


HEADER = LogHeader("Vögel", "ab" * 32, {"seed": 7, "strategy": "apl"}, datetime(2026, 3, 9, tzinfo=UTC))
# Arbitrary names: surrogates and NUL, too, which JSON's escapes can represent.
any_text = st.text(max_size=6)


def written(log: list[LogEntry], name: str = "Ada", header: LogHeader = HEADER) -> list[bytes]:
    return list(write_log_lines(log, {0: name}, IDS, header))


def three() -> list[LogEntry]:
    """A log of three entries, the last about no row."""
    first = an_entry(
        at=datetime(2026, 3, 1, 12, tzinfo=UTC),
        row=2,
        token="0.2.0",
        labels=("wren",),
        score=0.25,
        before=("robin", "wren"),
        after=("wren",),
        seconds=1.5,
        note="Zaunkönig",
    )
    second = dataclasses.replace(first, seq=2, row=3, token="0.3.0", note=None, score=None)
    return [first, second, dataclasses.replace(second, seq=3, row=NO_ROW, kind="class", token="classes.0")]


def fault(lines: list[bytes]) -> str:
    """The message when a file of these bytes is refused."""
    with pytest.raises(LogError) as caught:
        read_log_lines(b"".join(lines).splitlines(keepends=True))
    return str(caught.value)


def forged(lines: list[bytes], number: int, **changes: object) -> list[bytes]:
    """The file with other values in a line, in Winnow's own form."""
    values = json.loads(lines[number - 1]) | changes
    line = json.dumps(values, separators=(",", ":")).encode() + b"\n"
    return [*lines[: number - 1], line, *lines[number:]]


# Written files


@given(logs(least=0), any_text)
def test_log_lines_round_trip(log: list[LogEntry], name: str) -> None:
    lines = written(log, name)
    header, *entries, footer = check_log_lines(lines)
    assert header == HEADER
    assert entries == [LogLine(one, name, "" if one.row == NO_ROW else IDS[one.row]) for one in log]
    assert isinstance(footer, LogFooter)
    assert footer.entries == len(log)
    assert read_log_lines(lines) == entries


@given(any_text, any_text, st.lists(any_text, max_size=3))
def test_any_unicode_is_preserved(note: str, token: str, names: list[str]) -> None:
    log = [dataclasses.replace(three()[0], note=note, token=token, labels=tuple(names))]
    lines = written(log)
    assert b"".join(lines).isascii()
    assert [line.entry for line in read_log_lines(lines)] == log


def test_every_column_has_its_own_type() -> None:
    line = json.loads(written(three())[1])
    assert list(line) == ["sha256", *(name for name in COLUMNS if name not in LATER)]
    assert line["seq"] == 1
    assert line["row"] == 3, "people count rows from 1"
    assert line["row_id"] == "r|2"
    assert line["labels"] == ["wren"]
    assert line["before"] == ["robin", "wren"]
    assert line["score"] == 0.25
    assert line["withdraws_seq"] is None
    assert line["flagged"] is False
    assert line["at"] == "2026-03-01T12:00:00+00:00"
    assert line["annotator"] == "Ada"
    about_none = json.loads(written(three())[3])
    assert (about_none["row"], about_none["row_id"]) == (None, "")


def test_header_names_project_of_log() -> None:
    assert json.loads(written([])[0]) == {
        "winnow_log": 2,
        "project": "Vögel",
        "table_sha256": "ab" * 32,
        "settings": {"seed": 7, "strategy": "apl"},
        "written_at": "2026-03-09T00:00:00+00:00",
    }


def test_seals_match_their_documentation() -> None:
    """By hand, with only SHA-256: people without Winnow can check a file, too."""
    header, *entries, footer = (line.removesuffix(b"\n") for line in written(three()))
    before = json.loads(header)["table_sha256"]
    for line in entries:
        assert json.loads(line)["sha256"] == before
        before = hashlib.sha256(line).hexdigest()
    assert json.loads(footer) == {"sha256": before, "header_sha256": hashlib.sha256(header).hexdigest(), "entries": 3}


def test_head_of_empty_log_is_table_hash() -> None:
    assert list(check_log_lines(written([])))[-1] == LogFooter(0, "ab" * 32)


def test_head_depends_on_table_and_log_only() -> None:
    later = dataclasses.replace(HEADER, project="Birds", settings={}, written_at=datetime(2027, 1, 1, tzinfo=UTC))
    shorter, longer = written(three()[:2]), written(three(), header=later)
    assert shorter[1:3] == longer[1:3]
    assert json.loads(shorter[-1])["sha256"] == json.loads(longer[3])["sha256"] == seal(longer[2][:-1])
    elsewhere = written(three(), header=dataclasses.replace(HEADER, table_sha256="cd" * 32))
    assert seal(elsewhere[3][:-1]) != seal(longer[3][:-1])


def test_log_lines_are_generated_lazily() -> None:
    asked = []

    def log() -> list[LogEntry]:
        for entry in three():
            asked.append(entry.seq)
            yield entry

    lines = write_log_lines(log(), {}, IDS, HEADER)  # type: ignore[arg-type]
    next(lines)
    assert asked == []
    next(lines)
    assert asked == [1]


# Changes to it


@given(logs(least=0, most=3), st.data())
def test_changed_byte_is_found(log: list[LogEntry], data: st.DataObject) -> None:
    text = bytearray(b"".join(written(log)))
    place = data.draw(st.integers(0, len(text) - 1))
    text[place] ^= data.draw(st.integers(1, 255))
    fault([bytes(text)])


@given(logs(least=0, most=2), st.data())
def test_added_or_removed_byte_is_found(log: list[LogEntry], data: st.DataObject) -> None:
    text = b"".join(written(log))
    place = data.draw(st.integers(0, len(text)))
    more = data.draw(st.sampled_from([b" ", b"\n", b"0", b",", b"{}\n", b"\xef\xbb\xbf", b"\0"]))
    fault([text[:place] + more + text[place:]])
    if place < len(text):
        fault([text[:place] + text[place + 1 :]])
        fault([text[:place]])


def test_every_changed_byte_of_small_file_is_found() -> None:
    """Every place, with small changes: another digit or letter, the case, a blank."""
    text = b"".join(written(three()[:1]))
    for place in range(len(text)):
        for mark in (text[place] ^ 1, text[place] ^ 32, 32, 48):
            if mark != text[place]:
                fault([text[:place] + bytes([mark]) + text[place + 1 :]])


@given(logs(least=1, most=4), st.data())
def test_deleted_doubled_or_moved_line_is_found(log: list[LogEntry], data: st.DataObject) -> None:
    lines = written(log)
    one, other = data.draw(st.integers(0, len(lines) - 1)), data.draw(st.integers(0, len(lines) - 1))
    fault(lines[:one] + lines[one + 1 :])
    fault([*lines[:one], lines[one], *lines[one:]])
    fault([*lines[:other], lines[one], *lines[other:]])
    if one != other:
        swapped = list(lines)
        swapped[one], swapped[other] = lines[other], lines[one]
        fault(swapped)
        moved = lines[:one] + lines[one + 1 :]
        moved.insert(other, lines[one])
        fault(moved)


@given(logs(least=0, most=4), st.data())
def test_truncated_log_is_found(log: list[LogEntry], data: st.DataObject) -> None:
    lines = written(log)
    left = lines[: data.draw(st.integers(0, len(lines) - 1))]
    assert ("cut off" in fault(left)) == bool(left)
    if 0 < len(left) < len(lines) - 1:
        assert f"it counts {len(log)} and the file has {len(left) - 1} entr" in fault([*left, lines[-1]])


def test_later_column_keeps_earlier_seals() -> None:
    first, *rest = three()
    lines, put = (written([first]), written([dataclasses.replace(first, asked={"form": "is", "about": ["wren"]})]))
    assert b"asked" not in lines[1]
    assert json.loads(put[1])["asked"] == {"form": "is", "about": ["wren"]}
    assert written([first, *rest])[1] == lines[1]
    assert fault(forged(put, 2, asked=None)).startswith("Line 2 was changed: it has 'asked'")
    assert "'asked' must be an object" in fault(forged(put, 2, asked="is"))


def test_file_of_earlier_format_is_read() -> None:
    header, *lines, footer = written(three())
    older = header.replace(b'{"winnow_log":2', b'{"winnow_log":1')
    sealed = json.loads(footer) | {"header_sha256": hashlib.sha256(older[:-1]).hexdigest()}
    end = json.dumps(sealed, separators=(",", ":")).encode() + b"\n"
    assert [one.entry.seq for one in read_log_lines([older, *lines, end])] == [1, 2, 3]


@pytest.mark.parametrize("number", [2, 3, 4])
def test_changed_line_is_named(number: int) -> None:
    assert f"Line {number} was changed" in fault(forged(written(three()), number, sha256="0" * 64))
    said = fault(forged(written(three()), number, note="forged"))
    assert (f"Line {number} was changed" if number < 4 else "does not fit line 4") in said


def test_each_fault_has_its_message(subtests: pytest.Subtests) -> None:
    for change, sentence in [
        (lambda a, b, c, d, e: [], "Line 1 must be the header"),
        (lambda a, b, c, d, e: [b, c, d, e], "Line 1 must be the header"),
        (lambda a, b, c, d, e: [a, a, b, c, d, e], "Line 2 was changed: it has 'winnow_log'"),
        (lambda a, b, c, d, e: [a, c, d, e], "Line 2 holds entry 2, but entry 1 is not before it: removed, or"),
        (lambda a, b, c, d, e: [a, d, e], "Line 2 holds entry 3, but entries 1 to 2 are not before it"),
        (lambda a, b, c, d, e: [a, b, b, c, d, e], "Line 3 holds entry 1, which belongs before: it was added"),
        (lambda a, b, c, d, e: [a, b, d, c, e], "Line 3 holds entry 3, but entry 2 is not before it"),
        (lambda a, b, c, d, e: [a, b, c, e], "Line 4 closes the log, but it counts 3 and the file has 2 entries"),
        (lambda a, b, c, d, e: [a, b, c, d], "ends after 3 entries without the line that closes the log"),
        (lambda a, b, c, d, e: [a, b, c, d, e, e], "Line 6 was added: the log is closed before it"),
        (lambda a, b, c, d, e: [a, b, c[:-1] + b" \n", d, e], "Line 3 was changed: it is not JSON object as Winnow"),
        (lambda a, b, c, d, e: [a, b, c[:-9], b"\n", d, e], "Line 3 was changed: it is not JSON object"),
        (lambda a, b, c, d, e: [a, b, b"[" * 99_999 + b"\n", d, e], "Line 3 was changed: it is not JSON object"),
        (lambda a, b, c, d, e: [a, b, b"[]\n", d, e], "Line 3 was changed: it is not JSON object as Winnow"),
        (lambda a, b, c, d, e: [a, b, b"{}\n", d, e], "Line 3 was changed: it lacks 'sha256'"),
        (lambda a, b, c, d, e: [a, b, c, d, e[:-1]], "Line 5 was changed"),
        (lambda *lines: forged(list(lines), 1, project="Other"), "Line 5 closes the log, but it does not fit line 1"),
        (lambda *lines: forged(list(lines), 1, table_sha256="0"), "Line 1 was changed"),
        (lambda *lines: forged(list(lines), 1, written_at="now"), "Line 1 was changed: it is not a header"),
        (lambda *lines: forged(list(lines), 1, winnow_log=3), "Line 1: the form of this log has number 3"),
        (lambda *lines: forged(list(lines), 1, more=2), "Line 1 was changed: it is not a header"),
        (lambda *lines: forged(list(lines), 4, note="x"), "Line 5 closes the log, but it does not fit line 4"),
        (lambda *lines: forged(list(lines), 5, sha256=""), "Line 5 closes the log, but it does not fit line 4"),
        (lambda *lines: forged(list(lines), 2, seconds="1"), "Line 2 was changed: 'seconds' must be a number. Got '1'"),
        (lambda *lines: forged(list(lines), 2, flagged=1), "'flagged' must be true or false. Got 1."),
        (lambda *lines: forged(list(lines), 2, seq=True), "'seq' must be a whole number. Got True."),
        (lambda *lines: forged(list(lines), 2, labels=[1]), "'labels' must be a list of texts"),
        (lambda *lines: forged(list(lines), 2, token=None), "'token' must be text. Got None."),
        (lambda *lines: forged(list(lines), 2, at="noon"), "Line 2 was changed: 'at' must be a time. Got 'noon'."),
    ]:
        with subtests.test(sentence):
            assert sentence in fault(change(*written(three())))  # type: ignore[operator]


def test_resealed_log_is_valid_with_another_head() -> None:
    """If all lines are rewritten after a change, the file is valid; only a head noted elsewhere shows the
    difference."""
    first, *others = three()
    lines = written([dataclasses.replace(first, labels=("robin",)), *others])
    assert len(read_log_lines(lines)) == 3
    assert list(check_log_lines(lines))[-1] != list(check_log_lines(written(three())))[-1]


# The stored log as learners read it


def test_pool_follows_log(world: KindWorld, seat: Seat) -> None:
    for _ in range(3):
        world.answer(seat)
    undoing.undo(seat)
    pool = KINDS[world.kind].first_learner(world.table(), world.settings()).pool
    applied: list[Entry] = []

    def apply(entry: Entry) -> None:
        applied.append(entry)
        pool.apply(entry)

    with seat.learner() as opened:
        session, project, last = opened.session, opened.project_id, opened.learner.seq
        assert last >= 4
        assert follow(session, project, pool, apply)
        assert follow(session, project, pool, apply), "nothing is missed"
        assert [one.seq for one in applied] == list(range(1, last + 1))
        assert pool.n_answered == opened.learner.pool.n_answered


def test_class_change_is_no_learner_entry(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    world = WORLDS[0]
    pool = KINDS[world.kind].first_learner(world.table(), world.settings()).pool
    world.say(seat, "skip")
    classes.change_classes(seat, 0, "add", ["zebra"])
    world.say(seat, "skip")
    with seat.learner() as opened:
        session = opened.session
        assert not follow(session, project, pool, pool.apply)
        assert pool.seq == 1, "it stays before that entry"
        (change,) = read_class_changes(session, project)
        assert (change.seq, change.kind, change.names) == (2, "add", ("zebra",))
        assert opened.learner.seq == 3


def test_entry_of_learner_has_all_fields(world: KindWorld, seat: Seat) -> None:
    saved = world.answer(seat, note="a note")
    undoing.undo(seat, saved.seq)
    with seat.reading() as reading:
        stored = entries.after(reading.session, reading.project.id, 0)
    read = [learner_entry(one) for one in stored]
    assert read[-1].target is not None
    assert [(one.seq, one.kind, one.row, one.labels, one.target) for one in read] == [
        (one.seq, one.kind, one.row, one.labels, one.target_seq) for one in stored
    ]
    assert {one.annotator for one in read} == {str(seat.person_id)}
    with seat.reading() as reading:
        assert [learner_entry(one) for one in events.each(reading.session, reading.project.id, 0)] == read
        assert [one.seq for one in events.each(reading.session, reading.project.id, 1)] == [
            one.seq for one in stored[1:]
        ]


# The log as CSV: read back entry for entry


LONG = an_entry(note="a long note " * 2_000)


@given(logs(), texts)
def test_log_csv_round_trips(log: list[LogEntry], name: str) -> None:
    lines = read_log(b"".join(write_log(log, {0: name}, IDS)))
    assert [line.entry for line in lines] == log
    assert {line.annotator for line in lines} == {name}
    assert [line.row_id for line in lines] == ["" if one.row == NO_ROW else IDS[one.row] for one in log]


def test_long_log_csv_is_written_in_pieces() -> None:
    (entry,) = read_log(b"".join(write_log([LONG], {}, IDS)))
    log = [dataclasses.replace(entry.entry, seq=seq) for seq in range(1, 9)]
    pieces = list(write_log(log, {}, IDS))
    assert len(pieces) > 2
    assert [line.entry for line in read_log(b"".join(pieces))] == log


@pytest.mark.parametrize("column", ["seq", "at", "row", "score", "revision"])
def test_invalid_log_csv_cell_is_named(column: str) -> None:
    good = an_entry(score=0.5)
    lines = b"".join(write_log([good], {}, IDS)).decode().splitlines()
    cells = lines[1].split(",")
    cells[list(COLUMNS).index(column)] = "oops"
    with pytest.raises(LogError, match=f"Line 1 of the log, column '{column}': 'oops'"):
        read_log("\n".join([lines[0], ",".join(cells)]).encode())
    with pytest.raises(LogError, match=f"no column '{column}'"):
        read_log("\n".join([lines[0].replace(column, "x", 1), lines[1]]).encode())


def test_log_csv_without_later_columns_is_read() -> None:
    good = an_entry(score=0.5)
    lines = b"".join(write_log([good], {}, IDS)).decode().splitlines()
    older = "\n".join(line.rsplit(",", len(LATER))[0] for line in lines)
    (read,) = read_log(older.encode())
    assert read.entry == good
    put = b"".join(write_log([an_entry(asked={"form": "is"})], {}, IDS))
    assert read_log(put)[0].entry.asked == {"form": "is"}
    with pytest.raises(LogError, match=r"column 'asked': '\[\]' cannot be read"):
        read_log(put.replace(b'"{""form"": ""is""}"', b"[]"))


def test_exported_log_contains_class_changes(home: Home, owner: int, project: int) -> None:
    ada = annotator(home, owner, "Ada")
    answer_next(home, ada, project)
    answer_next(home, ada, project)
    undoing.undo(Seat(home, ada, project))
    classes.change_classes(Seat(home, owner, project), 0, "add", ["d|e"])
    data = file_of(Seat(home, owner, project), "log")
    written = log(home, project)
    names = {"owner": owner, "Ada": ada}
    back = [dataclasses.replace(line.entry, person_id=names[line.annotator]) for line in read_log(data, project)]
    assert back == written
    assert class_changes(map(learner_entry, back)) == (ClassChange(4, "add", ("d|e",)),)


# Values that programs are reported: no NaN among them, and files by their addresses


@pytest.mark.parametrize(
    ("value", "told"), [(None, None), (math.nan, None), (math.inf, None), (0, 0.0), (np.float32(0.5), 0.5)]
)
def test_non_finite_number_becomes_null(value: float | None, told: float | None) -> None:
    assert number(value) == told
    assert json.dumps(number(value), allow_nan=False)


def test_row_shows_what_annotators_see() -> None:
    view = RowView(
        row=3,
        row_id="r3",
        image="files/a.png",
        text="a pond",
        features=(("x", "1,5"), ("y", "")),
        texts=(("title", "Heard"), ("note", "a pond")),
        audio="files/b.wav",
        segment=(None, 2.5),
        images=("files/a.png", "data:image/png;base64,AA"),
        caption=(("where", "pond"),),
        source=(("photo", "p1 (3 rows)"),),
    )
    assert told_row(view) == {
        "row": 3,
        "row_id": "r3",
        "text": "a pond",
        "texts": {"title": "Heard", "note": "a pond"},
        "features": {"x": "1,5", "y": ""},
        "caption": {"where": "pond"},
        "source": {"photo": "p1 (3 rows)"},
        "images": ["/files/a.png", "data:image/png;base64,AA"],
        "audio": "/files/b.wav",
        "segment": [None, 2.5],
    }


def test_figure_is_last_known_point() -> None:
    nan = np.nan
    points = curve_points(np.array([0, 2]), *(np.array(part) for part in ([nan, 0.5], [nan, 0.25], [nan, 0.75])))
    assert points[0] == {"answers": 0, "value": None, "low": None, "high": None}
    assert figure("accuracy", "test rows", points) == {
        "name": "accuracy",
        "by": "test rows",
        "value": 0.5,
        "low": 0.25,
        "high": 0.75,
    }
    assert figure("accuracy", "test rows", points[:1]) is None
    assert figure("accuracy", "test rows", []) is None


# Votes


def test_votes_differ_by_person() -> None:
    one = Vote(3, None, 1, frozenset({"ant"}), frozenset({"ant", "bee"}), None, check=False, known=None)
    assert one != one._replace(person_id=2)
    assert one.names <= one.choices
