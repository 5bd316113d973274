"""Suggestions: a pretrained model's scores weigh the candidates of a project's rows.

A classifier gives a score for each of its labels, such as BirdNET for species of birds; those that are classes of the
project count. A text encoder compares each text with the names of the classes. The scores are stored like a program's
predictions (`workflow.importing.predictions`): one entry of the log; no label changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from plcore import LabelTable
from plcore.arrays import AnyArray, FloatArray, StepProgress, counted, listed
from plcore.tables.encoders import Classifier, Encoder, EncoderError, ModelInputs, describe, read_catalogue
from workflow.access import Right
from workflow.files.stored import path_of
from workflow.importing import encoding
from workflow.importing.encoder_inputs import taking
from workflow.importing.predictions import ScoredRow, add_predictions
from workflow.importing.vector_memory import KeptVectors
from workflow.models.encoders import installed

if TYPE_CHECKING:
    from pathlib import Path

    from workflow.seat import Seat

SHARPNESS = 0.2
"""Distance in cosine at which a class weighs 1/e of the class whose name is nearest to a text."""


@dataclass(frozen=True)
class Suggested:
    """The result of a model's scores.

    rows : scored rows      weighed : rows whose candidates they weigh now
    outside : rows whose best class is not a candidate
    classes : classes of the project that the model knows      unknown : those that it does not know
    notes : sentences about rows left out
    """

    rows: int
    weighed: int
    outside: int
    classes: tuple[str, ...]
    unknown: tuple[str, ...]
    notes: tuple[str, ...]


def suggest(seat: Seat, name: str, *, non_commercial: bool = False, on_step: StepProgress | None = None) -> Suggested:
    """Weigh the candidates of a project by the scores of this model of the data folder.

    It may take long: do not call it in the server's process. Idempotent.

    non_commercial : "I use this for no commercial purpose"
    Raises EncoderError if there is no such model, its licence was not accepted, it fails, or it knows no class of the
    project; else as `workflow.importing.predictions.add_predictions`.
    """
    with seat.learner(Right.OWN) as opened:
        table, classes = opened.learner.table, tuple(map(str, opened.learner.classes))
    if table.roles.label_vectors:
        raise EncoderError(
            "Scores weigh the candidates of one true label; this project asks for each label. Fix: take a project of "
            "candidates."
        )
    entry = read_catalogue().get(name)
    if entry is not None:
        if name not in encoding.names(seat.home, switched_off=True):
            installed.require_download(entry, non_commercial=non_commercial)
        installed.require_licence(entry, non_commercial)
    folder = encoding.folder_of(seat.home, name)
    about = describe(folder)
    if about.kind == "text" and about.classes is None:
        scores, notes, known = _by_names(seat, folder, table, classes, on_step)
    else:
        scores, notes, known = _by_scores(seat, folder, table, classes, on_step)
    rows = np.flatnonzero(np.isfinite(scores).all(axis=1)).tolist()
    sent = [
        ScoredRow(row, None, {one: round(float(score), 6) for one, score in zip(known, scores[row], strict=True)})
        for row in rows
    ]
    stored = add_predictions(seat, sent, name, f"suggest {name}"[:100])
    unknown = tuple(one for one in classes if one not in set(known))
    return Suggested(len(rows), stored.weighed, stored.outside, known, unknown, notes)


Scores = tuple[FloatArray, tuple[str, ...], tuple[str, ...]]
"""(n, k) scores of each row, NaN if it has none; notes; and the k classes of the project."""


def _by_scores(
    seat: Seat, folder: Path, table: LabelTable, classes: Sequence[str], on_step: StepProgress | None
) -> Scores:
    """Return the scores of a classifier, cut to the classes of the project."""
    model = Classifier(folder)
    places = _places(model.labels, classes)
    if not places:
        raise EncoderError(
            f"None of the {counted(len(model.labels), 'label')} of {folder.name}, such as "
            f"{listed(model.labels, 3)}, is a class of the project ({listed(classes, 3)}). Fix: rename the classes as "
            "the model calls them."
        )
    found = model.encode(table, encoding.unopened, on_step, taking(partial(path_of, seat.home.media_dir)))
    return np.asarray(found.values[:, list(places.values())], dtype=np.float64), found.notes, tuple(places)


def _places(labels: Sequence[str], classes: Sequence[str]) -> Mapping[str, int]:
    """Return {class: place of the label that means it}. A label may join several names by _, like those of BirdNET."""
    named: dict[str, int] = {}
    for place, label in enumerate(labels):
        for part in (label, *label.split("_")):
            named.setdefault(_plain(part), place)
    return {one: named[_plain(one)] for one in classes if _plain(one) in named}


def _plain(name: str) -> str:
    return " ".join(name.casefold().replace("_", " ").split())


def _by_names(
    seat: Seat, folder: Path, table: LabelTable, classes: Sequence[str], on_step: StepProgress | None
) -> Scores:
    """Compare the texts with the name of each class."""
    model = Encoder(folder)
    memory = KeptVectors(encoding.vectors_dir(seat.home), model.sha256)
    found = model.encode(table, encoding.unopened, on_step, memory=memory)
    names = np.stack(model.encode_inputs([ModelInputs((_plain(one),)) for one in classes]))
    cosines = _unit(found.values) @ _unit(names).T
    nearest = cosines.max(axis=1, keepdims=True)
    return np.exp((cosines - nearest) / SHARPNESS), found.notes, tuple(classes)


def _unit(vectors: AnyArray) -> FloatArray:
    exact = vectors.astype(np.float64)
    lengths = np.linalg.norm(exact, axis=1, keepdims=True)
    return np.asarray(exact / np.where(lengths == 0, 1.0, lengths))
