"""The Export page: formats, rows, the progress, and the resulting link."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import state
from pages.parts.words import size
from plcore.tables import LabelTable, Roles
from tests.pages.conftest import Open, by_label, press, sent_to, words
from tests.workflow.backups.forging import new_home
from tests.workflow.vector_world import LABELS, answer_truly, vector_project
from tests.workflow.world import answer_next, file_of, small_project
from workflow.backups.one_project import bring_in
from workflow.exporting import files as exporting
from workflow.files.prepared import Taken, Whose
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture
def seat(home: Home, owner: int) -> Seat:
    project = small_project(home, owner, "small *birds*")
    for _ in range(3):
        answer_next(home, owner, project)
    return Seat(home, owner, project)


def open_export(show: Open, seat: Seat) -> AppTest:
    return show(seat.person_id, "export.py", project=str(seat.project_id))


def choices(test: AppTest, label: str) -> Any:
    """The choice of this label: "Rows", or a card of formats."""
    return by_label(test.button_group, label)


def choose(test: AppTest, label: str, value: str) -> AppTest:
    choices(test, label).set_value(value).run()
    assert not test.exception
    return test


def maker(test: AppTest) -> Any:
    """The button that makes the chosen file."""
    return next(one for one in test.button if (one.key or "").startswith(f"{state.EXPORT}-make-"))


def make(test: AppTest) -> AppTest:
    maker(test).click().run()
    assert not test.exception
    return test


def sources(test: AppTest) -> dict[str, str]:
    """Return the number of labels from each source, as the page shows it."""
    (table,) = (one.proto.body for one in test.get("html") if one.proto.body.startswith('<table class="winnow-'))
    return {name: re.sub("</?b>", "", count) for name, count in re.findall(r"<th.*?>(\w+)<.*?<td>(.*?)</td>", table)}


def links(test: AppTest) -> list[str]:
    """The HTML of the links to files."""
    return [one.proto.body for one in test.get("html") if one.proto.body.startswith('<a class="winnow-')]


def begin(seat: Seat, write: Callable[[BinaryIO, Callable[[int], None]], None], name: str = "birds.csv") -> str:
    """A file that the test itself writes."""
    whose = Whose(seat.person_id, seat.project_id or 0)
    return seat.home.prepared.begin(seat.home.exports_dir, whose, name, Taken(60, 3, write))


def test_preview_shows_label_next_to_row(seat: Seat, show: Open) -> None:
    preview = open_export(show, seat).dataframe[0]
    first = preview.value.columns[0]
    assert list(preview.value.columns)[:4] == [first, "winnow_label", "winnow_confidence", "winnow_source"]


def test_preview_of_wide_table_has_first_columns(home: Home, owner: int, show: Open) -> None:
    width = 200
    frame = pd.DataFrame({f"n{i}": [f"{row * i % 7}.5" for row in range(30)] for i in range(width)})
    table = LabelTable.from_frame(frame.assign(labels="wren|robin"), Roles("labels", numbers=tuple(frame.columns)))
    project = managing.create_project(Seat(home, owner), "wide", table)
    test = open_export(show, Seat(home, owner, project))
    columns = list(test.dataframe[0].value.columns)
    assert {"n0", "winnow_label", "winnow_source"} < set(columns)
    assert len(columns) < 80
    assert f"{len(columns)} of " in " ".join(one.value for one in test.caption)


def test_file_is_prepared_for_spreadsheets(seat: Seat, show: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = []
    monkeypatch.setattr(exporting, "prepare", lambda _seat, choice, _stem: chosen.append(choice) or "key")
    monkeypatch.setattr(exporting, "wait", lambda *_: None)
    test = open_export(show, seat)
    by_label(test.checkbox, "Guard against formulas").check().run()
    make(test)
    choose(test, "Python and Hugging Face", "parquet")
    assert not [one for one in test.checkbox if one.label == "Guard against formulas"]
    make(test)
    assert [(one.file, one.for_spreadsheets) for one in chosen] == [("csv", True), ("parquet", False)]


def test_page_describes_every_file_and_choice_of_rows(seat: Seat, show: Open) -> None:
    test = open_export(show, seat)
    cards = {one.label: one.options for one in test.button_group}
    assert cards.pop("Rows") == ["All 60", "Answered 3", "Confident 32"]
    assert list(cards) == ["Spreadsheet", "Python and Hugging Face", "Another tool", "More formats"]
    assert cards["Spreadsheet"] == ["CSV", "Excel"]
    assert cards["Python and Hugging Face"] == ["Parquet", "JSON Lines", "Data set with its card"]
    assert "Label Studio" in cards["Another tool"]
    assert cards["More formats"][-2:] == ["Answer log", "Answer log, sealed"]
    files = exporting.export_view(seat, 1).files
    assert sum(map(len, cards.values())) == len(files), "each once"
    assert all(one.form.about.endswith(".") for one in files.values()), "one plain sentence each"
    assert not test.slider, "how sure is asked only where it counts"


def test_choosing_format_on_one_card_clears_the_others(seat: Seat, show: Open) -> None:
    test = open_export(show, seat)
    for card, name, sentence in (
        ("Python and Hugging Face", "parquet", "The same with types"),
        ("More formats", "npz", "Ids, classes, candidates"),
        ("Spreadsheet", "xlsx", "The columns of the CSV file as a sheet"),
    ):
        choose(test, card, name)
        chosen = {one.label: one.value for one in test.button_group if one.label != "Rows" and one.value}
        assert chosen == {card: name}
        assert any(one.value.startswith(sentence) for one in test.caption)


def test_sources_and_first_rows_are_shown(seat: Seat, show: Open) -> None:
    test = open_export(show, seat)
    (first,) = (one.value for one in test.dataframe)
    counts = {name: int(count) for name, count in sources(test).items()}
    assert sum(counts.values()) == 60
    assert set(counts) >= {"person", "truth", "given"}
    assert len(first) == 20


def test_sources_are_counted_for_chosen_rows(seat: Seat, show: Open) -> None:
    test = open_export(show, seat)
    every = {name: int(count) for name, count in sources(test).items()}
    shown = sources(choose(test, "Rows", "answered"))
    assert shown == {name: "3" if name == "person" else f"{count:,} left out" for name, count in every.items()}
    choose(test, "Rows", "sure").slider[0].set_value(50).run()
    view = exporting.export_view(seat, 1, 0.5)
    sure = view.sources["sure"]["model"]
    assert sources(test)["model"] == f"{sure:,} · {every['model'] - sure:,} left out"
    for choice, count in view.counts.items():
        assert sum(view.sources[choice].values()) == count


def test_disputed_and_pending_rows_are_included_on_request(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner, overlap=2, fold="majority", test_share=0.0)
    answer_next(home, owner, project)
    test = open_export(show, Seat(home, owner, project))
    assert not test.toggle, "all rows are chosen"
    choose(test, "Rows", "answered")
    assert maker(test).disabled
    assert sources(test)["pending"] == "1 left out"
    by_label(test.toggle, "Include disputed and pending rows").set_value(True).run()
    assert sources(test)["pending"] == "1"
    assert maker(test).label == "Download CSV, 1 row"


def test_button_says_what_it_makes(seat: Seat, show: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    test = open_export(show, seat)
    assert maker(test).label == "Download CSV, 60 rows"
    assert maker(choose(test, "Rows", "answered")).label == "Download CSV, 3 rows"
    assert maker(choose(test, "Spreadsheet", "xlsx")).label == "Download Excel workbook, 3 rows"
    assert maker(choose(test, "More formats", "log")).label == "Download Answer log, 3 lines"
    assert maker(choose(test, "Python and Hugging Face", exporting.DATA_SET)).label.startswith("Prepare Data set")


def test_browser_downloads_a_file_that_is_ready_at_once(seat: Seat, show: Open) -> None:
    test = make(open_export(show, seat))
    (one,) = exporting.prepared(seat)
    assert sent_to(test, "winnow_fetch") == [
        {"address": f"exports/{seat.project_id}/{one.key}", "name": "small-birds-winnowed.csv"}
    ]
    assert not sent_to(test.run(), "winnow_fetch"), "once"


def test_short_file_is_ready_at_once(seat: Seat, show: Open) -> None:
    test = make(open_export(show, seat))
    (one,) = exporting.prepared(seat)
    (link,) = links(test)
    assert f'href="exports/{seat.project_id}/{one.key}"' in link
    assert 'download="small-birds-winnowed.csv"' in link
    assert size(one.size) in link
    path, _ = exporting.find(seat, one.key)
    assert path.read_bytes() == file_of(seat)
    again = open_export(show, seat)
    assert links(again) == [link], "it is there after a reload, too"
    assert not [button for button in again.button if button.label == "Cancel"]


def type_state(test: AppTest, typed: str) -> AppTest:
    by_label(test.text_input, "As of").set_value(typed).run()
    assert not test.exception
    return test


def test_earlier_state_is_shown_and_exported(seat: Seat, show: Open) -> None:
    test = open_export(show, seat)
    assert not test.info
    type_state(test, "1")
    assert "as it was after entry 1 of 3, " in words(test)
    assert choices(test, "Rows").options[1] == "Answered 1"
    assert "Data set with its card" not in choices(test, "Python and Hugging Face").options
    make(test)
    (one,) = exporting.prepared(seat)
    assert one.file_name == "small-birds-winnowed-as-of-1.csv"
    path, _ = exporting.find(seat, one.key)
    assert path.read_bytes() == file_of(seat, as_of=1)
    assert "prepare it again" not in words(test)
    assert "before the first entry" in words(type_state(test, "0"))
    type_state(test, " ")
    assert choices(test, "Rows").options[1] == "Answered 3"


@pytest.mark.parametrize(("typed", "said"), [("40", "has entries 1 to 3"), ("in March", "no snapshot 'in March'")])
def test_unknown_state_is_reported(seat: Seat, show: Open, typed: str, said: str) -> None:
    test = type_state(open_export(show, seat), typed)
    assert said in test.error[0].value
    offered = [button.label for button in test.button]
    assert "Download CSV, 60 rows" not in offered, "there is nothing to make"
    assert "Download CSV, 60 rows" in [button.label for button in open_export(show, seat).button]


def test_file_has_chosen_format_and_rows(seat: Seat, show: Open) -> None:
    test = choose(open_export(show, seat), "Rows", "sure")
    (slider,) = test.slider
    assert slider.value == 90
    slider.set_value(50).run()
    counts = exporting.export_view(seat, 1, 0.5).counts
    assert choices(test, "Rows").options[2] == f"Confident {counts['sure']:,}"
    make(choose(test, "Python and Hugging Face", "jsonl"))
    (one,) = exporting.prepared(seat)
    assert one.file_name == "small-birds-winnowed-sure.jsonl"
    path, _ = exporting.find(seat, one.key)
    assert path.read_bytes() == file_of(seat, "jsonl", "sure", 0.5)
    assert path.read_bytes().count(b"\n") == counts["sure"]


def test_log_has_no_choice_of_rows(seat: Seat, show: Open) -> None:
    test = choose(open_export(show, seat), "More formats", "log")
    assert "Rows" not in [one.label for one in test.button_group]
    assert "All 3 lines" in words(test)
    make(test)
    (one,) = exporting.prepared(seat)
    assert one.file_name == "small-birds-log.csv"


def test_export_without_rows_is_explained(home: Home, owner: int, show: Open) -> None:
    new = Seat(home, owner, small_project(home, owner))
    test = choose(open_export(show, new), "Rows", "answered")
    assert "No row is answered yet. Answer some, or export every row." in words(test)
    assert maker(test).disabled
    test = choose(open_export(show, new), "More formats", "log")
    assert "There are no answers yet" in words(test)
    assert maker(test).disabled


def test_long_export_shows_progress_and_can_be_cancelled(seat: Seat, show: Open) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def write(file: BinaryIO, tell: Callable[[int], None]) -> None:
        file.write(b"x")
        tell(15)
        begun.set()
        go_on.wait()
        tell(60)

    begin(seat, write)
    begun.wait()
    test = open_export(show, seat)
    (bar,) = test.get("progress")
    assert bar.proto.value == 25
    assert bar.proto.text == "birds\\.csv: 15 of 60 rows"
    assert not links(test)
    press(test, "Cancel")
    assert exporting.prepared(seat) == ()
    assert not test.get("progress")
    go_on.set()
    seat.home.prepared.close()
    assert not list(seat.home.exports_dir.iterdir())


def test_failed_export_is_explained(seat: Seat, show: Open) -> None:
    def write(_file: BinaryIO, _tell: Callable[[int], None]) -> None:
        raise OSError(28, "No space left on device")

    exporting.wait(seat, begin(seat, write))
    said = words(open_export(show, seat)).replace("\\", "")
    assert "birds.csv: The file could not be written (No space left on device)" in said
    assert "Fix: make room on the disk" in said


def test_outdated_export_says_which_entries_it_misses(seat: Seat, show: Open) -> None:
    test = make(open_export(show, seat))
    assert "Missing the latest" not in words(test)
    answer_next(seat.home, seat.person_id, seat.project_id or 0)
    assert "Missing the latest 1 entry of the log" in words(open_export(show, seat))
    answer_next(seat.home, seat.person_id, seat.project_id or 0)
    test = open_export(show, seat)
    assert "Missing the latest 2 entries of the log" in words(test)
    assert "Missing the latest" not in words(make(test))


def test_export_folder_that_cannot_be_created_is_reported(seat: Seat, show: Open) -> None:
    Path(seat.home.exports_dir).write_bytes(b"in its place")
    said = words(make(open_export(show, seat))).replace("\\", "")
    assert "could not be written to the data folder" in said


def test_export_of_project_archived_meanwhile_is_refused(seat: Seat, show: Open) -> None:
    test = open_export(show, seat)
    managing.archive_project(seat)
    assert "is archived" in words(make(test))


def test_label_vectors_have_their_own_files(home: Home, owner: int, show: Open) -> None:
    project = vector_project(home, owner, question="cell")
    answer_truly(home, owner, project)
    seat = Seat(home, owner, project)
    test = open_export(show, seat)
    (first,) = (one.value for one in test.dataframe)
    counts = {name: int(count.replace(",", "")) for name, count in sources(test).items()}
    assert sum(counts.values()) == 40 * len(LABELS)
    assert counts["person"] == 1
    assert list(first.columns[: 1 + len(LABELS)]) == ["id", *LABELS]
    assert choices(test, "Rows").options[1] == "Answered 1"
    (link,) = links(make(test))
    assert "Download scenes-winnowed.csv" in link


def test_sizes_are_shown_in_decimal_units(subtests: pytest.Subtests) -> None:
    for count, shown in [
        (0, "0.1 kB"),
        (99, "0.1 kB"),
        (2_876, "2.9 kB"),
        (12_345, "12 kB"),
        (4_560_000, "4.6 MB"),
        (78_900_000, "79 MB"),
        (2_500_000_000, "2.5 GB"),
    ]:
        with subtests.test(str(count)):
            assert size(count) == shown


@pytest.mark.usefixtures("checked_here")
def test_project_file_is_downloaded(seat: Seat, show: Open, tmp_path: Path) -> None:
    test = press(open_export(show, seat), "Download project")
    (one,) = exporting.prepared(seat)
    assert (one.file_name, one.seq) == ("small-birds.winnow.zip", 3)
    (link,) = links(test)
    assert 'download="small-birds.winnow.zip"' in link
    path, _ = exporting.find(seat, one.key)
    with new_home(tmp_path / "there") as there:
        assert bring_in(there, path).name == "small *birds*"
    answer_next(seat.home, seat.person_id, seat.project_id or 0)
    assert "Missing the latest 1 entry of the log" in words(open_export(show, seat))


def test_import_of_project_file_shows_progress(seat: Seat, show: Open) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def write(file: BinaryIO, tell: Callable[[int], None]) -> int:
        file.write(b"x")
        tell(250)
        begun.set()
        go_on.wait()
        return 3

    whose = Whose(seat.person_id, seat.project_id or 0)
    taken = Taken(1000, 3, write, counts_rows=False)
    key = seat.home.prepared.begin(seat.home.exports_dir, whose, "birds.zip", taken)
    begun.wait()
    (bar,) = open_export(show, seat).get("progress")
    assert bar.proto.text == "birds\\.zip: 25%"
    go_on.set()
    exporting.wait(seat, key)


def test_project_file_without_its_table_is_refused(seat: Seat, show: Open) -> None:
    test = open_export(show, seat)
    (table,) = seat.home.tables_dir.iterdir()
    table.unlink()
    press(test, "Download project")
    (one,) = exporting.prepared(seat)
    assert one.state == exporting.FAILED
    assert f"tables/{table.name} is missing in the data folder" in one.fault
