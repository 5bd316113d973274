"""Files of crowd platforms, Label Studio and Kaleidoscope are read correctly."""

from __future__ import annotations

import json
from typing import Any

import pytest

from plcore import TableError, read_cells
from plcore.tables import NATURE_FORMATS, TableReading, read_table, shaped
from plcore.tables.readers.tools.crowds import MECHANICAL_TURK
from plcore.tables.readers.tools.detections import NOTHING
from plcore.tables.readers.tools.kaleidoscope import write_kaleidoscope
from plcore.tables.readers.tools.label_studio import LABEL_STUDIO_CSV
from tests.plcore.tables.readers.cases import (
    CASES,
    candidates,
    decided,
    read_case,
    refused,
    says,
    table_of,
    voters,
    weights,
)
from tests.plcore.tables.writers.tables import written


def read(text: str) -> TableReading:
    return shaped(read_table(text.encode(), "a.csv"))


def test_turk_labels_are_read_from_task_answer_json() -> None:
    reading = read_case("mturk_category.csv")
    assert table_of(reading).classes == ("cat", "dog")
    assert weights(reading)[:2] == [{"dog": 2}, {"dog": 1, "cat": 1}]
    assert voters(reading)[0] == {"dog": ["W1", "W2"]}
    assert reading.suggest_roles().text == "Input.text"


@pytest.mark.parametrize("name", ["mturk_radio.csv", "mturk_taskanswers.csv", "mturk_classifier.csv"])
def test_turk_answers_are_votes_by_worker(name: str) -> None:
    assert voters(read_case(name))[0] == {"cat": ["W1"], "dog": ["W2"]}


def test_turk_comment_next_to_a_json_answer_is_not_a_question() -> None:
    said = [json.dumps([{"q": {"cat": k < 2, "dog": k > 1}, "notes": "hm"}]) for k in range(4)]
    rows = [f"H{k // 2},W{k % 2},words of {k // 2}," + '"' + one.replace('"', '""') + '"' for k, one in enumerate(said)]
    data = "\n".join(["HITId,WorkerId,Input.text,Answer.taskAnswers", *rows]).encode()
    reading = MECHANICAL_TURK.read(read_cells(data))
    assert candidates(reading) == [{"cat"}, {"dog"}]


def test_turk_rejected_work_is_left_out_and_counted() -> None:
    reading = read_case("mturk_radio.csv")
    assert says(reading, "Left out: 1 answer that the requester rejected.")
    assert candidates(reading) == [{"cat", "dog"}, {"cat", "dog"}], "the second task has no vote left"
    assert voters(reading)[1] == {}


TURK = "HITId,WorkerId,Input.text,Answer.q.cat,Answer.q.dog\n"


def test_turk_checkboxes_are_one_answer_of_several_labels() -> None:
    assert weights(read(TURK + "H1,a,x,true,true\nH1,b,x,true,false\nH2,a,y,false,true\n")) == [
        {"cat": 2, "dog": 1},
        {"dog": 1},
    ]


def test_turk_last_answer_of_a_worker_counts() -> None:
    text = TURK.replace("Input", "SubmitTime,Input")
    late, early = "Thu Oct 09 08:01:00 UTC 2025", "Thu Oct 09 08:00:00 UTC 2025"
    reading = read(f"{text}H1,a,{late},x,true,false\nH1,a,{early},x,false,true\nH2,a,{late},y,false,true\n")
    assert weights(reading) == [{"cat": 1}, {"dog": 1}]
    assert says(reading, "the latest by time counts")


def test_turk_list_of_labels_is_a_set() -> None:
    reading = read('HITId,WorkerId,Answer.c.labels\nH1,a,"[""cat"",""dog""]"\nH2,a,"[""dog""]"\n')
    assert weights(reading) == [{"cat": 1, "dog": 1}, {"dog": 1}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TURK + "H1,a,x,true,maybe\n", "expected true or false, got 'maybe'"),
        ("HITId,WorkerId,Answer.taskAnswers\nH1,a,[\n", "expected the answers as JSON"),
        (
            'HITId,WorkerId,Answer.taskAnswers\nH1,a,"[{""q"":""x"",""r"":""y""}]"\n',
            "answers several questions: 'q', 'r'",
        ),
    ],
)
def test_turk_unclear_answers_are_refused(text: str, message: str) -> None:
    with pytest.raises(TableError, match=message):
        MECHANICAL_TURK.read(read_cells(text.encode()))


