"""The export formats for detector tables: each for its own tables, written in pieces."""

from __future__ import annotations

import csv
import io
from collections import Counter
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.tables.readers.tools.detections import NOTHING
from plcore.tables.writers.disambiguated import Disambiguated
from plcore.tables.writers.nature import (
    CAMTRAP_DP,
    COLUMNS,
    DARWIN_CORE,
    EBIRD,
    NATURE_FORMATS,
    TYPES,
    write_camtrap_dp,
    write_darwin_core,
    write_ebird,
)
from plcore.tables.writers.writing import FILE_FORMATS
from tests.plcore.tables.readers.tools.detector_tables import BIRDNET, R_FORM, RAVEN
from tests.plcore.tables.readers.tools.test_speciesnet import FILE
from tests.plcore.tables.writers.answered import answered
from tests.plcore.tables.writers.tables import ends_when_listener_raises, in_small_pieces, small_table, written


def test_formats_have_unique_names_texts_and_endings() -> None:
    every = {**FILE_FORMATS, **NATURE_FORMATS}
    assert len(every) == len(FILE_FORMATS) + len(NATURE_FORMATS)
    assert len({each.suffix for each in every.values()}) == len(every)
    for name, each in NATURE_FORMATS.items():
        assert each.name == name
        assert each.title
        assert each.about.endswith(".")
    assert all(each.fits(small_table().cells) for each in FILE_FORMATS.values())


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (BIRDNET, ["detections", "camtrap-dp", "darwin-core", "ebird"]),
        (RAVEN, ["detections", "raven", "camtrap-dp", "darwin-core", "ebird"]),
        (FILE, ["speciesnet", "camtrap-dp", "darwin-core", "ebird"]),
    ],
)
def test_format_is_offered_only_for_its_own_tables(data: bytes, wanted: list[str]) -> None:
    cells = answered(data).cells
    assert [name for name, each in NATURE_FORMATS.items() if each.fits(cells)] == wanted
    assert not any(each.fits(small_table().cells) for each in NATURE_FORMATS.values())
    assert all(each.fits(cells) for name, each in NATURE_FORMATS.items() if name in wanted)


@cache
def long_table(of: str) -> Disambiguated:
    """2,000 rows of sounds, or of images."""
    head, row = {
        "sounds": (BIRDNET.decode().splitlines()[0], "{0},{1},Parus major,Great tit,0.5,a.wav"),
        "images": ("File,RelativePath,DateTime,DeleteFlag,Species", "{0}.jpg,x,2024-05-01,false,{2}"),
    }[of]
    rows = [row.format(place, place + 3, "fox" if place % 2 else "hare") for place in range(2_000)]
    return answered("\n".join([head, *rows]).encode())


@pytest.mark.parametrize("name", NATURE_FORMATS)
def test_writing_in_pieces_reports_progress_and_can_be_stopped(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    in_small_pieces(monkeypatch)
    table, told = long_table("images" if name == "timelapse" else "sounds"), []
    written(NATURE_FORMATS[name].write, table, told.append)
    assert told == sorted(told)
    assert told[-1] == len(table.ids)
    assert len(told) > 2
    ends_when_listener_raises(NATURE_FORMATS[name].write, table, io.BytesIO())


PLACE = {"lat": "47.5", "lon": "8.25", "site": "Wald", "date": "2026-05-01", "deploymentID": "d1"}


def observations(table: Disambiguated) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(written(write_camtrap_dp, table).decode())))


def occurrences(table: Disambiguated) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(written(write_darwin_core, table).decode())))


def test_file_without_answers_has_only_a_header() -> None:
    assert written(write_camtrap_dp, answered()).decode() == ",".join(CAMTRAP_DP) + "\r\n"
    assert written(write_darwin_core, answered()).decode() == ",".join(DARWIN_CORE) + "\r\n"
    assert written(write_ebird, answered()) == b""


def test_every_answer_of_a_person_is_an_observation() -> None:
    table = answered(answers={0: ("Coal tit",), 1: (NOTHING,), 2: "none"}, **PLACE)
    table.answers.append({**table.answers[0], "person": "bob", "labels": ["Great tit"]})  # type: ignore[attr-defined]
    first, second, *others = observations(table)
    assert {name: text for name, text in first.items() if text} == {
        "observationID": "Wald, früh.wav 0-3 s:1",
        "deploymentID": "d1",
        "mediaID": "C:\\rec\\Wald, früh.wav",
        "eventID": "Wald, früh.wav 0-3 s",
        "observationLevel": "media",
        "observationType": "animal",
        "scientificName": "Periparus ater",
        "classificationMethod": "human",
        "classifiedBy": "ann",
        "classificationTimestamp": "2026-05-01T10:20:30+0000",
        "observationTags": "start:0 | end:3",
        "observationComments": "Coal tit",
    }
    assert (second["observationID"], second["classifiedBy"]) == ("Wald, früh.wav 0-3 s:2", "bob")
    assert [(one["observationType"], one["scientificName"]) for one in others] == [("blank", ""), ("unknown", "")]


def test_latest_answer_of_a_person_is_the_observation() -> None:
    """ "None of these, but that" is stored as two answers."""
    table = answered(answers={0: "none"})
    table.answers.append({**table.answers[0], "kind": "is", "labels": ["Eurasian Blackbird"]})  # type: ignore[attr-defined]
    table.answers.append({**table.answers[0], "kind": "skip"})  # type: ignore[attr-defined]
    (one,) = observations(table)
    assert (one["observationType"], one["observationComments"]) == ("animal", "Eurasian Blackbird")


