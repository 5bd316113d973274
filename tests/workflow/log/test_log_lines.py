"""The log as sealed lines: what was written is read back, and whatever is done to the file is found."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.entries import NO_ROW, LogEntry
from tests.workflow.log.logs import IDS, an_entry, logs
from workflow.log.columns import COLUMNS, LATER, LogError, LogLine
from workflow.log.lines import LogFooter, LogHeader, check_log_lines, read_log_lines, seal, write_log_lines

HEADER = LogHeader("Vögel", "ab" * 32, {"seed": 7, "strategy": "apl"}, datetime(2026, 3, 9, tzinfo=UTC))
# Names as they come from anywhere: surrogates and NUL too, which JSON's escapes hold.
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
    """The sentence with which a file of these bytes is refused."""
    with pytest.raises(LogError) as caught:
        read_log_lines(b"".join(lines).splitlines(keepends=True))
    return str(caught.value)


def forged(lines: list[bytes], number: int, **changes: object) -> list[bytes]:
    """The file with other values in a line, in the form in which Winnow writes them."""
    values = json.loads(lines[number - 1]) | changes
    line = json.dumps(values, separators=(",", ":")).encode() + b"\n"
    return [*lines[: number - 1], line, *lines[number:]]


# What is written


@given(logs(least=0), any_text)
def test_what_is_written_is_read_back(log: list[LogEntry], name: str) -> None:
    lines = written(log, name)
    header, *entries, footer = check_log_lines(lines)
    assert header == HEADER
    assert entries == [LogLine(one, name, "" if one.row == NO_ROW else IDS[one.row]) for one in log]
    assert isinstance(footer, LogFooter)
    assert footer.entries == len(log)
    assert read_log_lines(lines) == entries


@given(any_text, any_text, st.lists(any_text, max_size=3))
def test_any_unicode_is_kept(note: str, token: str, names: list[str]) -> None:
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


def test_the_header_says_of_what_the_log_is() -> None:
    assert json.loads(written([])[0]) == {
        "winnow_log": 2,
        "project": "Vögel",
        "table_sha256": "ab" * 32,
        "settings": {"seed": 7, "strategy": "apl"},
        "written_at": "2026-03-09T00:00:00+00:00",
    }


def test_the_seals_are_those_that_the_text_describes() -> None:
    """By hand, with nothing but SHA-256: who has no Winnow can check a file too."""
    header, *entries, footer = (line.removesuffix(b"\n") for line in written(three()))
    before = json.loads(header)["table_sha256"]
    for line in entries:
        assert json.loads(line)["sha256"] == before
        before = hashlib.sha256(line).hexdigest()
    assert json.loads(footer) == {
        "sha256": before,
        "header_sha256": hashlib.sha256(header).hexdigest(),
        "entries": 3,
    }


def test_of_no_entries_the_head_is_the_table() -> None:
    assert list(check_log_lines(written([])))[-1] == LogFooter(0, "ab" * 32)


def test_the_head_is_of_table_and_log_alone_and_a_longer_log_has_the_seals_of_a_shorter() -> None:
    later = dataclasses.replace(
        HEADER, project="Birds", settings={}, written_at=datetime(2027, 1, 1, tzinfo=UTC)
    )
    shorter, longer = written(three()[:2]), written(three(), header=later)
    assert shorter[1:3] == longer[1:3]
    assert json.loads(shorter[-1])["sha256"] == json.loads(longer[3])["sha256"] == seal(longer[2][:-1])
    elsewhere = written(three(), header=dataclasses.replace(HEADER, table_sha256="cd" * 32))
    assert seal(elsewhere[3][:-1]) != seal(longer[3][:-1])


def test_lines_are_made_as_they_are_asked_for() -> None:
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


# What was done to it


@given(logs(least=0, most=3), st.data())
def test_any_byte_that_was_changed_is_found(log: list[LogEntry], data: st.DataObject) -> None:
    text = bytearray(b"".join(written(log)))
    place = data.draw(st.integers(0, len(text) - 1))
    text[place] ^= data.draw(st.integers(1, 255))
    fault([bytes(text)])


@given(logs(least=0, most=2), st.data())
def test_any_byte_that_was_added_or_taken_out_is_found(log: list[LogEntry], data: st.DataObject) -> None:
    text = b"".join(written(log))
    place = data.draw(st.integers(0, len(text)))
    more = data.draw(st.sampled_from([b" ", b"\n", b"0", b",", b"{}\n", b"\xef\xbb\xbf", b"\0"]))
    fault([text[:place] + more + text[place:]])
    if place < len(text):
        fault([text[:place] + text[place + 1 :]])
        fault([text[:place]])


def test_each_byte_of_a_small_file_counts() -> None:
    """Every place, with the changes that leave most as it was: another digit or letter, the case, a blank."""
    text = b"".join(written(three()[:1]))
    for place in range(len(text)):
        for mark in (text[place] ^ 1, text[place] ^ 32, 32, 48):
            if mark != text[place]:
                fault([text[:place] + bytes([mark]) + text[place + 1 :]])


@given(logs(least=1, most=4), st.data())
def test_any_line_deleted_doubled_or_moved_is_found(log: list[LogEntry], data: st.DataObject) -> None:
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
def test_a_tail_that_was_cut_is_found(log: list[LogEntry], data: st.DataObject) -> None:
    lines = written(log)
    left = lines[: data.draw(st.integers(0, len(lines) - 1))]
    assert ("cut off" in fault(left)) == bool(left)
    if 0 < len(left) < len(lines) - 1:
        assert f"it says {len(log)} entries, the file has {len(left) - 1}" in fault([*left, lines[-1]])


def test_a_column_that_came_later_leaves_the_seals_of_before() -> None:
    first, *rest = three()
    lines, put = (
        written([first]),
        written([dataclasses.replace(first, asked={"form": "is", "about": ["wren"]})]),
    )
    assert b"asked" not in lines[1]
    assert json.loads(put[1])["asked"] == {"form": "is", "about": ["wren"]}
    assert written([first, *rest])[1] == lines[1]
    assert fault(forged(put, 2, asked=None)).startswith("Line 2 was changed: it has 'asked'")
    assert "'asked' must be an object" in fault(forged(put, 2, asked="is"))


def test_a_file_of_before_is_still_read() -> None:
    header, *lines, footer = written(three())
    older = header.replace(b'{"winnow_log":2', b'{"winnow_log":1')
    sealed = json.loads(footer) | {"header_sha256": hashlib.sha256(older[:-1]).hexdigest()}
    end = json.dumps(sealed, separators=(",", ":")).encode() + b"\n"
    assert [one.entry.seq for one in read_log_lines([older, *lines, end])] == [1, 2, 3]


@pytest.mark.parametrize("number", [2, 3, 4])
def test_the_line_that_was_changed_is_named(number: int) -> None:
    assert f"Line {number} was changed" in fault(forged(written(three()), number, sha256="0" * 64))
    said = fault(forged(written(three()), number, note="forged"))
    assert (f"Line {number} was changed" if number < 4 else "does not fit line 4") in said


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda a, b, c, d, e: [], "Line 1 must be the header"),
        (lambda a, b, c, d, e: [b, c, d, e], "Line 1 must be the header"),
        (lambda a, b, c, d, e: [a, a, b, c, d, e], "Line 2 was changed: it has 'winnow_log'"),
        (
            lambda a, b, c, d, e: [a, c, d, e],
            "Line 2 holds entry 2, but entry 1 is not before it: removed, or",
        ),
        (lambda a, b, c, d, e: [a, d, e], "Line 2 holds entry 3, but entries 1 to 2 are not before it"),
        (
            lambda a, b, c, d, e: [a, b, b, c, d, e],
            "Line 3 holds entry 1, which belongs before: it was added",
        ),
        (lambda a, b, c, d, e: [a, b, d, c, e], "Line 3 holds entry 3, but entry 2 is not before it"),
        (lambda a, b, c, d, e: [a, b, c, e], "Line 4 closes the log, but it says 3 entries, the file has 2"),
        (lambda a, b, c, d, e: [a, b, c, d], "ends after 3 entries without the line that closes the log"),
        (lambda a, b, c, d, e: [a, b, c, d, e, e], "Line 6 was added: the log is closed before it"),
        (
            lambda a, b, c, d, e: [a, b, c[:-1] + b" \n", d, e],
            "Line 3 was changed: it is no JSON object as Winnow",
        ),
        (lambda a, b, c, d, e: [a, b, c[:-9], b"\n", d, e], "Line 3 was changed: it is no JSON object"),
        (
            lambda a, b, c, d, e: [a, b, b"[" * 99_999 + b"\n", d, e],
            "Line 3 was changed: it is no JSON object",
        ),
        (lambda a, b, c, d, e: [a, b, b"[]\n", d, e], "Line 3 was changed: it is no JSON object as Winnow"),
        (lambda a, b, c, d, e: [a, b, b"{}\n", d, e], "Line 3 was changed: it lacks 'sha256'"),
        (lambda a, b, c, d, e: [a, b, c, d, e[:-1]], "Line 5 was changed"),
        (
            lambda *lines: forged(list(lines), 1, project="Other"),
            "Line 5 closes the log, but it does not fit line 1",
        ),
        (lambda *lines: forged(list(lines), 1, table_sha256="0"), "Line 1 was changed"),
        (lambda *lines: forged(list(lines), 1, written_at="now"), "Line 1 was changed: it is no header"),
        (lambda *lines: forged(list(lines), 1, winnow_log=3), "Line 1: the form of this log has number 3"),
        (lambda *lines: forged(list(lines), 1, more=2), "Line 1 was changed: it is no header"),
        (
            lambda *lines: forged(list(lines), 4, note="x"),
            "Line 5 closes the log, but it does not fit line 4",
        ),
        (
            lambda *lines: forged(list(lines), 5, sha256=""),
            "Line 5 closes the log, but it does not fit line 4",
        ),
        (
            lambda *lines: forged(list(lines), 2, seconds="1"),
            "Line 2 was changed: 'seconds' must be a number. Got '1'",
        ),
        (lambda *lines: forged(list(lines), 2, flagged=1), "'flagged' must be true or false. Got 1."),
        (lambda *lines: forged(list(lines), 2, seq=True), "'seq' must be a whole number. Got True."),
        (lambda *lines: forged(list(lines), 2, labels=[1]), "'labels' must be a list of texts"),
        (lambda *lines: forged(list(lines), 2, token=None), "'token' must be text. Got None."),
        (
            lambda *lines: forged(list(lines), 2, at="noon"),
            "Line 2 was changed: 'at' must be a time. Got 'noon'.",
        ),
    ],
)
def test_each_fault_has_its_sentence(change: object, sentence: str) -> None:
    assert sentence in fault(change(*written(three())))  # type: ignore[operator]


def test_what_a_chain_cannot_show() -> None:
    """All lines written anew after a change are a good file; only a head noted elsewhere tells it from the first."""
    first, *others = three()
    lines = written([dataclasses.replace(first, labels=("robin",)), *others])
    assert len(read_log_lines(lines)) == 3
    assert list(check_log_lines(lines))[-1] != list(check_log_lines(written(three())))[-1]
