"""Tables of monitoring stations: BirdNET-Pi and Camtrap DP."""

from __future__ import annotations

import csv
import io

import pytest

from plcore import LabelTable, TableError, read_cells
from plcore.tables import NATURE_FORMATS, TableReading, read_in, read_table, shaped, ways_of
from plcore.tables.readers.tools.detections import NOTHING
from plcore.tables.readers.tools.kaleidoscope import write_kaleidoscope
from plcore.tables.writers.nature import write_camtrap_dp
from tests.plcore.tables.readers.cases import decided, read_case, says, voters, weights
from tests.plcore.tables.writers.tables import written
from tests.plcore.tables.zips import make_zip, picture


def read(text: str) -> TableReading:
    return shaped(read_table(text.encode(), "a.csv"))


def test_birdnet_pi_rows_with_one_time_are_one_item() -> None:
    reading = read_case("BirdDB.txt")
    assert reading.cells["item"].tolist() == ["2024-05-01 06:00:03"]
    assert weights(reading) == [
        {"Eurasian Blackbird": 0.9123, "European Robin": 0.7345, NOTHING: pytest.approx(0.0877)}
    ]


def test_birdnet_pi_confidence_of_zero_is_a_human_verdict() -> None:
    reading = read_case("birdnetpi_detections.csv")
    assert weights(reading)[1] == {"European Robin": 1}
    assert reading.cells["truth"].tolist() == ["", "European Robin"]
    assert reading.cells["clip"][1].startswith("BirdSongs/Extracted/By_Date/2024-05-01/European_Robin/European")


PI = "Date,Time,Sci_Name,Com_Name,Confidence,Lat,Lon,Cutoff,Week,Sens,Overlap\n"


def test_birdnet_pi_two_corrected_names_of_one_time_are_not_single_truth() -> None:
    line = "2024-05-01,06:00:00,{},{},0,1,2,0.7,18,1,0\n"
    reading = read(PI + line.format("P m", "Tit") + line.format("P a", "Coal Tit"))
    assert weights(reading) == [{"Tit": 1, "Coal Tit": 1}]
    assert "truth" not in reading.cells
    assert says(reading, "have no single true label: 1")


def test_birdnet_pi_score_above_one_is_refused() -> None:
    with pytest.raises(TableError, match="expected a score from 0 to 1, got '91'"):
        read(PI + "2024-05-01,06:00:00,P m,Tit,91,1,2,0.7,18,1,0\n")


def test_birdnet_go_reviews_confirm_or_rule_out_labels() -> None:
    reading = read_case("birdnet_go.json")
    every = {"Eurasian Blackbird": None, NOTHING: None}
    assert weights(reading)[:2] == [{"Eurasian Blackbird": 0.9}, every], "a false positive is everything else"
    assert weights(reading)[2] == {"European Robin": 0.71, NOTHING: pytest.approx(0.29)}
    assert reading.cells["truth"].tolist() == ["Eurasian Blackbird", "", ""]
    assert says(reading, "Reviewed as false_positive: 1, a label that is ruled out.")
    notes = read_case("birdnet_go_notes.csv")
    assert weights(notes)[0] == {"Eurasian Blackbird": 0.9, NOTHING: pytest.approx(0.1)}
    assert notes.cells["clip"].tolist() == ["a.wav", "b.wav"]
    with pytest.raises(TableError, match="counts detections, but lists none of them"):
        read_case("birdnet_go_summary.csv")


KALEIDOSCOPE = "INDIR,FOLDER,IN FILE,OFFSET,DURATION,TOP1MATCH,TOP1DIST\n"


def test_top1dist_of_several_rows_in_a_segment_is_a_score() -> None:
    first = "d,f,a.wav,0,3,Wren,0.9\n"
    reading = read(KALEIDOSCOPE + first + "d,f,a.wav,0,3,Robin,0.2\n")
    assert weights(reading) == [{"Wren": 0.9, "Robin": 0.2, NOTHING: pytest.approx(0.1)}]
    assert says(reading, "TOP1DIST is read as a score, where more is better")
    alone = read(KALEIDOSCOPE + first + "d,f,a.wav,3,3,Robin,0.2\n")
    assert weights(alone)[0] == {"Wren": None, NOTHING: None}, "it may be a distance"
    assert says(alone, "TOP1DIST is not read: it may be a score")


