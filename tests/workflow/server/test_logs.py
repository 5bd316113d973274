"""Lines of the log."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Iterator

import pytest

from workflow.server import logs
from workflow.server.settings import Settings

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ([A-Z]+) (\S+) \[(\S+)\] (.*)", re.DOTALL)


def record(message: str, name: str = "winnow", *, trace: bool = False) -> logging.LogRecord:
    made = logging.LogRecord(name, logging.WARNING, __file__, 1, message, (), None)
    if trace:
        try:
            raise ZeroDivisionError("oops")
        except ZeroDivisionError:
            made.exc_info = sys.exc_info()
    made.created = 1_795_939_092.1234
    return made


@pytest.mark.parametrize(("name", "shown"), [("winnow", "worker"), ("uvicorn.error", "uvicorn.error")])
def test_text_line_has_iso_time_level_program_and_request(name: str, shown: str) -> None:
    lines = logs.TextLines("worker", lambda: "5f0c2a9e")
    assert lines.format(record("It failed.", name)).endswith(f"Z WARNING {shown} [5f0c2a9e] It failed.")
    found = LINE.fullmatch(logs.TextLines("worker", lambda: "").format(record("It failed.", name)))
    assert found is not None
    assert found.groups() == ("WARNING", shown, "-", "It failed.")
    assert found.group().startswith("2026-11-29T")


def test_message_cannot_forge_a_line(subtests: pytest.Subtests) -> None:
    for end in ["\n", "\r", "\r\n", "\x0b", "\x85", "\u2028"]:
        with subtests.test(ascii(end)):
            forged = f"a project called x{end}2026-11-29T08:00:00.000Z ERROR server [-] All is lost.\x1b[2J"
            first, *others = logs.TextLines("server", lambda: "").format(record(forged)).splitlines()
            assert LINE.fullmatch(first)
            assert all(line.startswith("    ") for line in others)
            assert "\x1b" not in first + "".join(others)


def test_traceback_is_indented_below_its_line() -> None:
    first, *others = logs.TextLines("server", lambda: "").format(record("It failed.", trace=True)).split("\n")
    assert first.endswith("It failed.")
    assert others[0] == "    Traceback (most recent call last):"
    assert others[-1] == "    ZeroDivisionError: oops"


def test_json_line_is_one_object_with_fields_and_exception() -> None:
    made = record('A "name"\nof two lines \ud800', trace=True)
    made.__dict__["fields"] = {"status": 200}
    line = logs.JsonLines("server", lambda: "5f0c2a9e").format(made)
    assert "\n" not in line
    said = json.loads(line)
    assert said.pop("time").startswith("2026-11-29T")
    assert said.pop("pid") > 0
    assert said.pop("exception").endswith("ZeroDivisionError: oops")
    assert said == {
        "level": "WARNING",
        "logger": "winnow",
        "program": "server",
        "request": "5f0c2a9e",
        "message": 'A "name"\nof two lines \ud800',
        "status": 200,
    }


@pytest.fixture
def loggers() -> Iterator[None]:
    """All loggers as they were."""
    known = [logging.getLogger(), *map(logging.getLogger, logging.Logger.manager.loggerDict)]
    before = [(one, one.handlers[:], one.level, one.propagate) for one in known]
    yield
    logging.captureWarnings(capture=False)
    for one, handlers, level, propagate in before:
        one.handlers[:], one.level, one.propagate = handlers, level, propagate
    logging.Logger.manager._clear_cache()  # type: ignore[attr-defined]


@pytest.mark.usefixtures("loggers")
@pytest.mark.parametrize("form", ["text", "json"])
def test_libraries_with_own_handlers_log_in_the_same_form(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    other = logging.getLogger("winnow_test_library")
    other.addHandler(logging.StreamHandler())
    other.propagate = False
    settings = Settings.from_environment({"WINNOW_LOG_FORMAT": form})
    for _ in range(2):  # a second call changes nothing
        logs.set_up(settings, "server")
    other.error("It failed.")
    logging.getLogger("winnow").info("It starts.")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    if form == "json":
        assert [json.loads(line)["message"] for line in lines] == ["It failed.", "It starts."]
    else:
        assert all(LINE.fullmatch(line) for line in lines)
