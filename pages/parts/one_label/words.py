"""What pages say of projects with one true label among candidates."""

from __future__ import annotations

from pages.parts.answered_rows import ReviewWords
from pages.parts.export_words import ExportWords
from pages.parts.map_words import MapWords
from pages.parts.stop_panel import StopWords

EXPORT = ExportWords(
    "Rows",
    {
        "given": "the file had one candidate",
        "oracle": "a person answered",
        "verdict": "a reviewer settled a dispute",
        "necessary": "every way to resolve the open rows gives this label",
        "model": "the model's best guess among the candidates left",
        "truth": "the file's true-label column",
        "open": "several candidates are left, and there is no model yet",
        "bad": "a person took it out as a bad item",
    },
    "Every original column keeps its text exactly. Added for each row: its candidates before and after, the label, "
    "where it comes from, how sure it is, who answered and when.",
    {"all": "Every row", "sure": "Rows that are sure", "answered": "Rows that people answered"},
    "Rows that a person, the file or a proof decides are always among them; bad items and rows without a label never "
    "are.",
    {
        "all": "The table has no rows.",
        "sure": "No row is that sure. Lower the probability, or take every row.",
        "answered": "Nobody has answered a row yet. Answer some, or take every row.",
    },
)

STOP = StopWords(
    "Predictions settled",
    "Share of the predictions that no further answer can change. 100 % asks for the proof.",
    "Accuracy on held-out rows, or by answers to blind checks where there are none, has stopped moving.",
    "Accuracy moves by at most (points)",
    "over the latest (answers)",
    "Answers in all",
)

REVIEW = ReviewWords(
    kinds={
        "is": "is one label",
        "among": "is one of several",
        "not": "is not a label",
        "none": "is none of its candidates",
        "bad": "is a bad item",
        "unsure": "cannot tell",
        "verdict": "is settled by a verdict",
    },
    unit=("answered row", "answered rows"),
)

MAP = MapWords(
    labels="candidates",
    nothing="",
    about="Open rows can still be asked about; answered, given and held-out rows have one label; bad items are set "
    "aside.",
)