def test_camtrap_machine_labels_have_weights_and_people_vote() -> None:
    reading = read_case("observations.csv")
    assert reading.cells["mediaID"].tolist() == ["m1", "m2"]
    assert weights(reading) == [{"Vulpes vulpes": 0.7, "Meles meles": 1.2}, {"blank": 0.9}]
    assert voters(reading)[0]["Meles meles"] == ["SpeciesNet v4", "Ana"]
    assert says(reading, "Observations about events that were not read")


CAMTRAP = (
    "observationID,deploymentID,mediaID,eventID,observationLevel,observationType,scientificName,"
    "classificationMethod,classifiedBy,classificationProbability\n"
)


def test_camtrap_observation_types_are_classes_or_blank() -> None:
    reading = read(
        CAMTRAP
        + "1,d,m1,,media,animal,,human,Ana,NA\n2,d,m2,,media,vehicle,,human,Ana,\n3,d,m3,,media,unknown,,human,Ana,\n"
        "4,d,m4,,media,unclassified,,,,\n"
    )
    assert weights(reading)[:2] == [{"animal": 1}, {"vehicle": 1}]
    assert set(weights(reading)[2]) == {"animal", "vehicle"}
    assert says(reading, "could not tell: 1")
    assert says(reading, "not looked at yet: 1")


def test_camtrap_events_are_read_if_no_medium_is_named() -> None:
    reading = read(CAMTRAP + "1,d,,e1,event,animal,Vulpes vulpes,human,Ana,\n2,d,,e2,event,blank,,human,Bob,\n")
    assert reading.cells["eventID"].tolist() == ["e1", "e2"]


def test_camtrap_several_species_of_people_are_counted() -> None:
    reading = read(
        CAMTRAP + "1,d,m1,,media,animal,Vulpes vulpes,human,Ana,\n2,d,m1,,media,animal,Meles meles,human,Ana,\n"
    )
    assert says(reading, "may be several animals: 1")


def test_camtrap_without_ids_is_refused() -> None:
    with pytest.raises(TableError, match="No observation names a media"):
        read(CAMTRAP + "1,d,,,media,animal,Vulpes vulpes,human,Ana,\n")


OBSERVED = CAMTRAP + (
    "o1,d1,m1,e1,media,animal,Vulpes vulpes,machine,S,0.7\no2,d1,m1,e1,media,animal,Meles meles,machine,S,0.2\n"
    "o3,d1,m2,e1,media,animal,Meles meles,human,Ana,\n"
)
MEDIA = "mediaID,deploymentID,timestamp,filePath,fileMediatype\n" + "".join(
    f"m{k},d1,2024-05-01T06:00:00Z,{path},image/jpeg\n"
    for k, path in enumerate(("media/1.jpg", "https://x/2.jpg", "media/3.jpg"), start=1)
)
DEPLOYMENTS = "deploymentID,locationName,latitude,longitude\nd1,Wood,50.1,8.6\n"
PACKAGE = '{"profile": "camtrap-dp-profile.json", "resources": [{"name": "media"}]}'


@pytest.mark.parametrize("tables", [("media", "deployments"), ("media",), ()])
def test_camtrap_package_joins_media_and_deployments(tables: tuple[str, ...]) -> None:
    files = {"x/datapackage.json": PACKAGE.encode(), "x/observations.csv": OBSERVED.encode()}
    more = {"media": MEDIA, "deployments": DEPLOYMENTS}
    reading = read_table(make_zip(files | {f"x/{name}.csv": more[name].encode() for name in tables}))
    assert reading.format == "Camtrap DP"
    assert weights(reading)[:2] == [{"Vulpes vulpes": 0.7, "Meles meles": 0.2}, {"Meles meles": 1}]
    assert len(reading.cells) == (3 if tables else 2), "a medium without an observation is a row"
    assert says(reading, "Media without an observation, which no one has classified: 1.") == bool(tables)
    if tables:
        assert reading.cells["filepath"].tolist() == ["media/1.jpg", "", "media/3.jpg"], "an address is not fetched"
    if "deployments" in tables:
        assert reading.cells["locationName"].tolist() == ["Wood"] * 3
        assert reading.suggest_roles().caption == ("eventStart", "locationName", "latitude", "longitude")


def test_camtrap_package_shows_pictures_in_zip() -> None:
    tables = {"media.csv": MEDIA.encode(), "observations.csv": OBSERVED.encode(), "other.csv": b"a,b\n1,2\n"}
    pictures = {"media/1.jpg": picture(1, "JPEG"), "media/3.jpg": picture(3, "JPEG")}
    reading = read_table(make_zip(tables | pictures))
    roles = reading.suggest_roles()
    assert (roles.id, roles.image, roles.numbers) == ("mediaID", "filepath", ())


