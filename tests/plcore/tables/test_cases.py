"""Small files in layouts that users post, each with its correct reading."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from plcore import LabelTable, Roles, TableError, read_cells, suggest_roles
from plcore.tables import TableReading, describe, find_doubts, read_table, shaped

CASES = Path(__file__).with_name("cases")
GULLS = 'id,candidates,w\n1,"Gull, Herring",1\n' + "".join(f"{k},Wren,{k * k}\n" for k in range(2, 9))


def read(source: str | bytes, name: str | None = None) -> tuple[TableReading, LabelTable]:
    """The reading and the table of a case, or of these bytes, with every role guessed."""
    reading = shaped(read_table(CASES / source if isinstance(source, str) else source, name))
    return reading, made(reading)


def made(reading: TableReading) -> LabelTable:
    return LabelTable.from_cells(reading.cells, reading.suggest_roles(), reading.files, reading.arrays)


def sets(table: LabelTable) -> list[set[str]]:
    """The names of the candidates of each row."""
    return [{table.classes[k] for k in np.flatnonzero(row)} for row in np.asarray(table.candidates)]


def stops(table: LabelTable) -> set[str]:
    """The names of the doubts that stop the import."""
    return {doubt.name for doubt in find_doubts(table) if doubt.stops}


def test_features_of_a_shortlist_are_its_text() -> None:
    _, table = read("llm_shortlist.jsonl")
    roles = table.roles
    assert (roles.text, roles.numbers, roles.categories) == ("text", (), ())


@pytest.mark.parametrize(
    "column",
    ["latency_ms", "ASSIGNMENT:reward", "tokens", "total_tokens", "lead_time", "WorkTimeInSeconds", "cost_usd",
     "annotation_id", "created_at", "rt", "duration", "constant", "running", "prompt_tokens"],
)  # fmt: skip
def test_features_exclude_facts_about_the_model_run(column: str) -> None:
    rows = [
        {"text": f"a bird of the kind {'ab'[k % 2]} number {k * k}", "labels": ["a|b", "a"][k % 2]}
        | {column: 7 if column == "constant" else k if column == "running" else k * k % 17}
        for k in range(20)
    ]
    roles = suggest_roles(read_cells(pd.DataFrame(rows).to_csv(index=False).encode()))
    assert (roles.candidates, roles.text, roles.numbers) == ("labels", "text", ())


def test_features_include_measurements_next_to_text() -> None:
    rows = [{"text": f"a bird seen at {k}", "labels": "a|b", "wing_mm": k * k, "age": k % 5} for k in range(20)]
    roles = suggest_roles(read_cells(pd.DataFrame(rows).to_csv(index=False).encode()))
    assert (roles.text, roles.numbers) == ("text", ("wing_mm", "age"))


def test_features_exclude_facts_about_the_worker() -> None:
    rows = [
        {"worker": f"w{k % 3}", "age": 20 + k % 3, "text": f"a bird seen at {k}", "labels": "a|b"} for k in range(20)
    ]
    roles = suggest_roles(read_cells(pd.DataFrame(rows).to_csv(index=False).encode()))
    assert (roles.text, roles.numbers) == ("text", ())


def test_text_is_a_feature_in_addition_to_numbers() -> None:
    cells = read_cells(b"text,w,labels\nred bird,1,a|b\nblue bird,2,a\nred fish,5,b\n")
    table = LabelTable.from_cells(cells, suggest_roles(cells))
    assert table.roles.numbers == ("w",)
    names = table.features().fit(table).feature_names_
    assert "w" in names
    assert any(name.startswith("text: ") for name in names)


def test_mixed_separators_stop_import() -> None:
    _, table = read("g15_mixed_sep.csv")
    assert stops(table) == {"mixed-separators"}


@pytest.mark.parametrize(
    "cell", ["wren/robin", '"wren, robin"', "wren; robin", "wren & robin", "wren or robin", "wren and robin"]
)
def test_one_row_under_another_separator_stops_import(cell: str) -> None:
    rows = "".join(f"r{k},{cell if k == 3 else 'wren|robin'},{k * k % 7}\n" for k in range(20))
    _, table = read(f"id,candidates,y\n{rows}".encode(), "a.csv")
    assert stops(table) == {"mixed-separators"}


def test_mixed_separators_can_be_split_at_both() -> None:
    reading, table = read("g15_mixed_sep.csv")
    (doubt,) = [one for one in find_doubts(table) if one.name == "mixed-separators"]
    both = doubt.fix.partition("--separator '")[2].partition("'")[0]
    split = LabelTable.from_cells(reading.cells, replace(reading.suggest_roles(), separator=both))
    assert stops(split) == set()
    assert not any(mark in name for name in split.classes for mark in "|,;")
    assert set(split.classes) < set(table.classes)
    assert " and ".join(map(repr, both)) in describe(split, reading.format).read_as


@pytest.mark.parametrize(("separator", "count"), [("|,", 3), (";,", 2), ("||", 1), (", ", 1)])
def test_separator_of_several_marks_splits_at_each(separator: str, count: int) -> None:
    frame = pd.DataFrame({"c": ["a|b,c", "a"], "w": ["1", "2"]}, dtype="str")
    table = LabelTable.from_cells(frame, Roles("c", separator, numbers=("w",)))
    assert len(sets(table)[0]) == count


def test_shares_in_a_single_row_stop_the_import() -> None:
    assert stops(read("shares_in_one_row.csv")[1]) == {"weights-in-names"}
    assert stops(read("slash_in_one_row.csv")[1]) == {"mixed-separators"}


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ('id,candidates,w\n1,"[""a"", ""b""]",1\n2,a|b,2\n3,a|b,4\n4,b,3\n', "json-in-names"),
        ('id,candidates,w\n1,"[a, b]",1\n2,a|b,2\n3,a|b,4\n4,b,3\n', "mixed-separators"),
        ("id,candidates,text\n1,a|b,one thing\n2,b,two\nid,candidates,text\n3,a|b,three\n", "second-header"),
        ("id,candidates,text\n1,a|b,one thing\n2,b,two\nID, Candidates,Text\n3,a|b,three\n", "second-header"),
        ("id,candidates,w\n1,a|b,1\n2,a|b,2\n3,a 60%|b 40%,3\n", "weights-in-names"),
        ("id,candidates,w\n1,a|b,1\n2,b,2\nTotal,a,3\n", "sum-row"),
        ("id,candidates,w\n1,MARCH1|DEC1,1\n2,1-Mar|DEC1,2\n", "dates-as-labels"),
        ("id,candidates,w\n1,a|b,1\n2,=A1|b,2\n", "formulas-as-labels"),
        (GULLS, "few-separators"),
        ("id,cat,dog,w\n1,x,,1\n2,,x,2\n3,x,x,5\n", "empty-or-no"),
        ("id,cat,dog,w\n1,1,-1,1\n2,-1,0,2\n3,-1,-1,5\n", "minus-one"),
        ("id,candidates,w\n1,a|nan,1\n2,a|b,2\n", "nothing-next-to-labels"),
    ],
)  # fmt: skip
def test_cells_with_two_readings_stop_import(data: str, name: str) -> None:
    cells = read_cells(data.encode())
    table = LabelTable.from_cells(cells, suggest_roles(cells))
    assert name in stops(table)


def test_ordinary_tables_are_not_stopped() -> None:
    rows = [{"text": f"say number {k} to me", "intents": f"i{k % 60}|i{(k + 7) % 60}"} for k in range(1000)]
    cells = read_cells(pd.DataFrame(rows).to_csv(index=False).encode())
    table = LabelTable.from_cells(cells, suggest_roles(cells))
    assert len(table.classes) == 60
    assert {doubt.name for doubt in find_doubts(table)} <= {"unused"}


def test_quoted_none_is_class() -> None:
    _, table = read("g15_na_jsonlist.json")
    assert table.classes == ("None", "anger", "joy")
    assert sets(table)[0] == {"None", "joy"}
    assert sets(table)[3] == {"None", "anger"}


@pytest.mark.parametrize("name", ["g12_na_csv.csv", "g12_na_jsonl.jsonl", "g12_na_parquet.parquet"])
def test_own_export_keeps_a_class_called_na(name: str) -> None:
    _, table = read(name)
    assert table.classes == ("NA", "NO", "ZA")
    assert (sets(table)[0], sets(table)[2]) == ({"NA", "ZA"}, {"NA", "NO"})


def test_words_of_typed_sources_are_names() -> None:
    rows = [{"text": f"words of the row {k}", "labels": ["none", "b|c", "c"][k % 3]} for k in range(9)]
    assert read(json.dumps(rows).encode(), "a.json")[1].classes == ("b", "c", "none")
    votes = [{"text": f"words of {k}", "worker_1": ["NA", "b"][k % 2], "worker_2": "b"} for k in range(9)]
    packed = io.BytesIO()
    pd.DataFrame(votes).to_parquet(packed)
    assert read(packed.getvalue(), "a.parquet")[1].classes == ("NA", "b")


def test_na_alone_in_csv_cell_is_missing() -> None:
    cells = read_cells(b"labels,w\nwren|robin,1\nNA,2\n")
    assert suggest_roles(cells).ignored == ("NA",)


def test_null_among_candidates_raises_a_question() -> None:
    reading = shaped(read_table(CASES / "null_among_candidates.jsonl"))
    with pytest.raises(TableError, match="holds null among the labels") as caught:
        made(reading)
    assert len(caught.value.problems) == 1
    roles = reading.suggest_roles()
    table = LabelTable.from_cells(reading.cells, replace(roles, unlabelled="all"))
    assert sets(table)[3] == {"a", "b", "c"}
    assert LabelTable.from_cells(reading.cells, replace(roles, unlabelled="leave-out")).n_rows == 19


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("id,labels,w\n1,a|b,1\n2,,2\n3,,4\n4,b,3\n", "a.csv"),
        ('[{"id": 1, "labels": ["a", "b"], "w": 1}, {"id": 2, "labels": [], "w": 2}, {"id": 3, "labels": [], "w": 4},'
         ' {"id": 4, "labels": ["b"], "w": 3}]', "a.json"),
        ("id,labels,w\n1,0|1,1\n2,-1,2\n3,-1,4\n4,1,3\n", "a.csv"),
    ],
)  # fmt: skip
def test_unlabelled_rows_raise_one_question_in_every_format(data: str, name: str) -> None:
    reading = read_table(data.encode(), name)
    with pytest.raises(TableError) as caught:
        made(reading)
    (problem,) = caught.value.problems
    assert "1 other row" in problem.message
    roles = reading.suggest_roles()
    table = LabelTable.from_cells(reading.cells, replace(roles, unlabelled="all"))
    assert [len(one) for one in sets(table)] == [2, 2, 2, 1]
    assert LabelTable.from_cells(reading.cells, replace(roles, unlabelled="leave-out")).ids.tolist() == ["1", "4"]


def test_nulls_of_struct_are_absent_scores() -> None:
    _, table = read("g8_struct_scores.parquet")
    assert sets(table) == [{"wren", "robin"}, {"None", "wren"}, {"robin"}]


@pytest.mark.parametrize(
    ("kind", "first"), [("nan", [-1, 1, -1, 1, 0, 1, -1, 0]), ("yesno", [0, -1, -1, -1, 0, 0, -1, 0])]
)
def test_tags_with_holes_are_label_vectors(kind: str, first: list[int]) -> None:
    _, table = read(f"tags_{kind}.csv")
    assert len(table.classes) == 8
    assert table.label_vectors[0].tolist() == first
    assert (table.roles.text, table.roles.id) == ("caption", "photo_id")


@pytest.mark.parametrize(
    "codes",
    [
        ("yes", "no", ""),
        ("Y", "N", "unknown"),
        ("TRUE", "FALSE", "NA"),
        ("1", "0", "-1"),
        ("1.0", "0.0", "nan"),
        ("present", "absent", "?"),
    ],
)
def test_tags_with_holes_are_read_in_every_coding(codes: tuple[str, str, str]) -> None:
    yes, no, hole = codes
    rows = [[yes, no, hole], [no, yes, no], [no, no, yes], [yes, hole, no]] * 2
    csv = "id,cat,dog,owl\n" + "".join(f"r{k},{','.join(row)}\n" for k, row in enumerate(rows))
    cells = read_cells(csv.encode())
    roles = suggest_roles(cells)
    assert (roles.label_columns, roles.label_vectors) == (("cat", "dog", "owl"), True)


def test_votes_whose_classes_hold_separator_are_votes() -> None:
    reading = shaped(read_table(CASES / "votes_with_truth_semicolon.csv"))
    roles = reading.suggest_roles()
    assert (roles.annotators, roles.truth, roles.candidates) == (("Ada", "Ben", "Cleo"), "truth", None)
    with pytest.raises(TableError, match="not among the row's candidates") as caught:
        made(reading)
    assert len(caught.value.problems) == 1
    table = LabelTable.from_cells(reading.cells, replace(roles, truth_outside="unknown"))
    assert set(table.classes) == set(reading.cells["truth"].str.strip()) - {""}
    added = LabelTable.from_cells(reading.cells, replace(roles, truth_outside="add"))
    assert added.truth is not None
    assert table.truth is not None
    assert (added.truth >= 0).sum() == (table.truth >= 0).sum() + 3
    assert stops(table) == set()


@pytest.mark.parametrize("form", ["list", "weighted"])
def test_truth_outside_the_candidates_can_add_a_class(form: str) -> None:
    cells = [["a:0.7|b:0.3", "b:1"], ["a|b", "b"]][form == "list"]
    frame = pd.DataFrame({"c": cells, "t": ["z", "b"], "w": ["1", "2"]}, dtype="str")
    roles = Roles(candidates="c", form=form, truth="t", numbers=("w",), truth_outside="add")
    table = LabelTable.from_cells(frame, roles)
    assert table.classes == ("a", "b", "z")
    assert sets(table)[0] == {"a", "b", "z"}
    assert table.truth.tolist() == [2, 1]


def test_parquet_types_are_read() -> None:
    _, table = read("typed.parquet")
    assert (table.roles.id, table.roles.candidates) == ("id", "candidates")
    assert "when" not in table.roles.numbers + table.roles.categories


def test_workbook_reads_sheet_with_table() -> None:
    reading, table = read("g7_second_sheet.xlsx")
    assert reading.format == "workbook, sheet 'data'"
    assert sets(table) == [{"a", "b"}, {"b"}, {"a"}]


HEAD = "Start (s),End (s),Scientific name,Common name,Confidence,File"
ROW = "0.0,3.0,Turdus merula,Amsel,0.81,/d/{}.wav"


def test_detection_tables_are_joined_by_name() -> None:
    one, two = ROW.format("a") + ",50,20", ROW.format("b").replace("Amsel", "Meise") + ",20,50"
    tables = {
        "a.BirdNET.results.csv": f"{HEAD},lat,week\n{one}\n",
        "b.BirdNET.results.csv": f"{HEAD},week,lat\n{two}\n",
        "c.BirdNET.results.csv": f"{HEAD},lat,week\n",
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name, text in tables.items():
            file.writestr(name, text)
    reading = read_table(packed.getvalue(), "birds.zip")
    assert len(reading.cells) == 2
    assert reading.cells["week"].tolist() == ["20", "20"]
    assert any("No detection in 'c.BirdNET.results.csv'" in note for note in reading.notes)


def test_sentence_reports_reading_questions_and_features() -> None:
    reading, table = read("llm_shortlist.jsonl")
    said = describe(table, reading.format)
    assert said.read_as.startswith("JSON Lines: 40 rows, ")
    assert said.asked == "which candidate is right in 40 rows"
    assert said.learnt_from == "text 'text'"
    assert said.shown == "'id'"
    assert said.ignored == "'model', 'latency_ms' (kept and exported)"


def test_sentence_reports_single_candidates_with_a_low_score() -> None:
    cells = read_cells(b"text,labels\none word,wren:0.6\ntwo words,wren:0.7|robin:0.2\nthree more,robin:1\n")
    said = describe(LabelTable.from_cells(cells, Roles("labels", "|", "weighted", text="text")), "CSV")
    assert said.asked.endswith("; 2 rows with one candidate count as given, though the score of 1 is below 1")


def test_sentence_counts_words_read_as_nothing() -> None:
    cells = read_cells(b"labels,w\nwren|robin,1\nNA,2\nNA,3\n")
    roles = replace(suggest_roles(cells), unlabelled="all")
    assert "'NA' read as an empty cell 2 times" in str(describe(LabelTable.from_cells(cells, roles), "CSV"))


def test_doubts_fit_terminal() -> None:
    """The page says "above", which means nothing in a terminal."""
    for case in sorted(CASES.iterdir()):
        try:
            _, table = read(case.name)
        except TableError:
            continue
        assert [str(doubt) for doubt in find_doubts(table) if " above" in str(doubt)] == []


def test_genus_with_one_observed_species_is_never_certain() -> None:
    def task(number: int, *places: list[str]) -> dict[str, object]:
        result = [{"from_name": "t", "to_name": "i", "type": "taxonomy", "value": {"taxonomy": list(places)}}]
        return {"id": number, "data": {"text": f"photo number {number}"}, "predictions": [{"result": result}]}

    tasks = [task(1, ["Turdus"]), task(2, ["Turdus", "merula"], ["Parus", "major"]), task(3, ["Parus", "major"])]
    _, table = read(json.dumps(tasks).encode(), "tasks.json")
    assert sets(table) == [{"Turdus", "merula"}, {"merula", "major"}, {"major"}]


def test_own_columns_do_not_hide_list_of_files() -> None:
    rows = "".join(f"{k},f{k % 4}|g,{['a', 'b'][k % 2]},some words about {k}\n" for k in range(20))
    assert suggest_roles(read_cells(f"id,FILES,sentiment,text\n{rows}".encode())).candidates is None


def test_one_of_several_voters_is_not_list() -> None:
    votes = ("other; misc", "ship")
    rows = [{"text": f"words of the row {k}", "Ada": votes[k % 2], "Ben": votes[k % 3 % 2]} for k in range(9)]
    frame = pd.DataFrame(rows, dtype="str")
    assert "voter-as-list" in stops(LabelTable.from_cells(frame, Roles("Ada", ";", text="text")))
    assert stops(LabelTable.from_cells(frame, Roles(annotators=("Ada", "Ben"), text="text"))) == set()


@pytest.mark.parametrize("name", ["label", "intent", "category", "species", "topic"])
@pytest.mark.parametrize(("sure", "unsure"), [("high", "low"), (3, 1)])
def test_shortlist_of_objects_weighs_confidence(name: str, sure: object, unsure: object) -> None:
    short = [{name: "cat", "confidence": sure, "why": "ears"}, {name: "dog", "confidence": unsure, "why": ""}]
    rows = [{"text": f"words of the row {k}", "labels": short} for k in range(3)]
    reading, table = read(json.dumps(rows).encode(), "a.json")
    assert sets(table) == [{"cat", "dog"}] * 3
    assert table.candidate_weights[0].tolist() == [3, 1]
    assert ("confidence in words as a rank" in describe(table, reading.format).read_as) == (sure == "high")


def test_pieces_of_json_as_classes_stop_import() -> None:
    odd = '[{"tag": "cat", "sure": 1}, {"tag": "dog", "sure": 2}]'
    frame = pd.DataFrame({"text": ["one", "two"], "labels": [odd, odd]}, dtype="str")
    assert "json-in-names" in stops(LabelTable.from_cells(frame, Roles("labels", ",", text="text")))


def test_different_spellings_of_yes_are_read_in_one_table() -> None:
    cells = read_cells(b"text,cat,dog,owl\na,1,0,\nb,?,1,0\nc,x,,n/a\n")
    table = LabelTable.from_cells(cells, suggest_roles(cells))
    assert table.label_vectors.tolist() == [[1, 0, -1], [-1, 1, 0], [1, -1, -1]]


def test_best_label_without_a_score_joins_the_pairs() -> None:
    head = b"image,prediction,prediction_score,top2,top2_score\n"
    cells = read_cells(head + b"a.jpg,fox,0.9,hare,0.1\nb.jpg,hare,0.6,fox,0.3\n")
    roles = suggest_roles(cells)
    assert (roles.choices, roles.choice_scores) == (("prediction", "top2"), ("prediction_score", "top2_score"))


def test_guesses_counted_in_ordinals_are_candidates_with_scores() -> None:
    head = b"Ticket;Message;1st guess;2nd guess;3rd guess;1st conf.;2nd conf.;3rd conf.\n"
    rows = b"1;where is my parcel;post;card;login;60 %;25 %;15 %\n2;the login is locked;login;card;;70 %;30 %;\n"
    cells = read_cells(head + rows)
    roles = suggest_roles(cells)
    assert roles.choices == ("1st guess", "2nd guess", "3rd guess")
    assert roles.choice_scores == ("1st conf.", "2nd conf.", "3rd conf.")
    table = LabelTable.from_cells(cells, roles)
    assert table.classes == ("card", "login", "post")
    assert table.candidate_weights.tolist() == [[0.25, 0.15, 0.6], [0.3, 0.7, 0]]


@pytest.mark.parametrize("outside", ["refuse", "add"])
def test_dash_as_true_label_is_unknown_unless_it_is_a_class(outside: str) -> None:
    text = "id,text,candidates,gold_label\n0,some words,a|b,a\n1,more words,b|c,-\n2,other words,a|c,–\n"
    cells = read_cells(text.encode())
    table = LabelTable.from_cells(cells, replace(suggest_roles(cells), truth_outside=outside))
    assert (table.classes, table.truth.tolist()) == (("a", "b", "c"), [0, -1, -1])
    assert "'-' read as an empty cell 1 time" in str(describe(table, "CSV"))
    cells = read_cells(text.replace("a|c", "a|-").encode())
    with pytest.raises(TableError, match="the true label '-' is not among"):
        LabelTable.from_cells(cells, suggest_roles(cells))


def test_columns_named_by_question_and_person_are_votes() -> None:
    rows = [
        {"text": f"words of the nodule {k}", "Malignancy_R1": 1 + k % 4, "Malignancy_R2": 1 + k % 3, "mm": k * k}
        for k in range(12)
    ]
    cells = read_cells(pd.DataFrame(rows).to_csv(index=False).encode())
    roles = suggest_roles(cells)
    assert (roles.annotators, roles.numbers) == (("Malignancy_R1", "Malignancy_R2"), ("mm",))
    several = pd.DataFrame(rows).assign(Margin_R1=[1, 2, 3] * 4, Margin_R2=[2, 3, 1] * 4)
    cells = read_cells(several.to_csv(index=False).encode())
    with pytest.raises(TableError, match="People answered 2 questions, a column for each question and person"):
        LabelTable.from_cells(cells, suggest_roles(cells))


def test_long_repeated_names_are_labels() -> None:
    names = ["Atrial fibrillation, chronic", "Essential (primary) hypertension", "Type 2 diabetes mellitus of the old"]
    rows = [
        {"text": f"words of the patient {k}", "dx": "; ".join((names * 2)[k % 3 : k % 3 + 1 + k % 2])}
        for k in range(12)
    ]
    cells = read_cells(pd.DataFrame(rows).to_csv(index=False).encode())
    table = LabelTable.from_cells(cells, suggest_roles(cells))
    assert (table.classes, table.roles.separator) == (tuple(names), ";")


def test_column_after_the_last_comma_is_left_out() -> None:
    cells = read_cells(b"text,labels,\none bird,a|b,\ntwo birds,b,\n")
    assert cells.columns.tolist() == ["text", "labels"]
    with pytest.raises(TableError, match="column 3 of the header has no name"):
        read_cells(b"text,labels,\none bird,a|b,7\ntwo birds,b,\n")
