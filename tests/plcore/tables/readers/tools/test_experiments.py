"""One line for each answer of a participant: the columns of person, item and answer are found whatever their names."""

from __future__ import annotations

import json

import numpy as np
import pytest

from plcore import LabelTable, TableError
from plcore.tables import read_table, shaped

SAID = {"p1": "ABAC", "p2": "ABBC", "p3": "AABC"}
VOTES = [{"A": 3}, {"A": 1, "B": 2}, {"A": 1, "B": 2}, {"C": 3}]
NAMES = [
    ("PROLIFIC_PID", "item", "text", "response", {"condition": "{p}", "rt": "0.{n}"}),
    ("participant_id", "stimulus_id", "stimulus_text", "answer", {"age": "2{p}", "status": "APPROVED"}),
    ("Participant", "sentence_id", "sentence", "emotion", {"trial_order": "{n}"}),
    ("subject", "stimulus", "caption", "rating", {"trial_index": "{n}"}),
    ("rater", "clip", "transcript", "choice", {"comment": "note {n} of {p} here", "block": "{p}"}),
    ("user_name", "subject_id", "message", "choice", {"created_at": "2024-01-0{p}"}),
]


def lines(worker: str, item: str, text: str, label: str, more: dict[str, str]) -> list[dict[str, str]]:
    """One answer per line, people one after the other, each with another order of the items."""
    found = []
    for p, (name, said) in enumerate(SAID.items()):
        for n in range(4):
            k = (n + p) % 4
            own = {worker: name, item: f"s{k}", text: f"a sentence about thing {k}", label: said[k]}
            found.append(own | {key: form.format(p=p, n=n) for key, form in more.items()})
    return found


def written(rows: list[dict[str, str]], form: str) -> bytes:
    if form == "json":
        return json.dumps(rows).encode()
    mark = form
    table = [mark.join(rows[0]), *(mark.join(one.values()) for one in rows)]
    return ("\ufeff" + "\r\n".join(table) + "\r\n").encode()


def read(data: bytes, name: str = "") -> LabelTable:
    reading = shaped(read_table(data, name))
    return LabelTable.from_cells(reading.cells, reading.suggest_roles(), reading.files)


def votes(table: LabelTable) -> list[dict[str, int]]:
    """The votes of each row, in the order of the items."""
    weights = np.asarray(table.candidates if table.candidate_weights is None else table.candidate_weights)
    return [
        {str(table.classes[k]): int(weights[row, k]) for k in np.flatnonzero(weights[row])}
        for row in range(table.n_rows)
    ]


@pytest.mark.parametrize(
    ("columns", "form"), [*((one, ",") for one in NAMES), (NAMES[0], "\t"), (NAMES[0], "json")], ids=lambda one: one[0]
)
def test_answers_of_people_are_votes_on_items(columns: tuple[str, str, str, str, dict[str, str]], form: str) -> None:
    table = read(written(lines(*columns), form))
    assert votes(table) == VOTES
    assert (table.roles.id, table.roles.text, table.roles.numbers) == (columns[1], columns[2], ())
    assert sorted(table.votes.voters) == sorted(SAID)


def test_rejected_answers_are_left_out() -> None:
    rows = lines("participant_id", "stimulus_id", "stimulus_text", "answer", {"status": "APPROVED"})
    rows = [one | {"status": "REJECTED" if one["participant_id"] == "p1" else "APPROVED"} for one in rows]
    reading = shaped(read_table(written(rows, ",")))
    assert any(note.startswith("Left out: 4 answers with the status 'REJECTED'") for note in reading.notes)
    assert votes(read(written(rows, ",")))[1] == {"A": 1, "B": 1}


def test_text_that_people_answer_is_learnt_from() -> None:
    rows = [
        {name: cell for name, cell in one.items() if name != "item"}
        for one in lines("PROLIFIC_PID", "item", "sentence", "response", {"condition": "{p}", "trial": "{n}"})
    ]
    table = read(written(rows, ","))
    assert (votes(table), table.roles.text, table.roles.numbers) == (VOTES, "sentence", ())


def test_answers_to_several_questions_are_refused_by_name() -> None:
    rows = lines("worker", "post_id", "post", "offensive", {})
    rows = [one | {"intent": "yn"[k % 2]} for k, one in enumerate(rows)]
    with pytest.raises(TableError, match="hold a person's answers: 'offensive', 'intent'"):
        read(written(rows, ","))


JSPSYCH = {"trial_type": "html-button-response", "trial_index": "{n}", "time_elapsed": "{n}00", "rt": "0.{n}"}
PSYCHOPY = {
    "trials.thisN": "{n}", "key_resp.rt": "0.{n}", "expName": "e", "psychopyVersion": "2023.1",
    "date": "{p}",
}  # fmt: skip
TOOLS = {
    "jsPsych": ("subject", "item", "stimulus", "response", JSPSYCH),
    "PsychoPy": ("participant", "item", "sentence", "key_resp.keys", PSYCHOPY),
}


@pytest.mark.parametrize("form", [",", "json"])
@pytest.mark.parametrize("tool", TOOLS)
def test_experiments_are_votes_of_participants(tool: str, form: str) -> None:
    rows = lines(*TOOLS[tool])
    if tool == "jsPsych":
        start = dict.fromkeys(rows[0], "") | {"trial_type": "instructions", "subject": "p1", "stimulus": "Hello"}
        rows = [start, *rows]
    if tool == "PsychoPy" and form == ",":
        rows = [one | {"": ""} for one in rows]  # every line ends with a comma
    table = read(written(rows, form))
    assert (votes(table), table.roles.id, table.roles.text) == (VOTES, "item", TOOLS[tool][2])
    with pytest.raises(TableError, match=f"an experiment of {tool}, but no column names several participants"):
        read(written([one for one in rows if "p1" in one.values()], form))