def test_prolific_answers_are_votes() -> None:
    reading = read_case("prolific_long.csv")
    assert table_of(reading).classes == ("mixed", "negative", "neutral", "positive")
    assert voters(reading)[0] == {"mixed": ["ads81w62thwv6x"]}
    roles = reading.suggest_roles()
    assert (roles.id, roles.text, roles.numbers, roles.categories) == ("item_id", "stimulus", (), ())


def test_prolific_rejected_and_returned_work_is_left_out() -> None:
    reading = read(
        "participant_id,submission_id,status,item_id,stimulus,response\n"
        "p1,s1,APPROVED,1,good one,pos\np2,s2,REJECTED,1,good one,neg\np3,s3,AWAITING REVIEW,2,bad one,neg\n"
    )
    assert weights(reading) == [{"pos": 1}, {"neg": 1}]
    assert says(reading, "Left out: 1 answer with the status 'REJECTED'")


def test_participants_without_submissions_are_voters() -> None:
    reading = read("participant_id,item_id,stimulus,response\np,1,a,x\nq,1,a,y\np,2,b,y\n")
    assert voters(reading)[0] == {"x": ["p"], "y": ["q"]}


def test_appen_tainted_work_is_left_out_and_counted() -> None:
    reading = read_case("appen_tainted.csv")
    assert weights(reading) == [{"pos": 0.9}, {"pos": 0.9, "neg": 0.01}]
    assert reading.cells["truth"].tolist() == ["", "neg"], "a test question is true, whatever was judged"
    assert says(reading, "Left out: 1 answer of workers who failed the checks (_tainted)")
    assert not {"_ip", "_city", "_country"} & set(reading.cells.columns)


def test_appen_answers_on_several_lines_are_a_set() -> None:
    reading = read_case("appen_full.csv")
    assert weights(reading)[1] == {"neg": 0.9, "pos": 0.9}
    assert says(reading, "accept several answers")


def test_toloka_reward_is_not_a_task_column() -> None:
    reading = read_case("toloka.tsv")
    assert list(reading.cells.columns) == ["INPUT:image", "candidates", "sources", "truth"]
    assert reading.cells["truth"].tolist() == ["", "cat"], "a control task is true, whatever was voted"
    assert weights(reading) == [{"cat": 1}, {"dog": 1, "cat": 0.01}]


def test_json_with_prediction_ids_reads_votes_and_counts_ids() -> None:
    reading = read_case("label_studio_prediction_ids.json")
    both = {"Neg", "Pos"}
    assert candidates(reading) == [both if row in (0, 3, 6) else {"Pos"} for row in range(8)]
    assert voters(reading)[0] == {"Pos": ["3"], "Neg": ["4"]}
    assert says(reading, "8 predictions are in the export by id only")


def test_json_of_1_23_2_reads_annotations() -> None:
    reading = read_case("label_studio_1.23.2.json")
    assert candidates(reading)[:2] == [{"ship"}, {"crash", "ship"}]
    assert says(reading, "7 predictions are in the export by id only")
    assert "truth 2" not in reading.suggest_roles().categories, "data called truth would give the label away"


def test_json_min_reads_vote_for_each_annotation() -> None:
    reading = read_case("label_studio_min.json")
    assert reading.format == "Label Studio JSON-MIN"
    assert candidates(reading) == [{"Neg", "Pos"}, {"Neu", "Pos"}, {"Neu"}]
    assert voters(reading)[0] == {"Pos": ["1"], "Neg": ["2"]}
    assert reading.suggest_roles().text == "text"


def test_json_min_task_without_annotation_is_open() -> None:
    assert candidates(read_case("ls_min.json")) == [{"pos", "neg"}, {"pos", "neg"}]


def test_csv_labels_belong_to_their_question() -> None:
    reading = read_case("label_studio.csv")
    assert table_of(reading).classes == ("Neg", "Pos")
    roles = reading.suggest_roles()
    assert (roles.id, roles.text, roles.numbers, roles.categories) == ("task_id", "text", (), ())
    assert voters(reading)[:2] == [{"Neg": ["3"]}, {"Pos": ["4"]}]


