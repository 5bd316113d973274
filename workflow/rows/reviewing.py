"""Review: find answered rows, look at one with all that was said about it, and correct it.

No entry is changed: a correction is an answer of the reviewer's, with a token of its own, and the learner follows it as
any other.
"""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from db import answers, members
from plcore import AnswerError as AnswerError
from plcore.evaluation import Precision as Precision
from plcore.evaluation import ScoredCandidates, precision_above, precision_by_label, precision_by_score
from plcore.loop import Learner, Place
from workflow.access import NotAllowed, Right
from workflow.answering.asked import NOTE_LENGTH as NOTE_LENGTH
from workflow.answering.asked import Given, Saved, checked_note
from workflow.answering.history import SAYS_SOMETHING, stored_by
from workflow.answering.loop import ask_next
from workflow.answering.turn import StaleQuestion as StaleQuestion
from workflow.opened import Opened
from workflow.rows.finding import PAGE, FoundAnswer, may_correct
from workflow.rows.finding import HistoryLine as HistoryLine
from workflow.rows.finding import ReviewList as ReviewList
from workflow.rows.finding import Search as Search
from workflow.rows.finding import SearchOptions as SearchOptions
from workflow.saving import NotSaved as NotSaved
from workflow.seat import Seat

# Page texts about the scores that came with a table: the precision above a score, by label.

BINS = 10


@dataclass(frozen=True)
class ScoreLine:
    """The candidates of one label whose score is at least the threshold.

    seen : precision among all rows that people have checked; strategies choose uncertain rows, so it is biased
        downwards
    drawn : precision among rows drawn at random only, which represent all
    """

    label: str
    seen: Precision
    drawn: Precision


@dataclass(frozen=True)
class ScoreReview:
    """highest : of all scores      total : of all labels together      lines : most candidates first
    edges : (BINS + 1,) scores that part `bins` of the label asked about, or of all"""

    highest: float
    total: ScoreLine
    lines: tuple[ScoreLine, ...]
    edges: tuple[float, ...]
    bins: tuple[Precision, ...]


def review_scores(
    found: ScoredCandidates, classes: Sequence[str], threshold: float, label: str | None = None
) -> ScoreReview:
    """Return the review of these scores. label : the label for the bins, None: all. Raises ValueError for a label that
    is not a class."""
    at = found.drawn
    by_draw = ScoredCandidates(found.rows[at], found.labels[at], found.scores[at], found.verdicts[at], found.drawn[at])

    apart = zip(classes, *(precision_by_label(one, threshold, len(classes)) for one in (found, by_draw)), strict=True)
    lines = sorted((ScoreLine(*one) for one in apart if one[1].scored), key=lambda one: -one.seen.scored)
    total = ScoreLine("", *(precision_above(one, threshold) for one in (found, by_draw)))
    highest = float(found.scores.max(initial=0.0)) or 1.0
    edges = np.linspace(0.0, highest, BINS + 1)
    place = None if label is None else list(classes).index(label)
    bins = precision_by_score(found, edges, place)
    return ScoreReview(highest, total, tuple(lines), tuple(edges.tolist()), tuple(bins))


def unseen_rows(found: ScoredCandidates, threshold: float, place: int) -> list[int]:
    """Return the undecided rows whose candidate of this class has at least this score, without blind checks, which no
    one may choose."""
    chosen = (found.scores >= threshold) & (found.labels == place) & (found.verdicts < 0) & ~found.drawn
    return [int(row) for row in found.rows[chosen]]


_TRIES = 20
AT_ONCE = 5_000
"""Number of answers read at once for a file."""


def options(seat: Seat) -> SearchOptions:
    """Return the available search options."""
    with seat.learner(Right.ANSWER) as opened:
        classes = tuple(opened.learner.classes)
        table = opened.learner.table
        scored, scored_by = table.candidate_weights is not None, table.roles.scored_by
    with seat.reading(Right.ANSWER) as reading:
        session, project_id, whose = reading.session, reading.project.id, reading.whose
        return SearchOptions(
            classes=classes,
            people=tuple((one.id, one.name) for one in members.concerned(session, project_id, SAYS_SOMETHING))
            if whose is None
            else (),
            everybody=whose is None,
            anything=answers.any_answer(session, project_id, SAYS_SOMETHING, whose),
            scored=scored and whose is None,
            scored_by=scored_by,
        )


def find(seat: Seat, search: Search, page: int = 0) -> ReviewList:
    """Return the matching answers, newest first; annotators find only their own. page : from 0"""
    with seat.reading(Right.ANSWER):
        pass  # the kind asks for no right but to see the project
    return seat.kind.find_answers(seat, search, page, PAGE)


