"""Card and metadata of projects of every kind, as they are written for whoever gives the labels away."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
import yaml

from tests.workflow.kind_worlds import KindWorld
from workflow.access import NotAllowed
from workflow.outgoing.dataset_card import CardDetails, card_facts, croissant, dataset_card
from workflow.seat import Seat


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "labels.csv"
    path.write_text("id,label\na,wren\n")
    return path


def test_a_card_of_every_kind(world: KindWorld, seat: Seat, ada: Seat, file: Path) -> None:
    for _ in range(3):
        world.answer(ada)
    world.say(ada, "bad")
    text = dataset_card(seat, CardDetails(license="mit"), [file], "Winnow 1.2")
    found = card_facts(seat)
    front = yaml.safe_load(text.split("---\n")[1])
    assert front["pretty_name"] == "small"
    assert front["license"] == "mit"
    assert f"- Rows: {found.n_rows}\n" in text
    assert f"- Answers that stand: {found.answers}\n" in text
    assert "- Rows set aside as bad items: 1\n" in text
    assert f"- Head of the log, {found.entries} entries: {found.head}\n" in text
    assert f"- SHA-256 of labels.csv: {hashlib.sha256(file.read_bytes()).hexdigest()}\n" in text
    assert "- Tool: Winnow 1.2\n" in text
    assert "| Annotator 1 |" in text
    assert "Ada" not in text
    assert "| Ada |" in dataset_card(seat, CardDetails(named=True))
    for name, count in found.sources.items():
        assert f"| {name} | {count} |" in text


def test_metadata_of_every_kind(world: KindWorld, seat: Seat, ada: Seat, file: Path) -> None:
    world.answer(ada)
    found = json.loads(croissant(seat, CardDetails(demographics="One teacher."), [file]))
    assert found["name"] == "small"
    assert found["rai:annotatorDemographics"] == "One teacher."
    assert found["rai:dataAnnotationPlatform"] == "Winnow"
    assert found["rai:annotationsPerItem"]
    (listed,), (records,) = found["distribution"], found["recordSet"]
    assert listed["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert [one["name"] for one in records["field"]] == ["id", "label"]
    assert "Ada" not in json.dumps(found)


def test_a_card_before_the_first_answer_says_so(seat: Seat) -> None:
    text = dataset_card(seat)
    assert "- Answers that stand: 0\n" in text
    assert "- When: not given\n" in text
    assert json.loads(croissant(seat)).get("rai:annotationsPerItem") is None


def test_the_same_state_gives_the_same_text(seat: Seat) -> None:
    seat.settle()  # the first fit would come in between
    assert dataset_card(seat) == dataset_card(seat)
    assert croissant(seat) == croissant(seat)


@pytest.mark.parametrize("write", [card_facts, dataset_card, croissant])
def test_only_owners_give_labels_away(ada: Seat, write: object) -> None:
    with pytest.raises(NotAllowed):
        write(ada)  # type: ignore[operator]
