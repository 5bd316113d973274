"""Tables in parts: files of a zip or sheets of a workbook with equal columns, and other combinations."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
import pytest

from plcore import LabelTable
from plcore.tables import TableError, read_stored, read_table, shaped, store_reading
from tests.plcore.tables.readers.cases import says
from tests.plcore.tables.readers.test_excel import workbook
from tests.plcore.tables.zips import make_zip

HEAD = ["id", "text", "labels"]


def rows(start: int, count: int) -> list[list[str]]:
    return [[f"r{k}", f"a bird number {k * k}", ("wren|robin", "wren")[k % 2]] for k in range(start, start + count)]


def csv(start: int, count: int, head: list[str] = HEAD) -> bytes:
    frame = pd.DataFrame(rows(start, count), columns=HEAD)[head]
    return frame.to_csv(index=False).encode()


def parquet(start: int, count: int) -> bytes:
    out = io.BytesIO()
    pd.DataFrame(rows(start, count), columns=HEAD).assign(place="here").to_parquet(out)
    return out.getvalue()


@pytest.mark.parametrize("count", [2, 3, 12])
def test_files_with_equal_columns_are_one_table(count: int) -> None:
    orders = (HEAD, HEAD[::-1])
    files = {f"part-{k:02}.csv": csv(10 * k, 10, orders[k % 2]) for k in range(count)}
    reading = read_table(make_zip(files))
    assert reading.cells["id"].tolist() == [f"r{k}" for k in range(10 * count)]
    assert reading.cells["labels"].tolist() == [row[2] for row in rows(0, 10 * count)]
    assert reading.cells["source_file"].iloc[[0, -1]].tolist() == ["part-00.csv", f"part-{count - 1:02}.csv"]
    assert any(
        f"The {count} tables with the same columns were read one after the other" in one for one in reading.notes
    )
    roles = reading.suggest_roles()
    assert (roles.id, roles.text, roles.candidates, roles.categories) == ("id", "text", "labels", ())


def test_batches_of_votes_are_one_table_of_votes() -> None:
    """An item has votes in both files."""
    batches = {"a.csv": b"task,worker,label\nt1,w1,cat\nt2,w1,dog\n", "b.csv": b"task,worker,label\nt1,w2,dog\n"}
    reading = shaped(read_table(make_zip(batches)))
    assert reading.cells["candidates"].tolist() == ['{"cat": 1, "dog": 1}', '{"dog": 1}']


@pytest.mark.parametrize("same", [["id"], []])
def test_files_with_the_same_rows_are_not_parts(same: list[str]) -> None:
    head = [*same, "text", "labels"]
    with pytest.raises(TableError, match=r"2 tables with the same columns.*They share 10 (ids|rows)"):
        read_table(make_zip({"ann.csv": csv(0, 10, head), "bob.csv": csv(0, 10, head)}))


def test_files_with_different_columns_are_refused() -> None:
    files = {"a.csv": csv(0, 3), "b.csv": csv(3, 3), "c.csv": b"x,y\n1,2\n"}
    with pytest.raises(TableError, match=r"The zip holds 3 tables: 'a\.csv', 'b\.csv', 'c\.csv'"):
        read_table(make_zip(files))
    with pytest.raises(TableError, match="The zip holds 3 tables"):
        read_table(make_zip({"a.json": b"[]", "b.xlsx": b"", "c.npz": b""}))


@pytest.mark.parametrize("others", [["b.parquet"], ["b.parquet", "c.parquet"], ["b.txt"]])
def test_rows_of_another_format_in_a_zip_stop_the_import(others: list[str]) -> None:
    files = {"a.csv": csv(0, 5)}
    for place, name in enumerate(others, start=1):
        tabbed = csv(5, 7).replace(b",", b"\t")
        files[name] = tabbed if name.endswith(".txt") else parquet(5 * place, 7)
    reading = read_table(make_zip(files))
    assert len(reading.cells) == 5
    ((name, message, _),) = reading.asks
    assert name == "more-tables"
    assert "read here are the 5 rows of 'a.csv' alone, but" in message
    assert all(f"'{other}' (7 rows)" in message for other in others)


def test_settings_next_to_a_table_are_named_without_stopping() -> None:
    reading = read_table(make_zip({"a.csv": csv(0, 5), "run.json": b'{"made": "2024"}', "log.json": b"no json"}))
    assert reading.asks == ()
    assert any(one == "Not read: 'run.json', 'log.json'." for one in reading.notes)


MONTHS = {"Jan": [HEAD, *rows(0, 5)], "Feb": [HEAD, *rows(5, 4)], "Mar": [HEAD, *rows(9, 1)]}


def test_sheets_with_equal_columns_are_one_table() -> None:
    reading = read_table(workbook({"Read me": [["Birds of 2024"]], **MONTHS}))
    assert reading.format == "workbook, sheets 'Jan', 'Feb', 'Mar'"
    assert reading.cells["id"].tolist() == [f"r{k}" for k in range(10)]
    assert reading.cells["sheet"].tolist() == ["Jan"] * 5 + ["Feb"] * 4 + ["Mar"]
    assert says(reading, "they have 5, 4, 1 rows")
    assert says(reading, "not 'Read me'")
    table = LabelTable.from_cells(reading.cells, reading.suggest_roles())
    assert (table.roles.numbers, table.roles.categories) == ((), ()), "a month tells nothing of a bird"


def test_sheets_with_the_same_items_stop_the_import() -> None:
    reading = read_table(workbook({"Ann": [HEAD, *rows(0, 6)], "Bob": [HEAD, *rows(0, 5)], "Old": [["id"], ["r1"]]}))
    assert (reading.format, len(reading.cells)) == ("workbook, sheet 'Ann'", 6)
    ((name, message, _),) = reading.asks
    assert name == "more-sheets"
    assert "share 5 ids, such as 'r" in message
    assert "read here are the 6 rows of 'Ann' alone, but the 5 rows of 'Bob' may be labels" in message
    assert "Only the sheet 'Ann' was read, not 'Bob' (5 rows), 'Old' (1 row)." in reading.notes


def test_hidden_sheets_with_equal_columns_are_left_out() -> None:
    def hide(book: object) -> None:
        book["Feb"].sheet_state = "hidden"  # type: ignore[index]

    reading = read_table(workbook(MONTHS, hide))
    assert reading.format == "workbook, sheets 'Jan', 'Mar'"
    assert says(reading, "not 'Feb' (4 rows)")


def test_doubts_about_a_file_are_stored_with_its_reading(tmp_path: Path) -> None:
    reading = read_table(workbook({"Ann": [HEAD, *rows(0, 6)], "Bob": [HEAD, *rows(0, 5)]}))
    store_reading(reading, tmp_path)
    assert read_stored(tmp_path).asks == reading.asks


def people(*labels: str, **columns: list[str]) -> dict[str, list[list[str]]]:
    """The sheets of Anna and Ben: these columns, and labels on which they disagree."""
    names = [*columns, "labels"]
    return {
        name: [names, *map(list, zip(*columns.values(), given, strict=True))]
        for name, given in (("Anna", labels), ("Ben", labels[::-1]))
    }


TEXTS = [f"it sang {word} in the garden" for word in ("low", "high", "long", "soft", "late", "well", "once", "on")]
LABELS = ("wren|robin", "wren", "robin", "robin", "wren|robin", "robin", "wren", "wren")


@pytest.mark.parametrize(
    "columns",
    [
        {"text": TEXTS},
        {"wing": [f"{5 + k * k / 7:.2f}" for k in range(8)], "place": ["wood", "sea"] * 4},
        {"id": [str(k) for k in range(1, 9)], "text": TEXTS},
        {"id": [f"{word}.wav" for word in "abcdefgh"], "place": ["wood", "sea"] * 4},
    ],
    ids=["texts", "numbers", "ids", "files"],
)
def test_sheets_of_two_people_stop_the_import(columns: dict[str, list[str]]) -> None:
    sheets = people(*LABELS, **columns)
    reading = read_table(workbook(sheets))
    assert (reading.format, len(reading.cells)) == ("workbook, sheet 'Anna'", 8)
    ((name, message, _),) = reading.asks
    assert name == "more-sheets"
    assert f"share 8 {'ids' if 'id' in columns else 'rows'}" in message
    files = {f"{name}.csv": as_csv(rows) for name, rows in sheets.items()}
    with pytest.raises(TableError, match=r"They share 8 (ids|rows)"):
        read_table(make_zip(files))


def test_sheets_of_places_with_few_values_are_one_table() -> None:
    sheet = [["place", "labels"], *(["wood", "wren|robin"], ["sea", "robin"]) * 3]
    reading = read_table(workbook({"Jan": sheet, "Feb": [*sheet[:-1], ["sea", "wren"]]}))
    assert (len(reading.cells), len(reading.asks)) == (6, 1), "all rows are in both"
    other = [["place", "labels"], *(["wood", "gull"], ["sea", "tern|gull"]) * 3]
    reading = read_table(workbook({"Jan": sheet, "Feb": other}))
    assert (len(reading.cells), reading.asks) == (12, ())


def as_csv(rows: list[list[str]]) -> bytes:
    return pd.DataFrame(rows[1:], columns=rows[0]).to_csv(index=False).encode()


def numbered(texts: list[str]) -> list[list[str]]:
    return [HEAD, *([str(k), text, LABELS[k - 1]] for k, text in enumerate(texts, start=1))]


def test_ids_that_restart_in_each_part_are_prefixed_with_its_name() -> None:
    months = {"Jan": numbered(TEXTS[:4]), "Feb": numbered(TEXTS[4:7])}
    reading = read_table(workbook(months))
    assert reading.cells["id"].tolist() == ["Jan:1", "Jan:2", "Jan:3", "Jan:4", "Feb:1", "Feb:2", "Feb:3"]
    assert reading.cells["text"].tolist() == TEXTS[:7]
    assert reading.asks == ()
    assert "The ids begin again in each sheet: the name of the sheet stands before them." in reading.notes
    table = LabelTable.from_cells(reading.cells, reading.suggest_roles())
    assert table.ids.tolist() == reading.cells["id"].tolist()
    files = read_table(make_zip({f"{name}.csv": as_csv(rows) for name, rows in months.items()}))
    assert files.cells["id"].tolist()[3:5] == ["Jan.csv:4", "Feb.csv:1"]
    assert "The ids begin again in each file: the name of the file stands before them." in files.notes


def test_files_with_other_comments_are_the_same_rows() -> None:
    rows = [[HEAD, *([f"{k}.wav", text, LABELS[k]] for k, text in enumerate(one))] for one in (TEXTS, TEXTS[::-1])]
    reading = read_table(workbook(dict(zip(("Ann", "Bob"), rows, strict=True))))
    assert "share 8 ids" in reading.asks[0][1]


def test_the_same_texts_under_other_ids_are_the_same_rows() -> None:
    reading = read_table(workbook({"Ann": numbered(TEXTS), "Bob": numbered(TEXTS[::-1])}))
    assert "share 8 rows" in reading.asks[0][1]


@pytest.mark.parametrize("tasks", [["t1", "t2", "t3", "t4"], ["1", "2", "3", "4"]])
def test_votes_of_each_person_in_file_are_one_table_of_votes(tasks: list[str]) -> None:
    def votes(worker: str, *labels: str) -> list[list[str]]:
        head = ["task", "worker", "label", "text"]
        texts = [f"a long text about {task}" for task in tasks]
        return [head, *([*row] for row in zip(tasks, [worker] * 4, labels, texts, strict=True))]

    both = {"a": votes("w1", "cat", "dog", "cat", "cat"), "b": votes("w2", "dog", "dog", "cat", "dog")}
    for data in (workbook(both), make_zip({f"{name}.csv": as_csv(rows) for name, rows in both.items()})):
        reading = shaped(read_table(data))
        assert reading.cells["task"].tolist() == tasks
        assert reading.cells["candidates"].tolist()[:2] == ['{"cat": 1, "dog": 1}', '{"dog": 2}']
        assert reading.asks == ()


def test_hint_names_no_column_of_parts() -> None:
    pictures = {f"{month}.csv": b"file,text\n" + b"".join(
        b"%d.jpg,seen near the river %d times\n" % (k, k * k) for k in range(start, start + 6)
    ) for month, start in (("jan", 0), ("feb", 6))}  # fmt: skip
    reading = read_table(make_zip(pictures))
    assert "source_file" in reading.cells
    with pytest.raises(TableError, match="No column holds the candidate labels") as caught:
        LabelTable.from_cells(reading.cells, reading.suggest_roles())
    assert "'source_file' holds" not in str(caught.value)
    assert "None repeats a few words, as labels do" in str(caught.value)
