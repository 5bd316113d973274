"""Answers of crowds: Mechanical Turk, Prolific, Appen and Toloka."""

from __future__ import annotations

import pytest

from plcore import TableError, read_cells
from plcore.tables import TableReading, read_table, shaped
from plcore.tables.readers.tools.crowds import MECHANICAL_TURK
from tests.plcore.tables.readers.cases import candidates, read_case, says, table_of, voters, weights


def read(text: str) -> TableReading:
    return shaped(read_table(text.encode(), "a.csv"))


def test_turk_labels_are_in_the_json_of_task_answers() -> None:
    reading = read_case("mturk_category.csv")
    assert table_of(reading).classes == ("cat", "dog")
    assert weights(reading)[:2] == [{"dog": 2}, {"dog": 1, "cat": 1}]
    assert voters(reading)[0] == {"dog": ["W1", "W2"]}
    assert reading.suggest_roles().text == "Input.text"


@pytest.mark.parametrize("name", ["mturk_radio.csv", "mturk_taskanswers.csv", "mturk_classifier.csv"])
def test_turk_votes_by_worker(name: str) -> None:
    assert voters(read_case(name))[0] == {"cat": ["W1"], "dog": ["W2"]}


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
    assert weights(reading) == [{"pos": 0.9}, {"pos": 0.9}]
    assert says(reading, "Left out: 1 answer of workers who failed the checks (_tainted)")
    assert not {"_ip", "_city", "_country"} & set(reading.cells.columns)


def test_appen_answers_on_several_lines_are_a_set() -> None:
    reading = read_case("appen_full.csv")
    assert weights(reading)[1] == {"neg": 0.9, "pos": 0.9}
    assert says(reading, "accept several answers")


def test_toloka_reward_describes_no_task() -> None:
    reading = read_case("toloka.tsv")
    assert list(reading.cells.columns) == ["INPUT:image", "candidates", "sources"]
