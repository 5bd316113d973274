"""Data set cards: their facts, their text, and Croissant."""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

import mlcroissant
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.workflow.alike_world import alike_project
from tests.workflow.encoder_world import asked
from tests.workflow.exporting.cards import FACTS, facts_of
from tests.workflow.kind_worlds import KindWorld
from tests.workflow.text_world import text_project
from tests.workflow.world import annotator, answer_next, log_of, small_project
from workflow.access import Right
from workflow.answering import batches, oracle, undoing
from workflow.exporting.card_facts import CardFacts, without_names
from workflow.exporting.card_text import NOT_GIVEN, CardDetails, write_card
from workflow.exporting.croissant import describe_file, write_croissant
from workflow.importing import encoding
from workflow.importing.encoding_worker import EncodingWorker
from workflow.log.verifying import verify_project
from workflow.projects import classes, managing
from workflow.rows.finding import names_of
from workflow.seat import Seat
from workflow.server.home import Home

# The facts of a card against the log that they are taken from, in projects of every kind


def facts(seat: Seat, *, named: bool = False) -> CardFacts:
    with seat.learner(Right.OWN) as opened:
        session = opened.session
        names = names_of(session) if named else without_names(session, opened.project_id)
        return facts_of(opened, names)


def test_card_lists_people_by_name_or_number(world: KindWorld, seat: Seat, ada: Seat) -> None:
    for kind in ("skip", "unsure"):
        world.say(ada, kind)
    world.answer(ada)
    undoing.undo(ada)
    world.answer(seat)
    world.answer(seat)
    found, log = facts(seat), log_of(seat)
    first, second = found.annotators
    assert (first.name, first.answers, first.skips, first.unsure, first.seconds) == ("Annotator 1", 0, 1, 1, None)
    assert (second.name, second.skips) == ("Annotator 2", 0)
    assert second.answers == found.answers > 0
    assert [one.name for one in facts(seat, named=True).annotators] == ["Ada", "owner"]
    standing = [one for one in log if one.person_id == seat.person_id]
    assert found.answers == len(standing)
    assert found.withdrawn == sum(one.target_seq is not None for one in log)
    assert found.seconds == second.seconds == median(one.seconds for one in standing if one.seconds is not None)
    assert (found.first, found.last) == (standing[0].at, standing[-1].at)
    assert sum(found.asked_by.values()) == found.answers == sum(n * rows for n, rows in found.per_row.items())
    assert found.entries == len(log)


def test_withdrawn_skip_is_not_counted(world: KindWorld, seat: Seat, ada: Seat) -> None:
    for kind in ("skip", "unsure"):
        world.say(ada, kind)
    undoing.undo(ada)
    (found,) = facts(seat).annotators
    assert (found.skips, found.unsure) == (1, 0)
    undoing.undo(ada)
    (found,) = facts(seat).annotators
    assert (found.skips, found.unsure) == (0, 0)


def test_card_head_matches_verified_log(world: KindWorld, seat: Seat) -> None:
    world.answer(seat)
    (verified,) = verify_project(seat)
    found = facts(seat, named=True)  # the log says who, and so does its head
    assert facts(seat).head != verified.head
    assert (found.head, found.entries) == (verified.head, verified.entries)
    with seat.reading() as reading:
        assert found.table_sha256 == reading.project.table_hash
        assert found.settings == reading.project.settings
        assert found.created_at == reading.project.created_at


def test_card_of_unanswered_project_has_no_answers(world: KindWorld, seat: Seat) -> None:
    found = facts(seat)
    assert found.annotators == ()
    assert (found.answers, found.withdrawn, found.entries, found.simulated) == (0, 0, 0, 0)
    assert (found.seconds, found.first, found.last) == (None, None, None)
    assert found.per_row == found.asked_by == {}
    assert found.head == found.table_sha256
    assert found.n_rows == 40
    assert found.task == "tabular-classification"
    assert world.kind == "one_label" or found.classes == "labels"