def test_csv_of_1_23_2_reads_votes_by_annotator() -> None:
    reading = read_case("label_studio_1.23.2.csv")
    assert reading.cells["task_id"].tolist() == ["m000", "m001"]
    assert weights(reading) == [{"ship": 1}, {"ship": 1}]
    assert voters(reading) == [{"ship": ["1"]}, {"ship": ["1"]}]
    assert reading.cells["lead_time"].tolist() == ["0.010582", "0.010582"]


def test_csv_with_two_annotations_of_task_is_one_row() -> None:
    reading = read_case("ls_export.csv")
    assert reading.cells["task_id"].tolist() == ["1"]
    assert voters(reading) == [{"pos": ["1", "2"], "neg": ["2"]}]


def test_csv_without_choices_is_refused() -> None:
    cells = read_cells(b"annotation_id,annotator,created_at,id,lead_time,updated_at,n\n1,1,,1,2,,4\n2,1,,2,2,,5\n")
    with pytest.raises(TableError, match="Export the project as JSON"):
        LABEL_STUDIO_CSV.read(cells)


def test_genus_with_one_known_species_is_not_certain() -> None:
    reading = read_case("label_studio_genus.json")
    assert candidates(reading)[0] == {"Turdus", "merula"}
    assert candidates(reading)[3] == {"Turdus", "merula", "major", "ater"}
    assert reading.groups == {"Parus": ("major", "ater")}


def test_candidates_are_automatic_and_alternate_ids() -> None:
    reading = read_case("kaleidoscope_id.csv")
    assert candidates(reading) == [
        {"MYOLUC", "MYOSEP", "EPTFUS"},
        {NOTHING},
        {"EPTFUS", "LASNOC", "MYOLUC", "MYOSEP", NOTHING},
        {"EPTFUS", "LASNOC"},
    ]
    assert weights(reading)[0] == {"MYOLUC": 0.68, "MYOSEP": 0.16, "EPTFUS": 0.16}
    assert reading.cells["truth"].tolist() == ["", "", "EPTFUS", ""]
    assert says(reading, "MANUAL ID names several species in 1 row,")
    roles = reading.suggest_roles()
    assert roles.numbers == ("PULSES", "MATCHING", "MARGIN")
    assert (roles.label_columns, roles.categories, roles.id) == ((), (), "item")


def test_whole_table_is_read_with_empty_manual_id() -> None:
    reading = read_case("id.csv")
    assert reading.cells["item"].tolist() == ["A_20240701_213000.wav 0-5 s", "A_20240701_213000.wav 5-10 s"]
    assert weights(reading)[0] == {"PIPPIP": 0.83, "PIPPYG": 0.17}
    assert reading.cells["truth"].tolist() == ["", NOTHING]
    assert reading.cells["recording"][0] == "D:/bats/night1/A_20240701_213000.wav"


HEAD = "INDIR,FOLDER,IN FILE,CHANNEL,OFFSET,DURATION,AUTO ID*,MATCH RATIO,ALTERNATE 1,MANUAL ID\n"


def read_lines(lines: str) -> list[dict[str, float | None]]:
    return weights(shaped(read_table((HEAD + lines).encode(), "id.csv")))


def test_manual_id_that_was_not_proposed_is_a_light_candidate() -> None:
    reading = shaped(read_table((HEAD + "d,f,a.wav,0,0,5,PIPPIP,0.8,,NYCNOC\n").encode(), "id.csv"))
    assert weights(reading) == [{"PIPPIP": 0.8, "NYCNOC": 0.01}]
    assert reading.cells["truth"].tolist() == ["NYCNOC"]
    assert says(reading, "MANUAL ID names 1 time what Kaleidoscope did not propose")


def test_alternates_never_weigh_more_than_automatic_id() -> None:
    assert read_lines("d,f,a.wav,0,0,5,A,0.3,B,\nd,f,a.wav,0,5,5,A,1,B,\nd,f,a.wav,0,10,5,A,,B,\n") == [
        {"A": 0.3, "B": 0.3},
        {"A": 1, "B": 0.01},
        {"A": None, "B": None},
    ]