def test_class_left_by_elimination_is_not_an_occurrence() -> None:
    table = answered(answers={0: ("Eurasian Blackbird",)})
    table.answers[0].update(kind="none", labels=[])
    table.source[0] = "remaining"
    assert occurrences(table) == []
    assert written(write_ebird, table) == b""


def test_non_animal_birdnet_sounds_are_not_species() -> None:
    """It writes `Engine` as the scientific name, too."""
    data = BIRDNET.replace(b"Periparus ater,Coal tit", b"Human vocal,Human vocal").replace(
        b"Turdus merula,Eurasian Blackbird", b"Engine,Engine"
    )
    table = answered(data, {0: ("Stimme",), 2: ("Engine",)}, renamed={"Human vocal": "Stimme"})
    found = [(one["observationType"], one["scientificName"]) for one in observations(table)]
    assert found == [("human", ""), ("unknown", "")]
    assert occurrences(table) == []
    assert written(write_ebird, table) == b""


def test_open_answers_are_not_observations() -> None:
    table = answered(answers={0: ("Coal tit", "Great tit"), 1: "skip", 2: "bad"})
    assert observations(table) == occurrences(table) == []


def test_times_with_zone_come_from_the_table() -> None:
    (one,) = observations(answered(answers={0: ("Coal tit",)}, timestamp="2026-05-01T05:30:00+02:00"))
    assert one["eventStart"] == one["eventEnd"] == "2026-05-01T05:30:00+0200"


def test_every_verified_species_is_an_occurrence() -> None:
    table = answered(answers={0: ("Coal tit",), 1: (NOTHING,), 2: ("Eurasian Blackbird",)}, **PLACE)
    first, second = occurrences(table)
    assert {name: text for name, text in first.items() if text} == {
        "occurrenceID": "Wald, früh.wav 0-3 s",
        "basisOfRecord": "MachineObservation",
        "eventDate": "2026-05-01",
        "decimalLatitude": "47.5",
        "decimalLongitude": "8.25",
        "scientificName": "Periparus ater",
        "vernacularName": "Coal tit",
        "taxonRank": "species",
        "identifiedBy": "ann",
        "dateIdentified": "2026-05-01T10:20:30.5+00:00",
        "identificationVerificationStatus": "verified by a person",
        "identificationRemarks": "seconds 0 to 3 of the recording",
        "associatedMedia": "C:\\rec\\Wald, früh.wav",
    }
    assert second["scientificName"] == "Turdus merula"


def test_place_is_read_from_columns_of_the_file() -> None:
    (one,) = occurrences(answered(R_FORM, {0: ("Great Tit",)}))
    assert (one["decimalLatitude"], one["decimalLongitude"]) == ("47.5", "8.25")


def test_pictures_have_blanks_people_and_no_seconds() -> None:
    table = answered(FILE, {0: ("coyote",), 1: ("blank",), 3: ("human",)})
    assert [one["observationType"] for one in observations(table)] == ["animal", "blank", "human"]
    assert {one["observationTags"] for one in observations(table)} == {""}
    (one,) = occurrences(table)
    assert (one["vernacularName"], one["decimalLatitude"]) == ("coyote", "47.5")
    assert one["associatedMedia"].endswith("IMG 1.JPG")


def test_renamed_blank_class_is_still_blank() -> None:
    renamed = {NOTHING: "Lärm", "Coal tit": "Tannenmeise"}
    table = answered(answers={0: ("Tannenmeise",), 1: ("Lärm",)}, renamed=renamed)
    assert [one["observationType"] for one in observations(table)] == ["animal", "blank"]
    assert [one["scientificName"] for one in occurrences(table)] == ["Periparus ater"]


def test_ebird_has_one_line_per_species_and_list() -> None:
    table = answered(answers={0: ("Great tit",), 1: ("Great tit",), 2: (NOTHING,)}, **PLACE)
    (line,) = csv.reader(io.StringIO(written(write_ebird, table).decode()))
    assert {name: text for name, text in zip(EBIRD, line, strict=True) if text} == {
        "Common Name": "Great tit",
        "Genus": "Parus",
        "Species": "major",
        "Number": "X",
        "Species Comments": "2 detections, verified by ann",
        "Location Name": "Wald",
        "Latitude": "47.5",
        "Longitude": "8.25",
        "Date": "05/01/2026",
        "All observations reported?": "N",
    }


@given(st.dictionaries(st.integers(0, 2), st.sampled_from(["Coal tit", "Great tit", NOTHING]), max_size=3))
def test_number_of_observations_equals_the_answers(said: dict[int, str]) -> None:
    table = answered(answers={row: (label,) for row, label in said.items()})
    birds = [label for label in said.values() if label != NOTHING]
    assert len(observations(table)) == len(said)
    assert sorted(one["vernacularName"] for one in occurrences(table)) == sorted(birds)
    lines = list(csv.reader(io.StringIO(written(write_ebird, table).decode())))
    assert sorted(line[0] for line in lines) == sorted(set(birds))


@pytest.mark.parametrize(("columns", "count"), [(CAMTRAP_DP, 28), (DARWIN_CORE, 14), (EBIRD, 19)])
def test_columns_match_the_standards(columns: tuple[str, ...], count: int) -> None:
    """The 28 fields of observations-table-schema.json 1.0, and eBird's 19 columns."""
    assert len(set(columns)) == len(columns) == count


def test_column_names_are_unique_and_case_insensitive() -> None:
    names = Counter(name for few in COLUMNS.values() for name in few)
    assert set(names.values()) == {1}
    assert all(name == name.strip().lower() for name in names)


def test_observation_types_are_those_of_camtrap_dp() -> None:
    assert set(TYPES.values()) <= {"animal", "human", "vehicle", "blank", "unknown", "unclassified"}