EVENTS = (
    "observationID,deploymentID,mediaID,eventID,eventStart,eventEnd,observationLevel,observationType,scientificName,"
    "classificationMethod,classifiedBy,classificationProbability\n"
    "o1,d1,,e1,2024-05-01T06:00:00Z,2024-05-01T06:00:05Z,event,animal,Meles meles,machine,S,0.7\n"
    "o2,d1,,e1,2024-05-01T06:00:00Z,2024-05-01T06:00:05Z,event,animal,Vulpes vulpes,machine,S,0.2\n"
    "o3,d1,,e2,2024-05-01T08:00:00+02:00,2024-05-01T08:00:02+02:00,event,blank,,human,Ana,\n"
    "o4,d2,,e3,2024-05-01T06:00:00Z,2024-05-01T06:00:05Z,event,animal,Meles meles,human,Ana,\n"
)
SHOTS = "mediaID,deploymentID,timestamp,filePath,fileMediatype\n" + "".join(
    f"m{second},d1,2024-05-01T06:00:{second:02}Z,media/{second}.jpg,image/jpeg\n" for second in (6, 5, 2, 0)
)


def test_camtrap_events_get_pictures_by_time_and_place() -> None:
    tables = {"media.csv": SHOTS.encode(), "observations.csv": EVENTS.encode()}
    pictures = {f"media/{second}.jpg": picture(second, "JPEG") for second in (0, 2, 5, 6)}
    reading = read_table(make_zip(tables | pictures))
    assert reading.cells["eventID"].tolist() == ["e1", "e2", "e3"]
    assert reading.cells["filepath"].tolist() == [
        "media/0.jpg|media/2.jpg|media/5.jpg", "media/0.jpg|media/2.jpg", ""
    ]  # fmt: skip
    assert reading.cells["media"].tolist() == ["3", "2", "0"]
    assert says(reading, "as no medium of their deployment was taken between eventStart and eventEnd: 1.")
    table = LabelTable.from_cells(reading.cells, reading.suggest_roles(), reading.files)
    assert table.media.more_images is not None
    assert [len(one) for one in table.media.more_images] == [2, 1, 0]


BOTH = (
    EVENTS + "o5,d1,m5,e1,2024-05-01T06:00:05Z,2024-05-01T06:00:05Z,media,animal,Vulpes vulpes,human,Ana,\n"
    "o6,d2,m6,e3,2024-05-01T06:00:05Z,2024-05-01T06:00:05Z,media,animal,Meles meles,human,Ana,\n"
)


def test_camtrap_with_both_levels_can_be_read_by_media_or_event() -> None:
    reading = read_table(BOTH.encode())
    assert [(way.name, list(way.options)) for way in ways_of(reading)] == [("item", ["media", "event"])]
    media, events = (shaped(read_in(reading, {"item": item})) for item in ("media", "event"))
    assert media.cells.equals(shaped(reading).cells)
    assert weights(media) == [{"Vulpes vulpes": 1}, {"Meles meles": 1}]
    assert says(media, "the same animals: 4. An item can be an event instead.")
    assert weights(events) == [{"Meles meles": 0.7, "Vulpes vulpes": 0.2}, {"blank": 1}, {"Meles meles": 1}]
    assert events.format == "Camtrap DP observations, an item an event"
    assert says(events, "Observations about media that were not read, because they describe the same animals: 2.")
    assert ways_of(read_table(EVENTS.encode())) == ()
    assert ways_of(read_table(OBSERVED.encode())) == ()