def test_rows_of_two_channels_have_names_of_their_own() -> None:
    data = HEAD + "d,f,a.wav,0,0,5,A,1,,\nd,f,a.wav,1,0,5,A,1,,\nd,g,a.wav,0,0,5,B,1,,\n"
    reading = shaped(read_table(data.encode(), "id.csv"))
    assert reading.cells["item"].tolist() == [
        "d/f/a.wav 0-5 s, channel 0",
        "d/f/a.wav 0-5 s, channel 1",
        "d/g/a.wav 0-5 s",
    ]


def test_seconds_that_are_not_numbers_are_refused() -> None:
    with pytest.raises(TableError, match="expected seconds, got 'x'"):
        read_lines("d,f,a.wav,0,x,5,A,1,,\n")


def test_kaleidoscope_table_is_returned_with_manual_ids() -> None:
    before = read_cells((CASES / "kaleidoscope_id.csv").read_bytes())
    reading = read_case("kaleidoscope_id.csv")
    back = read_cells(written(write_kaleidoscope, decided(reading, {0: "MYOSEP", 1: NOTHING})))
    assert back.columns.tolist() == before.columns.tolist()
    assert back["MANUAL ID*"].tolist() == ["MYOSEP", "Noise", "EPTFUS", "EPTFUS,LASNOC"]
    assert back.drop(columns="MANUAL ID*").equals(before.drop(columns="MANUAL ID*"))
    assert NATURE_FORMATS["kaleidoscope"].fits(table_of(reading).cells)


CLUSTERS = "INDIR,FOLDER,IN FILE,OFFSET,DURATION,TOP1MATCH*,TOP1DIST,TOP2MATCH,TOP2DIST,VOCALIZATIONS,MANUAL ID\n"


def test_cluster_matches_weigh_by_nearness() -> None:
    data = CLUSTERS + "d,f,a.wav,0,3,wren.1,0.25,robin.2,1,4,\nd,f,a.wav,3,3,.3,0.5,wren.1,1,4,wren\n"
    reading = shaped(read_table(data.encode(), "cluster.csv"))
    assert reading.format == "Kaleidoscope cluster.csv"
    assert weights(reading) == [{"wren": 0.8, "robin": 0.5}, {"wren": 0.5}]
    assert reading.cells["truth"].tolist() == ["", "wren"]
    assert says(reading, "1 / (1 + distance)")
    back = read_cells(written(write_kaleidoscope, decided(reading, {0: "robin"})))
    assert back["MANUAL ID"].tolist() == ["robin", "wren"]


def test_turk_comments_are_not_a_question() -> None:
    assert voters(read_case("mturk_comment.csv")) == [{"cat": ["W1"], "dog": ["W2"]}]
    with pytest.raises(TableError, match=r"Several questions were answered: 'Answer\.color', 'Answer\.animal'"):
        read("HITId,WorkerId,Input.x,Answer.color,Answer.animal\nH1,a,b,red,cat\n")


TOLOKA = "INPUT:text\tOUTPUT:q\tOUTPUT:comment\tGOLDEN:q\tASSIGNMENT:worker_id\tASSIGNMENT:status\n"


def test_toloka_assignments_of_its_api_are_votes() -> None:
    def assignment(who: str, status: str, *answers: str) -> dict[str, Any]:
        tasks = [{"input_values": {"text": f"bird {k}"}} for k in range(2)]
        tasks[1]["known_solutions"] = [{"output_values": {"kind": "owl"}, "correctness_weight": 1}]
        solutions = [{"output_values": {"kind": one}} for one in answers]
        return {"id": f"{who}-1", "user_id": who, "status": status, "tasks": tasks, "solutions": solutions}

    records = [
        assignment("w1", "ACCEPTED", "wren", "owl"),
        assignment("w2", "SUBMITTED", "jay", "owl"),
        assignment("w3", "REJECTED", "owl", "owl"),
        assignment("w4", "SKIPPED"),
    ]
    reading = read_table("\n".join(map(json.dumps, records)).encode(), "assignments.jsonl")
    assert reading.format == "Toloka assignments as JSON"
    assert voters(reading) == [{"wren": ["w1"], "jay": ["w2"]}, {"owl": ["w1", "w2"]}]
    assert reading.cells["truth"].tolist() == ["", "owl"]
    assert says(reading, "4 answers")
    broken = {**records[0], "solutions": [{"output_values": {"kind": "wren"}}]}
    assert "expected a solution for each task (2), got 1" in refused(json.dumps(broken).encode())


