"""What pages say of projects of label vectors."""

from __future__ import annotations

from pages.parts.answered_rows import ReviewWords
from pages.parts.export_words import ExportWords
from pages.parts.map_words import MapWords
from pages.parts.stop_panel import StopWords
from pages.parts.words import percent
from workflow.kinds.label_vectors.progress import Predictor

EXPORT = ExportWords(
    "Cells",
    {
        "given": "known in the file",
        "oracle": "a person answered",
        "model": "not asked: the cell stays empty, what the model says and its probability stand beside it",
        "truth": "a held-out row of the file",
        "bad": "taken out as a bad item",
    },
    "1 is yes, 0 is no, an empty cell was not asked: it is never written as 0. Added for each label: "
    "winnow_probability, winnow_predicted and winnow_source.",
    {"all": "Every row", "sure": "Rows with every label sure", "answered": "Rows that people answered"},
    "Labels that a person or the file decides are always sure. Of the others the model must say yes, or no, with this "
    "probability. Bad items are never among these rows.",
    {
        "all": "The table has no rows.",
        "sure": "In no row is every label that sure. Lower the probability, or take every row.",
        "answered": "Nobody has answered a label yet. Answer some, or take every row.",
    },
)

STOP = StopWords(
    "Labels known or sure",
    "A label that was empty in the file counts one bit, then the model's own doubt about it, and nothing once it is "
    "answered: the share of the bits that is gone. 100 % waits until nothing is open.",
    "Micro F1 on held-out rows, or F1 by answers to blind checks where there are none, has stopped moving. The more "
    "labels the table has, the more answers it should look at.",
    "F1 moves by at most (points)",
    "over the latest (labels answered)",
    "Labels answered in all",
)

REVIEW = ReviewWords(
    kinds={
        "yes": "a label is right",
        "no": "a label is not right",
        "bad": "is a bad item",
        "unsure": "cannot tell",
    },
    unit=("answer", "answers"),
)

MAP = MapWords(
    labels="right",
    nothing="no label known to be right",
    about="Of open rows some label can still be asked about; of answered, given and held-out rows all labels are "
    "known; bad items are set aside.",
)

PREDICTS = (
    "Micro F1 is high where what is said to be yes is yes, and what is yes is said to be: all labels counted together, "
    "100 % is without a fault. The standard error is by how much chance moves such a difference."
)


def predicts(one: Predictor) -> str:
    """Which model predicts, since when, why, and above which probability it says yes. Markdown."""
    since = (
        f"From answer {one.since:,} on **{one.title}** predicts" if one.since else f"**{one.title}** predicts"
    )
    if not one.automatic:
        why = "as Project settings have it."
    elif one.f1 is None or one.other_f1 is None or one.error is None:
        why = f"for too few known cells are yes to compare it with {one.other}."
    else:
        lead = 100 * (one.f1 - one.other_f1)
        how = f"{lead:.1f} points ahead" if lead > 0 else "behind by no more than chance"
        why = (
            f"micro F1 {percent(one.f1, 1)} on known cells that it was not shown, "
            f"{one.other} {percent(one.other_f1, 1)}: {how} (standard error {100 * one.error:.1f})."
        )
    return f"{since}, {why} It says yes above a probability of {percent(one.threshold)}."