def count_listed(seat: Seat) -> int:
    """Count the answers that `find` lists for a search of everything."""
    with seat.reading(Right.ANSWER):
        pass  # as in `find`
    return seat.kind.count_answers(seat)


def answers_csv(seat: Seat, search: Search) -> bytes:
    """Return the answers that `find` lists on all of its pages, as CSV with one line each; times in UTC."""
    with seat.reading(Right.ANSWER):
        pass  # as in `find`
    text = io.StringIO()
    writer = csv.writer(text)  # lines end in CR LF, so any line break in a cell is quoted
    writer.writerow(
        ("row", "row_id", "answer", "labels", "model_prediction", "annotator", "answered", "flagged", "note")
    )
    for page in itertools.count():
        found = seat.kind.find_answers(seat, search, page, AT_ONCE)
        if found.page == page:  # else there are fewer by now
            writer.writerows(_csv_line(one) for one in found.rows)
        if (page + 1) * AT_ONCE >= found.total:
            break
    return text.getvalue().encode()


def _csv_line(one: FoundAnswer) -> Sequence[object]:
    answer = one.row + 1, one.row_id, one.kind, "|".join(one.labels), one.predicted or ""
    return *answer, one.person, one.at.isoformat(), int(one.flagged), one.note or ""


def open_row(seat: Seat, row: int) -> object:
    """Return the row and its whole history, as the project's kind reviews it (`reviewing` in its folder). Annotators
    see only rows they have answered, and only their own part of the history.

    Raises NotFound if there is no such row, or the person may not see it.
    """
    with seat.learner(Right.ANSWER) as opened:
        return opened.kind.open_row(opened, row)


def scores(seat: Seat, threshold: float, label: str | None = None) -> ScoreReview | None:
    """Return the precision of the table's scores for candidates from this score on; None if it has none.

    label : label for the shares by score, None: all

    Raises ValueError for a label that is not a class; NotAllowed unless the person may review; NotFound.
    """
    with seat.learner(Right.REVIEW) as opened:
        found, classes = _scores_given(opened), opened.learner.classes
    return None if found is None else review_scores(found, classes, threshold, label)


def _scores_given(opened: Opened[Learner]) -> ScoredCandidates | None:
    """Return every scored candidate with people's verdict; None if the table has no scores."""
    scores = opened.kind.SCORES
    return None if scores is None else scores(opened.learner)


def ask_scored(seat: Seat, threshold: float, label: str) -> object:
    """Ask this person about a row drawn from those undecided whose score for the label is at least the threshold.

    Raises AnswerError where none is free; as `workflow.answering.loop.ask_next` and `scores`.
    """
    with seat.learner(Right.REVIEW) as opened:
        found, classes = _scores_given(opened), list(opened.learner.classes)
    if found is None:
        raise AnswerError("The table of this project came without scores. Fix: choose a row on the Queue page.")
    rows = unseen_rows(found, threshold, classes.index(label))
    random.shuffle(rows)
    for row in rows[:_TRIES]:
        with contextlib.suppress(AnswerError):  # it is on the screen of someone else, or has one candidate
            return ask_next(seat, row)
    raise AnswerError(f"No row with {label} at or above this score is left to ask about. Fix: choose a lower score.")


def correct(
    seat: Seat,
    row: int,
    token: str,
    kind: str,
    labels: Sequence[str] = (),
    *,
    changes: Mapping[str, int] | None = None,
    shown: str | None = None,
    note: str | None = None,
    flagged: bool = False,
) -> Saved:
    """Answer a row again, exactly once. Allowed for reviewers, and for annotators who have answered something of the
    row.

    token, shown : of the row as it was opened      kind, labels, changes : see `correcting` in the project's kind
    A token that was used returns the earlier entry with ``repeated`` set; nothing is stored.

    Raises
    StaleQuestion : This person has answered the row again since it was opened, or its labels have changed. Nothing is
        stored.
    AnswerError : The answer does not fit the row, or the note is too long. Nothing is stored.
    """
    given = Given(kind, tuple(labels), checked_note(note), flagged, shown)
    place = Place(row)
    with seat.turn() as turn:
        log = answers.of_row(turn.session, turn.project_id, row)
        if token != turn.token(place, turn.revision(place)):
            earlier = stored_by(turn.session, turn.project_id, token)
            if earlier is None or (earlier.person_id, earlier.row) != (turn.person_id, row):
                raise StaleQuestion("This row was answered again since you opened it. Fix: open it again.")
            return turn.saved(earlier, repeated=True)
        if not may_correct(log, turn.opened.whose):
            raise NotAllowed("Only reviewers, the owner, and people who have answered a row may correct it.")
        stored = turn.correct(row, token, given, changes or {}, log)
        open_now = turn.open_now()
        if open_now is not None and open_now.row == row:
            turn.close_question()  # it is answered by this
        return turn.saved(stored)