def test_toloka_skipped_answers_are_left_out() -> None:
    lines = ["a text\tx\thm\t\tw1\tACCEPTED", "a text\ty\t\t\tw2\tSKIPPED", "b text\ty\t\tz\tw1\tSUBMITTED"]
    reading = read(TOLOKA + "\n".join(lines) + "\n")
    assert weights(reading) == [{"x": 1}, {"y": 1, "z": 0.01}]
    assert reading.cells["truth"].tolist() == ["", "z"]
    assert says(reading, "Left out: 1 answer with the status 'SKIPPED'")
    with pytest.raises(TableError, match="Several questions were answered: 'OUTPUT:q', 'OUTPUT:r'"):
        read("INPUT:a\tOUTPUT:q\tOUTPUT:r\tASSIGNMENT:worker_id\nx\ty\tz\tw\n")


def test_aggregated_answers_leave_rest_to_the_other_classes() -> None:
    assert weights(read_case("toloka_aggregated.tsv")) == [
        {"cat": 0.975, "dog": 0.025},
        {"dog": 0.551, "cat": 0.449},
        {"cat": 0.8, "dog": 0.2},
    ]
    reading = read_case("appen_aggregated.csv")
    assert weights(reading) == [{"pos": 0.66, "neg": 0.34}, {"pos": 0.66, "neg": 0.34}, {"neg": 1}]
    assert (reading.cells["truth"].tolist(), reading.suggest_roles().text) == (["", "", "neg"], "text")
    with pytest.raises(TableError, match=r"a confidence for each answer \(1\), got 2"):
        read('_unit_id,_unit_state,q,q:confidence\n1,finalized,x,"0.5\n0.5"\n')
    with pytest.raises(TableError, match="expected a share from 0 to 1, got 'much'"):
        read("_unit_id,_unit_state,q,q:confidence\n1,finalized,x,much\n")


def test_qualtrics_questions_are_items_and_people_voters() -> None:
    reading = read_case("qualtrics.csv")
    assert weights(reading) == [{"cat": 1, "dog": 1}, {"dog": 2}]
    assert voters(reading)[0] == {"cat": ["R_1"], "dog": ["R_2"]}
    assert reading.cells["question"].tolist() == ["Which animal is in photo 1?", "Which animal is in photo 2?"]
    assert says(reading, "1 answer that are previews")
    assert says(reading, "1 answer of people who did not finish")
    with pytest.raises(TableError, match="No two questions of the survey share their answers: 'Q1', 'Q2'"):
        read("StartDate,Finished,RecordedDate,ResponseId,Q1,Q2\n1,True,2,R,yes,42\n")


def test_gorilla_responses_are_votes_on_spreadsheet_items() -> None:
    reading = read_case("gorilla.csv")
    assert voters(reading) == [{"cat": ["101"], "dog": ["102"]}, {"dog": ["101", "102"]}]
    assert reading.cells["truth"].tolist() == ["cat", "dog"]
    assert says(reading, "An item is what 'Spreadsheet: image' names")
    with pytest.raises(TableError, match="No column of the spreadsheet"):
        read("Event Index,Participant Private ID,Zone Type,Response\n1,2,response,x\n")


def test_prolific_submissions_hold_no_answers() -> None:
    with pytest.raises(TableError, match="lists participants and their submissions, but none of their answers"):
        read_case("prolific_export.csv")


@pytest.mark.parametrize(("name", "classes"), [("NA", {"NA", "ZA"}), ("None", {"None", "ZA"}), ("nan", {"ZA"})])
def test_missing_value_words_among_voted_labels_are_names(name: str, classes: set[str]) -> None:
    reading = read(f"task,worker,label,text\n1,a,{name},one text\n1,b,ZA,one text\n2,a,ZA,more text\n")
    assert set(weights(reading)[0]) == classes


def test_missing_value_words_in_typed_votes_are_names() -> None:
    votes = [{"task": k, "worker": "a", "label": ["NA", "nan"][k], "text": f"a text of {k}"} for k in range(2)]
    votes += [{**votes[0], "label": "x"}]
    assert candidates(shaped(read_table(json.dumps(votes).encode(), "a.json"))) == [{"x"}, {"nan"}]
    votes[2]["worker"] = "b"
    assert candidates(shaped(read_table(json.dumps(votes).encode(), "a.json"))) == [{"NA", "x"}, {"nan"}]
