"""Shortlists of a language model for a project: the labels of the other rows after some answers, with and without."""

from __future__ import annotations

import tempfile
from collections.abc import Callable

import numpy as np
import pandas as pd

from benchmarks.harness import Rows, benchmark, data_folder, sized
from benchmarks.homes import owner_of
from db import trained
from plcore import LabelTable, LearnerSettings, Roles
from tests.fake_model import FakeModel, labels, serving_model
from tests.workflow.world import exported
from workflow.answering import oracle
from workflow.models.language import suggestions
from workflow.models.language.worker import SuggestionWorker
from workflow.models.training import Worker
from workflow.projects import managing
from workflow.seat import Seat

ROWS = sized(1_000, tiny=150)
SEEDS = sized(3, tiny=1)
ANSWERS = sized((0, 25, 50, 100), tiny=(0, 20))
LISTED, FIRST = 0.85, 0.6
"""Share of rows whose five listed classes hold the true one, and in which it is the first."""
WITHOUT, WITH = "without", "with"


def texts(seed: int) -> pd.DataFrame:
    """Return some rows of banking77, each with all classes as candidates."""
    found = pd.read_csv(data_folder() / "meaning" / "banking77.csv.gz").sample(ROWS, random_state=seed)
    everything = "|".join(sorted(found["label"].unique()))
    found["text"] = found["text"].str.strip()
    return found[["text", "label"]].assign(candidates=everything).reset_index(drop=True)


def model_of(truth: dict[str, str], seed: int) -> Callable[[dict[str, int], str], str]:
    """Return the replies of a model of this quality; its other classes are drawn at random."""

    def reply(numbers: dict[str, int], text: str) -> str:
        rng = np.random.default_rng([seed, *text.encode()])
        others = rng.permutation([name for name in numbers if name not in (truth[text], "none of these")])
        found, drawn = list(others[:5]), rng.random()
        if drawn < LISTED and truth[text] in numbers:
            found.insert(0 if drawn < FIRST else int(rng.integers(1, 5)), truth[text])
        return labels(*zip((numbers[name] for name in found[:5]), (50, 20, 15, 10, 5), strict=False))

    return reply


def run_model(here: Seat, worker: SuggestionWorker, url: str) -> None:
    """Have the rows listed; a second time this calibrates the shares."""
    suggestions.ask(here, suggestions.ModelChoice(url, "m"), None)
    with here.reading() as reading:
        asked = trained.SUGGESTIONS.latest(reading.session, reading.project.id)
    assert asked is not None
    worker.suggest(asked)


def curve(seed: int, kind: str) -> list[float]:
    """Return the share of right labels of the rows without an answer, after each number of answers."""
    frame = texts(seed)
    table = LabelTable.from_frame(frame, Roles(text="text", candidates="candidates", truth="label"))
    settings = LearnerSettings(model="kernelridge", truth_role="hidden", test_share=0.0, seed=seed)
    found = []
    with (
        tempfile.TemporaryDirectory() as folder,
        owner_of(folder) as seat,
        serving_model(FakeModel(model_of(dict(zip(frame["text"], frame["label"], strict=True)), seed))) as model,
    ):
        here = seat.at(managing.create_project(seat, "banking77", table, settings))
        worker = SuggestionWorker(seat.home, "one")
        for before, count in zip((0, *ANSWERS), ANSWERS, strict=False):
            if count > before:
                oracle.answer_for_me(here, count - before)
            if kind == WITH:
                run_model(here, worker, model.url)
            Worker.look(worker)
            out = exported(here.home, here.person_id, here.project_id or 0)
            open_rows = (out["winnow_source"] != "oracle").to_numpy()
            found.append(float((out["winnow_label"] == frame["label"])[open_rows].mean()))
    return found


@benchmark(
    "Shortlists of a language model, then answers", head=["suggestions", *(f"{count} answers" for count in ANSWERS)]
)
def suggested() -> Rows:
    """Share of right labels of rows without an answer, mean of {SEEDS} seeds: {ROWS:,} texts of banking77, with every
    class possible; kernel ridge, its own questions, answers by the true labels. The model is a stand-in of known
    quality: its five classes hold the true one in {LISTED:.0%} of the rows, and it is the first in {FIRST:.0%}. Its
    shares are calibrated by the answers so far. {load}
    """
    for kind in (WITHOUT, WITH):
        yield kind, *np.mean([curve(seed, kind) for seed in range(SEEDS)], axis=0)