def test_camtrap_package_with_both_levels_is_read_by_event_if_chosen() -> None:
    tables = {"media.csv": (SHOTS + "m9,d2,,media/9.jpg,image/jpeg\n").encode()}
    tables |= {"observations.csv": BOTH.replace("m6", "m9").encode(), "list.csv": b"a,b\n1,2\n3,4\n"}
    pictures = {f"media/{name}.jpg": picture(name, "JPEG") for name in (0, 2, 5, 6, 9)}
    first = read_table(make_zip(tables | pictures))
    assert [(way.name, list(way.options)) for way in ways_of(first)] == [("item", ["media", "event"])]
    assert first.suggest_roles().id == "mediaID"
    reading = read_in(first, {"item": "event"})
    roles = reading.suggest_roles()
    assert (reading.format, roles.id, roles.image) == ("Camtrap DP, an item an event", "eventID", "filepath")
    assert reading.cells["filepath"].tolist() == [
        "media/0.jpg|media/2.jpg|media/5.jpg", "media/0.jpg|media/2.jpg", "media/9.jpg"
    ], "a medium without a time belongs to the event that its observation names"  # fmt: skip
    assert weights(reading) == [{"Meles meles": 0.7, "Vulpes vulpes": 0.2}, {"blank": 1}, {"Meles meles": 1}]
    assert says(reading, "Not read: 'list.csv'.")
    with pytest.raises(TableError, match="it can be 'media', 'event'"):
        read_in(first, {"item": "detection"})


@pytest.mark.parametrize(("item", "level", "medium"), [("media", "media", "m5"), ("event", "event", "")])
def test_camtrap_observations_are_returned_with_those_of_people(item: str, level: str, medium: str) -> None:
    whole, answer = BOTH, "Meles meles"
    for ids in (["e1:1"], ["e1:1", "e1:1+"]) if item == "event" else (["m5:1"], ["m5:1", "m5:1+"]):
        reading = shaped(read_in(read_table(whole.encode()), {"item": item}))
        first = reading.cells.iloc[0]
        assert [name for name, one in NATURE_FORMATS.items() if one.fits(reading.cells)] == [
            "camtrap-dp", "darwin-core", "ebird",
        ]  # fmt: skip
        back = written(write_camtrap_dp, decided(reading, {0: answer}))
        lines = list(csv.DictReader(io.StringIO(back.decode())))
        came = list(csv.DictReader(io.StringIO(whole)))
        assert [{name: line[name] for name in came[0]} for line in lines[: len(came)]] == came
        assert [line["observationID"] for line in lines if line["classifiedBy"] == "Ann"] == ids
        new = lines[-1]
        assert (new["observationLevel"], new["mediaID"], new["eventID"]) == (level, medium, "e1")
        assert (new["scientificName"], new["observationType"], new["classificationMethod"]) == (
            answer, "animal", "human",
        )  # fmt: skip
        assert new["deploymentID"] == first["deploymentID"]
        whole = back.decode()
    again = shaped(read_in(read_table(whole.encode()), {"item": item}))
    assert "Ann" in voters(again)[0][answer]


def test_camtrap_events_without_media_stay_events() -> None:
    reading = read_table(make_zip({"observations.csv": EVENTS.encode(), "deployments.csv": DEPLOYMENTS.encode()}))
    assert reading.cells["eventID"].tolist() == ["e1", "e2", "e3"]
    assert "filepath" not in reading.cells


IDS = (
    "INDIR,FOLDER,IN FILE,OFFSET,DURATION,AUTO ID*,MANUAL ID\n"
    "D:\\bats,n1,A.wav,0,5,PIPPIP,\nD:\\bats,n1,A.wav,5,5,NoID,\nD:\\bats,n1,B.wav,0,5,MYODAU,\n"
)
ABOUT = "INDIR,FOLDER,IN FILE,DURATION,DATE,Temperature,Site\nD:\\bats,n1,A.wav,10,2024-07-01,12,pond\n"


def test_kaleidoscope_meta_describes_recordings() -> None:
    reading = read_table(make_zip({"meta.csv": ABOUT.encode(), "id.csv": IDS.encode()}))
    assert reading.format == "zip of two tables (Kaleidoscope id.csv, Kaleidoscope meta.csv)"
    assert reading.cells["Temperature"].tolist() == ["12", "12", ""]
    assert says(reading, "meta.csv describes the recordings of 2 of 3 rows.")
    roles = reading.suggest_roles()
    assert roles.caption == ("DATE", "Temperature", "Site")
    assert not {"DATE", "Temperature", "Site"} & {*roles.numbers, *roles.categories}
    table = LabelTable.from_cells(reading.cells, roles, reading.files)
    back = read_cells(written(write_kaleidoscope, decided(reading, {0: "MYODAU"})))
    assert list(back.columns) == IDS.splitlines()[0].split(","), "Kaleidoscope shows no other columns"
    assert table.n_rows == 3


def test_kaleidoscope_meta_alone_is_refused_with_a_message() -> None:
    with pytest.raises(TableError, match=r"meta\.csv describes recordings, but names nothing that was heard"):
        read(ABOUT)
