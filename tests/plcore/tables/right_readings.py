"""Correct readings of each small file in `cases`: the same on the page, in the command line and by the API."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

CASES = Path(__file__).with_name("cases")
OF_TOOLS = Path(__file__).parent / "readers" / "cases"


@dataclass(frozen=True)
class Right:
    """A right reading. said : the beginning of the sentence about the file      learnt : the columns that models learn
    from

    rows : the candidates of the first rows, with | between them; for label vectors the cells, with ? for not asked
    stops : the name of the doubt that stops the import; "" without one
    """

    said: str
    rows: tuple[str, ...]
    learnt: str
    stops: str = ""

    @property
    def count(self) -> int:
        """How many rows the table has."""
        return int(self.said.partition(": ")[2].split()[0])


@dataclass(frozen=True)
class Refused:
    """The message of a right refusal. option : the command-line option that resolves it; "" if the file has to be
    corrected"""

    words: str
    option: str = ""


def path_of(name: str) -> Path:
    """Return the path of a case."""
    return next(folder / name for folder in (CASES, OF_TOOLS) if (folder / name).exists())


_NA = ("NA|ZA", "NO|ZA", "NA|NO", "NO|ZA", "ZA", "NO")
_BIRDS = "3 classes ('Eurasian Blackbird', 'European Robin', 'noise / nothing')"
_BOTH = "Eurasian Blackbird|European Robin|noise / nothing"
_SPECIES = "7 classes ('blank', 'european badger', 'european hare', 'red deer', 'red fox' and 2 more)"
_TAGS = "59 rows, 8 labels ('outdoor', 'people', 'water', 'food', 'night' and 3 more)"
_HOLES = "3 rows, 3 labels ('cat', 'dog', 'owl')"
_BIRDS_OF_ZIPS = "4 classes ('Amsel', 'Kohlmeise', 'Singdrossel', 'noise / nothing')"
_HEARD = ("Amsel|Singdrossel|noise / nothing", "Kohlmeise|noise / nothing")
_VOTES_OF_8 = ("Neg|Pos", "Pos", "Pos", "Neg|Pos", "Pos", "Pos", "Neg|Pos", "Pos")

RIGHT = {
    "api_rows.csv": Right(
        "CSV: 6 rows, 5 classes ('\"jay\"', 'NA', 'jay', 'robin', 'wren')",
        ("robin|wren", '"jay"|robin', "NA|wren", "robin|wren", "robin", "jay|wren"),
        "text 'text', number 'x'",
    ),
    "g12_na_csv.csv": Right("table that Winnow exported: 6 rows, 3 classes ('NA', 'NO', 'ZA')", _NA, "text 'text'"),
    "g12_na_jsonl.jsonl": Right("lines that Winnow exported: 6 rows, 3 classes ('NA', 'NO', 'ZA')", _NA, "text 'text'"),
    "g12_na_parquet.parquet": Right(
        "Parquet of Hugging Face: 6 rows, 3 classes ('NA', 'NO', 'ZA')", _NA, "text 'text'"
    ),
    "g15_mixed_sep.csv": Right(
        "CSV: 8 rows, 5 classes ('jay', 'robin', 'wren', 'wren, robin', 'wren; jay')",
        ("robin|wren", "wren, robin", "wren; jay"),
        "text 'text'",
        "mixed-separators",
    ),
    "g15_na_jsonlist.json": Right(
        "JSON: 8 rows, 3 classes ('None', 'anger', 'joy')",
        ("None|joy", "anger|joy", "anger", "None|anger"),
        "text 'text'",
    ),
    "g7_second_sheet.xlsx": Right(
        "workbook, sheet 'data': 3 rows, 2 classes ('a', 'b')", ("a|b", "b", "a"), "text 'text'"
    ),
    "g8_struct_scores.parquet": Right(
        "Parquet: 3 rows, 3 classes ('None', 'robin', 'wren')", ("robin|wren", "None|wren", "robin"), "text 'text'"
    ),
    "llm_shortlist.jsonl": Right(
        "JSON Lines: 40 rows, 56 classes (",
        ("loan_delayed|mortgage_wrong_amount|statement_wrong_amount|transfer_wrong_amount",),
        "text 'text'",
    ),
    "shares_in_one_row.csv": Right(
        "CSV: 20 rows, 4 classes ('robin', 'robin:0.4', 'wren', 'wren:0.6')",
        ("robin|wren", "robin|wren", "robin|wren", "robin:0.4|wren:0.6"),
        "number 'y'",
        "weights-in-names",
    ),
    "slash_in_one_row.csv": Right(
        "CSV: 20 rows, 3 classes ('robin', 'wren', 'wren/robin')",
        ("robin|wren", "robin|wren", "robin|wren", "wren/robin"),
        "number 'y'",
        "mixed-separators",
    ),
    "tags_nan.csv": Right(f"CSV: {_TAGS}", ("?1?101?0", "1100??1?", "?0?0????"), "text 'caption'"),
    "tags_yesno.csv": Right(f"CSV: {_TAGS}", ("0???00?0", "?1?00??0", "?10?10??"), "text 'caption'"),
    "typed.parquet": Right(
        "Parquet: 60 rows, 3 classes ('cat', 'dog', 'fox')",
        ("cat|dog", "cat|dog", "cat|fox"),
        "number 'score', number 'count', category 'ok'",
    ),
    "holes_nan.csv": Right(f"CSV: {_HOLES}", ("10?", "?1?", "1?0"), "text 'text'"),
    "holes_x.csv": Right(f"CSV: {_HOLES}", ("1??", "?1?", "11?"), "text 'text'", "empty-or-no"),
    "holes_yn.csv": Right(f"CSV: {_HOLES}", ("10?",) * 3, "text 'text'"),
    "g16_bn_order.zip": Right(
        f"BirdNET table of detections: 2 rows, {_BIRDS_OF_ZIPS}", _HEARD, "recordings 'recording'"
    ),
    "g16_bn_headeronly.zip": Right(
        f"BirdNET table of detections: 2 rows, {_BIRDS_OF_ZIPS}", _HEARD, "recordings 'recording'"
    ),
    "BirdDB.txt": Right(f"BirdNET-Pi detections: 1 row, {_BIRDS}", (_BOTH,), "number 'week'"),
    "appen_full.csv": Right("Appen full report: 2 rows, 2 classes ('neg', 'pos')", ("pos", "neg|pos"), "text 'text'"),
    "birdnet_head_kaleidoscope.csv": Right(
        f"Kaleidoscope table: 2 rows, {_BIRDS}", (_BOTH, "European Robin|noise / nothing"), "number 'start'"
    ),
    "birdnet_head_table.txt": Right(f"Raven selection table: 1 row, {_BIRDS}", (_BOTH,), "number 'start'"),
    "birdnetpi_detections.csv": Right(
        f"BirdNET-Pi detections: 2 rows, {_BIRDS}",
        ("Eurasian Blackbird|noise / nothing", "European Robin"),
        "number 'week'",
    ),
    "doccano_all.jsonl": Right(
        "doccano JSONL: 2 rows, 2 classes ('pos', 'urgent')", ("pos|urgent",) * 2, "text 'text'"
    ),
    "doccano_old.jsonl": Right("doccano JSONL: 1 row, 2 classes ('3', '4')", ("3|4",), "text 'text'"),
    "id.csv": Right(
        "Kaleidoscope id.csv: 2 rows, 3 classes ('PIPPIP', 'PIPPYG', 'noise / nothing')",
        ("PIPPIP|PIPPYG", "PIPPIP|PIPPYG|noise / nothing"),
        "number 'PULSES'",
    ),
    "kaleidoscope_id.csv": Right(
        "Kaleidoscope id.csv: 4 rows, 5 classes ('EPTFUS', 'LASNOC', 'MYOLUC', 'MYOSEP', 'noise / nothing')",
        ("EPTFUS|MYOLUC|MYOSEP", "noise / nothing", "EPTFUS|LASNOC|MYOLUC|MYOSEP|noise / nothing", "EPTFUS|LASNOC"),
        "number 'PULSES'",
    ),
    "label_studio.csv": Right(
        "Label Studio CSV: 8 rows, 2 classes ('Neg', 'Pos')", ("Neg", "Pos", "Pos"), "text 'text'"
    ),
    "label_studio_1.23.2.json": Right(
        "Label Studio JSON: 3 rows, 2 classes ('crash', 'ship')",
        ("ship", "crash|ship", "crash|ship"),
        "text 'text', number 'size', number 'weight'",
    ),
    "label_studio_genus.json": Right(
        "Label Studio JSON: 5 rows, 4 classes ('Turdus', 'ater', 'major', 'merula')",
        ("Turdus|merula", "major|merula", "major", "Turdus|ater|major|merula", "ater|major"),
        "text 'text'",
    ),
    "label_studio_min.json": Right(
        "Label Studio JSON-MIN: 3 rows, 3 classes ('Neg', 'Neu', 'Pos')", ("Neg|Pos", "Neu|Pos", "Neu"), "text 'text'"
    ),
    "label_studio_prediction_ids.json": Right(
        "Label Studio JSON: 8 rows, 2 classes ('Neg', 'Pos')", _VOTES_OF_8, "text 'text'"
    ),
    "ls_export.csv": Right("Label Studio CSV: 1 row, 2 classes ('neg', 'pos')", ("neg|pos",), "text 'text'"),
    "ls_min.json": Right("Label Studio JSON-MIN: 2 rows, 2 classes ('neg', 'pos')", ("neg|pos",) * 2, "text 'text'"),
    "md16.json": Right(
        "MegaDetector JSON: 3 rows, 4 classes ('badger', 'blank', 'person', 'red fox')",
        ("badger|red fox", "blank", "person"),
        "number 'confidence'",
    ),
    "megadetector_classified.json": Right(
        f"MegaDetector JSON: 60 rows, {_SPECIES}",
        ("blank|european hare|red deer|red fox|wild boar",),
        "number 'confidence'",
    ),
    "mturk_category.csv": Right(
        "Mechanical Turk results: 8 rows, 2 classes ('cat', 'dog')",
        ("dog", "cat|dog", "cat|dog", "dog"),
        "text 'Input.text'",
    ),
    "mturk_classifier.csv": Right(
        "Mechanical Turk results: 2 rows, 2 classes ('cat', 'dog')", ("cat|dog",) * 2, "category"
    ),
    "mturk_radio.csv": Right(
        "Mechanical Turk results: 2 rows, 2 classes ('cat', 'dog')", ("cat|dog",) * 2, "category 'Input.url'"
    ),
    "mturk_taskanswers.csv": Right(
        "Mechanical Turk results: 1 row, 2 classes ('cat', 'dog')", ("cat|dog",), "category 'Input.url'"
    ),
    "camtrap_levels.csv": Right(
        "Camtrap DP observations: 3 rows, 3 classes ('Meles meles', 'Vulpes vulpes', 'blank')",
        ("Meles meles|Vulpes vulpes", "blank", "Meles meles"),
        "category 'deploymentID'",
    ),
    "observations.csv": Right(
        "Camtrap DP observations: 2 rows, 3 classes ('Meles meles', 'Vulpes vulpes', 'blank')",
        ("Meles meles|Vulpes vulpes", "blank"),
        "number 'confidence'",
    ),
    "prolific_long.csv": Right(
        "Prolific answers: 48 rows, 4 classes ('mixed', 'negative', 'neutral', 'positive')",
        ("mixed", "neutral", "neutral", "negative", "negative", "negative", "neutral|positive"),
        "text 'stimulus'",
    ),
    "pw_timelapse.json": Right(
        "MegaDetector JSON: 2 rows, 2 classes ('animal', 'blank')", ("animal", "blank"), "number 'confidence'"
    ),
    "timelapse_two_species.csv": Right(
        f"Timelapse image data: 60 rows, {_SPECIES}",
        ("european hare|red deer", "european hare|red fox"),
        "number 'Count', number 'Temperature'",
    ),
    "toloka.tsv": Right(
        "Toloka assignments: 2 rows, 2 classes ('cat', 'dog')", ("cat", "cat|dog"), "category 'INPUT:image'"
    ),
    "appen_tainted.csv": Right(
        "Appen full report: 2 rows, 2 classes ('neg', 'pos')", ("pos", "neg|pos"), "text 'text'"
    ),
    "wrench_train.json": Right("WRENCH JSON: 2 rows, 2 classes ('0', '1')", ("0|1",) * 2, "text 'text'"),
}

_ONE_LABEL = "so there is nothing to decide"
_NOTHING = "There is nothing to learn from"

REFUSED = {
    "null_among_candidates.jsonl": Refused("holds null among the labels", "--unlabelled"),
    "votes_with_truth_semicolon.csv": Refused("is not among the row's candidates", "--truth-outside"),
    "ImageData.csv": Refused(f"only one label occurs, 'fox', {_ONE_LABEL}"),
    "label_studio_1.23.2.csv": Refused(f"only one label occurs, 'ship', {_ONE_LABEL}"),
    "ls_export.json": Refused(f"only one label occurs, 'pos', {_ONE_LABEL}"),
    "anthropic_batch.jsonl": Refused(_NOTHING),
    "argilla_nested.json": Refused(_NOTHING),
    "openai_batch.jsonl": Refused(_NOTHING),
    "xlsx_habits.xlsx": Refused(_NOTHING),
}

FOLDERS = {
    "api_rows_NA": ("api_rows.csv",),
    "birdnet_zip_column_order": ("g16_bn_order.zip",),
    "birdnet_zip_header_only": ("g16_bn_headeronly.zip",),
    "excel_second_sheet": ("g7_second_sheet.xlsx",),
    "formats2": (
        "BirdDB.txt", "ImageData.csv", "anthropic_batch.jsonl", "appen_full.csv", "appen_tainted.csv",
        "argilla_nested.json", "birdnet_head_kaleidoscope.csv", "birdnet_head_table.txt",
        "birdnetpi_detections.csv", "doccano_all.jsonl", "doccano_old.jsonl", "holes_nan.csv", "holes_x.csv",
        "holes_yn.csv", "id.csv", "ls_export.csv", "ls_export.json", "ls_min.json", "md16.json",
        "mturk_classifier.csv", "mturk_radio.csv", "mturk_taskanswers.csv", "observations.csv",
        "openai_batch.jsonl", "pw_timelapse.json", "toloka.tsv", "wrench_train.json", "xlsx_habits.xlsx",
    ),
    "kaleidoscope_id_csv": ("kaleidoscope_id.csv",),
    "llm_shortlist_with_latency": ("llm_shortlist.jsonl",),
    "ls_csv_export": ("label_studio.csv",),
    "ls_csv_two_annotations": ("label_studio_1.23.2.csv",),
    "ls_json_min_two_annotators": ("label_studio_min.json",),
    "ls_json_prediction_ids": ("label_studio_prediction_ids.json",),
    "ls_json_with_predictions": ("label_studio_1.23.2.json",),
    "ls_taxonomy_genus_one_species": ("label_studio_genus.json",),
    "megadetector_json": ("megadetector_classified.json",),
    "mixed_candidate_separators": ("g15_mixed_sep.csv",),
    "mturk_taskAnswers": ("mturk_category.csv",),
    "na_in_json_list": ("g15_na_jsonlist.json",),
    "one_row_otherwise": ("null_among_candidates.jsonl", "shares_in_one_row.csv", "slash_in_one_row.csv"),
    "own_export_roundtrip_NA": ("g12_na_csv.csv", "g12_na_jsonl.jsonl", "g12_na_parquet.parquet"),
    "parquet_struct_null_scores": ("g8_struct_scores.parquet",),
    "prolific_long": ("prolific_long.csv",),
    "tags_yes_no_nan": ("tags_nan.csv", "tags_yesno.csv"),
    "timelapse_image_data": ("timelapse_two_species.csv",),
    "typed_parquet": ("typed.parquet",),
    "votes_with_truth_semicolon": ("votes_with_truth_semicolon.csv",),
}  # fmt: skip
"""The reported files, by the folder of the report; each has a right reading or refusal here."""