def test_simulated_answers_have_no_answer_time(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    oracle.answer_for_me(seat, 3)
    found = facts(seat)
    assert found.simulated == found.answers == 3
    assert found.seconds is None


def test_batches_are_left_out_of_answer_time(home: Home, owner: int) -> None:
    seat = alike_project(home, owner, shown="numbers")
    batch = batches.next_batch(seat)
    assert isinstance(batch, batches.ShownBatch)
    batches.confirm_batch(seat, batch.token)
    found = facts(seat)
    assert (found.answers, found.seconds) == (len(batch.tiles), None)


def test_models_are_listed_in_order_of_use(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    assert facts(seat).models == ("plknn",)
    managing.change_learner(seat, model="pegasos-average")
    answer_next(home, owner, project)
    managing.change_learner(seat, model="perceptron-max")
    assert facts(seat).models == ("plknn", "pegasos-average", "perceptron-max")


def test_encoder_is_listed_with_licence_and_consent(home: Home, owner: int) -> None:
    seat = asked(home, owner, text_project(home, owner))
    EncodingWorker(home, "one").look()
    (one,) = facts(seat).encoders
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    digest = encoding.Encoder(home.encoders_dir / "words").sha256
    assert one == f"text by words, SHA-256 {digest}, asked for by Annotator 1 on {day} (your own encoder)"
    encoding.back_to_words(seat)
    assert facts(seat).encoders == ()


def test_texts_of_people_are_unchanged_in_facts(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    managing.rename_project(seat, "Birds", "Songs | calls")
    assert (facts(seat).name, facts(seat).description, facts(seat).guidelines) == ("Birds", "Songs | calls", "")


def test_change_of_classes_is_not_answer(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    classes.change_classes(seat, 0, "add", ["elk"])
    classes.take_back(seat, classes.classes_view(seat).version)
    found = facts(seat)
    assert (found.answers, found.withdrawn, found.annotators, found.entries) == (0, 0, (), 2)
    assert found.n_classes == 3


@pytest.mark.parametrize("name", ["Ada", "Zoë"])
def test_annotator_names_are_included_only_on_request(home: Home, owner: int, project: int, name: str) -> None:
    answer_next(home, annotator(home, owner, name), project)
    seat = Seat(home, owner, project)
    assert name not in repr(facts(seat))
    assert name in repr(facts(seat, named=True))
    assert facts(seat).last - facts(seat).first == timedelta(0)  # type: ignore[operator]


# The card as text: its front matter is valid YAML for any input, its sections contain only known facts


# Data that a database or a browser refuses: surrogates, NUL.
any_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20)


def card(given: CardDetails | None = None, files: dict[str, str] | None = None, **changes: Any) -> str:
    return write_card(dataclasses.replace(FACTS, **changes), given or CardDetails(), files or {}, "Winnow 9.9")


def front_matter(text: str) -> dict[str, Any]:
    start, front, _ = text.split("---\n", 2)
    assert start == ""
    found: dict[str, Any] = yaml.safe_load(front)
    return found


def test_front_matter_has_fields_that_hugging_face_reads() -> None:
    given = CardDetails(license="cc-by-4.0", languages=("en", "de"), annotators="expert-generated")
    assert front_matter(card(given)) == {
        "pretty_name": "Birds",
        "annotations_creators": ["expert-generated", "machine-generated"],
        "language": ["en", "de"],
        "license": "cc-by-4.0",
        "size_categories": ["1K<n<10K"],
        "task_categories": ["audio-classification"],
        "tags": ["winnow", "partial-labels"],
    }


def test_unknown_value_is_not_in_front_matter() -> None:
    found = front_matter(card(sources={"person": 3}))
    assert not {"annotations_creators", "language", "license"} & set(found)


@given(any_text, any_text)
def test_any_text_is_read_back_from_front_matter(name: str, license_name: str) -> None:
    found = front_matter(card(CardDetails(license=license_name), name=name))
    assert found["pretty_name"] == name
    assert found["license"] == license_name


@pytest.mark.parametrize(
    ("n", "size"), [(1, "n<1K"), (999, "n<1K"), (1_000, "1K<n<10K"), (999_999, "100K<n<1M"), (10**7, "n>10M")]
)
def test_size_category_follows_number_of_rows(n: int, size: str) -> None:
    assert front_matter(card(n_rows=n))["size_categories"] == [size]


def test_card_contains_each_fact() -> None:
    text = card(CardDetails(url="https://example.org/b", origin="A garden.", demographics="Two retired teachers."))
    for line in (
        "# Birds",
        "Songs from a garden.",
        "- Rows: 1,200",
        "- Classes: 2",
        "- Origin of the items: A garden.",
        "- Imported into Winnow: 2026-03-01",
        "- At import: 3.00 candidates a row on average",
        "- Now: 1.20 on average, without excluded rows",
        "- Rows excluded as bad items: 1",
        "- Blind checks drawn: 96",
        "| model | 1,100 |",
        "| wren | 80 | 20 |",
        "- Answers that count: 100",
        "- Of these by the simulated oracle of a dry run, not by people: 7",
        "- Answers withdrawn: 5",
        "- Answers a row: 98 rows with 1, 1 row with 2",
        "- When: 2026-03-02 to 2026-03-09",
        "- Median time for an answer, in seconds: 4.0",
        "- Their demographics: Two retired teachers.",
        "| Annotator 1 | 99 | 3 | 2 | 4.2 |",
        f"| Annotator 2 | 1 | 0 | 0 | {NOT_GIVEN} |",
        "| apl | 60 |",
        "- Models in force, in order: plknn, kernelridge",
        "- Version of the model: the latest log entry that it has learnt: 120",
        "- Encoded: text by minilm-en, SHA-256 53aa",
        "- Tool: Winnow 9.9",
        "| seed | 7 |",
        '| strategy | "apl" |',
        "| Accuracy on checks | 0.900 | 0.800 to 0.950 | 50 |",
        f"| Old | 0.500 | {NOT_GIVEN} | 4 |",
        "Listen twice.\nThen decide.",
        f"- SHA-256 of this text, UTF-8: {hashlib.sha256(FACTS.guidelines.encode()).hexdigest()}",
        f"- SHA-256 of the table as Winnow keeps it, rows that were added included: {'ab' * 32}",
        f"- Head of the log, 130 entries: {'cd' * 32}",
        f"- SHA-256 of the description, UTF-8: {hashlib.sha256(FACTS.description.encode()).hexdigest()}",
    ):
        assert f"\n{line}\n" in text, line


def test_missing_details_are_marked_as_not_given() -> None:
    text = card(description="", guidelines="", first=None, last=None, seconds=None, per_row={})
    for line in (
        f"Description: {NOT_GIVEN}.",
        f"- Origin of the items: {NOT_GIVEN}",
        f"- Web page: {NOT_GIVEN}",
        f"- Answers a row: {NOT_GIVEN}",
        f"- When: {NOT_GIVEN}",
        f"- Median time for an answer, in seconds: {NOT_GIVEN}",
        f"- Who the annotators are: {NOT_GIVEN}",
        f"- Their demographics: {NOT_GIVEN}",
        f"Guidelines for the annotators: {NOT_GIVEN}.",
        f"- Uses: {NOT_GIVEN}",
        f"- Licence: {NOT_GIVEN}",
        f"- SHA-256 of the description, UTF-8: {NOT_GIVEN}",
    ):
        assert f"\n{line}\n" in text, line


def test_card_without_measures_says_why() -> None:
    text = card(described=dataclasses.replace(FACTS.described, measures=()))
    assert "Not measured: no test rows and no answered blind checks, or no model yet." in text


def test_files_are_named_with_their_hashes() -> None:
    assert "\n- SHA-256 of birds.parquet: 0a1b\n" in card(files={"birds.parquet": "0a1b"})


def test_names_cannot_break_table_or_heading() -> None:
    label = dataclasses.replace(FACTS.described.labels[0], label="a|b\n# <b>c")
    text = card(name="x\n# y", described=dataclasses.replace(FACTS.described, labels=(label,)))
    assert r"| a\|b \# \<b\>c | 80 | 20 |" in text
    assert "\n# x \\# y\n" in text


def test_names_are_shown_unchanged() -> None:
    """Entities, strikethrough and dollar signs stay plain text."""
    assert "\n# \\&lt; \\~\\~old\\~\\~ \\$x\\$\n" in card(name="&lt; ~~old~~ $x$")


def test_counts_of_one_are_singular() -> None:
    text = card(per_row={2: 1}, entries=1)
    assert "\n- Answers a row: 1 row with 2\n" in text
    assert f"\n- Head of the log, 1 entry: {'cd' * 32}\n" in text


def test_guidelines_cannot_leave_their_fence() -> None:
    text = card(guidelines="```\n# not a heading\n````")
    assert "`````text\n```\n# not a heading\n````\n`````\n" in text


def test_span_of_one_day_has_two_equal_ends() -> None:
    noon = datetime(2026, 5, 1, 12, tzinfo=UTC)
    assert "- When: 2026-05-01 to 2026-05-01\n" in card(first=noon, last=noon)


def test_typed_details_are_parsed() -> None:
    told = CardDetails.told({"license": " mit ", "languages": "en, de fr", "uses": " "}, named=True)
    assert told == CardDetails(license="mit", languages=("en", "de", "fr"), named=True)
    assert CardDetails.told({}) == CardDetails()


# Croissant's metadata: MLCommons' own reader finds no error in it, and reads the records next to it


# For rdflib and pandas, as mlcroissant uses them.

GIVEN = CardDetails(
    license="cc-by-4.0", languages=("en",), url="https://example.org/birds", demographics="Two teachers."
)
COLUMNS = ["id", "x|1", "wörd, x", "wörd; x", " "]


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr("socket.socket.connect", refuse)


def write_csv(path: Path) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([COLUMNS, ["a", "1", "ü", "x", "-"], ["b", "2", "", "y", "+"]])
    return path


def write_parquet(path: Path) -> Path:
    columns = {
        "id": ["a", "b"],
        "n": [1, 2],
        "share": [0.25, 0.5],
        "flag": [True, False],
        "winnow_candidates": [["wren", "robin"], ["wren"]],
    }
    pq.write_table(pa.table(columns), path)
    return path


def metadata(*files: Path, given: CardDetails = GIVEN, **changes: Any) -> str:
    described = [describe_file(one) for one in files]
    return write_croissant(dataclasses.replace(FACTS, **changes), given, described, "Winnow 9.9")


def opened(text: str, beside: Path) -> mlcroissant.Dataset:
    path = beside / "metadata.json"
    path.write_text(text, encoding="utf-8")
    dataset = mlcroissant.Dataset(jsonld=path)
    assert not dataset.metadata.ctx.issues.errors
    return dataset


def plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    return [plain(one) for one in value] if isinstance(value, list) else value


def records(dataset: mlcroissant.Dataset, record_set: str) -> list[list[Any]]:
    return [[plain(cell) for cell in one.values()] for one in dataset.records(record_set=record_set)]


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.reset_index")
@pytest.mark.usefixtures("no_network")
def test_croissant_reads_records_of_csv_and_parquet(tmp_path: Path) -> None:
    files = write_csv(tmp_path / "my birds.csv"), write_parquet(tmp_path / "birds.parquet")
    dataset = opened(metadata(*files), tmp_path)
    assert [one.uuid for one in dataset.metadata.record_sets] == ["records/my_birds.csv", "records/birds.parquet"]
    assert records(dataset, "records/birds.parquet") == [
        ["a", 1, 0.25, True, ["wren", "robin"]],
        ["b", 2, 0.5, False, ["wren"]],
    ]
    first, second = records(dataset, "records/my_birds.csv")
    assert first == ["a", "1", "ü", "x", "-"]
    assert second[0] == "b"
    assert second[3:] == ["y", "+"]


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.reset_index")
@pytest.mark.usefixtures("no_network")
def test_croissant_refuses_changed_file(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "birds.csv")
    dataset = opened(metadata(path), tmp_path)
    path.write_text(path.read_text() + "c,3,z,z,z\n")
    with pytest.raises(mlcroissant.GenerationError, match=r"Download\(birds.csv\)") as caught:
        records(dataset, "records/birds.csv")
    assert "Hash" in str(caught.value.__cause__)


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.reset_index")
def test_known_facts_are_in_rai_fields(tmp_path: Path) -> None:
    found = opened(metadata(), tmp_path).metadata
    assert found.name == "Birds"
    assert found.description == "Songs from a garden."
    assert found.data_annotation_protocol == ["Listen twice.\nThen decide."]
    assert found.data_annotation_platform == ["Winnow 9.9"]
    assert found.annotations_per_item == "1 on 98 rows, 2 on 1 row"
    assert found.annotator_demographics == ["Two teachers."]
    assert found.machine_annotation_tools == ["plknn", "kernelridge"]
    assert found.data_annotation_analysis == ["Accuracy on checks: 0.900 (95% interval 0.800 to 0.950, n = 50)"]
    assert found.license == ["cc-by-4.0"]
    assert found.url == "https://example.org/birds"


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.reset_index")
def test_unknown_value_is_left_out(tmp_path: Path) -> None:
    text = metadata(given=CardDetails(), guidelines="", description="", per_row={}, sources={"person": 1}, last=None)
    found = opened(text, tmp_path).metadata
    assert not found.annotator_demographics
    assert not {"license", "url", "description", "inLanguage", "dateModified"} & set(json.loads(text))
    rai = {name for name in json.loads(text) if name.startswith("rai:")}
    assert rai == {"rai:dataAnnotationPlatform", "rai:dataAnnotationAnalysis"}


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.reset_index")
def test_file_is_named_with_its_hash_its_size_and_its_type(tmp_path: Path) -> None:
    path = tmp_path / "birds.npz"
    path.write_bytes(b"1234")
    (one,) = json.loads(metadata(path))["distribution"]
    assert one["sha256"] == hashlib.sha256(b"1234").hexdigest()
    assert one["contentSize"] == "4 B"
    assert one["encodingFormat"] == "application/octet-stream"
    assert json.loads(metadata(path)).get("recordSet") is None, "its columns are not known"
    for name, media_type in (("x.csv", "text/csv"), ("x.JSONL", "application/jsonlines")):
        (tmp_path / name).write_text("a\n")
        assert describe_file(tmp_path / name).media_type == media_type


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.reset_index")
def test_empty_file_has_no_columns(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("")
    assert describe_file(tmp_path / "empty.csv").columns == {}


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.reset_index")
def test_field_ids_have_no_blanks_and_are_unique(tmp_path: Path) -> None:
    (fields,) = (one["field"] for one in json.loads(metadata(write_csv(tmp_path / "a b.csv")))["recordSet"])
    ids = [one["@id"] for one in fields]
    assert ids == [f"records/a_b.csv/{name}" for name in ("id", "x_1", "wörd_x", "wörd_x-2", "_")]
    assert [one["name"] for one in fields] == COLUMNS


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.reset_index")
def test_any_project_name_is_valid_in_croissant(tmp_path: Path) -> None:
    opened(metadata(name='Vögel "der" Nacht \U0001f989\n', description="a\u2028b"), tmp_path)
