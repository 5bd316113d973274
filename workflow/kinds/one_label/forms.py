"""How a question about a row is put: as "which of these?", or as yes or no if that gains more per second.

The form must not reveal that a row is a blind check. It cannot, because it depends only on what the screen shows of any
row (its candidates with their shares) and on the question's token, the person and the project. `form_of` does not know
whether the row is a check, and the shares of a check are those of a row that the model was not trained on. For the same
reason, gain is the entropy of these shares, whatever strategy chose the row: effect scores exist only for training
rows.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from db import answers
from plcore.labels import fit_temperature, log_shares, tempered
from plcore.loop.one_label import known_checks, weighs_own
from plcore.query import SecondsModel, cheapest_question, row_questions
from workflow.answering.asked import AskedAs, FormsNow, QuestionForm
from workflow.projects.figures import SIMULATED

if TYPE_CHECKING:
    from collections.abc import Callable

    from plcore import ActiveLearner, LabelTable, Question
    from workflow.answering.room_settings import Groups, RoomSettings
    from workflow.opened import Opened

FROM_ANSWERS = 200
"""Answers of a project before forms are chosen: by then predictions and answer times are informative."""

DRAWN_SHARE = 0.05
"""Share of the questions whose form is drawn at random."""

FIRST_AS_USUAL = 20
"""A person's entries at a project that are all asked as "which?": they are still getting to know the card, so their
answer times mean little."""

LEAST_DOUBT = 0.02
"""Doubt added to every model, spread evenly over the candidates. Neighbours that agree give shares of 0 and 1."""

FEWEST_CHECKS, MOST_CHECKS = 30, 500
"""Blind checks needed to calibrate shares, and the most of them that are used."""

LATEST = 2_000
"""The latest answers that answer times are learnt from."""

ANEW_AFTER, ANEW_SHARE = 25, 0.1
"""Entries until answer times and temperature are learnt again: this many, or this share of the answers they were
learnt from, if that is more. The next annotator waits for it, and after two thousand answers, twenty-five more change
nothing."""


@dataclass(frozen=True)
class Prices:
    """Answer times of questions, and calibration of the model. temperature : of the logarithms of the shares

    seq : of the last entry they were learnt from
    """

    seconds: SecondsModel = field(default_factory=SecondsModel)
    temperature: float = 1.0
    seq: int = 0


# One per learner in memory; used only while it is open, by one thread at a time.
_prices: WeakKeyDictionary[ActiveLearner[LabelTable], Prices] = WeakKeyDictionary()


def prices_of(learner: ActiveLearner[LabelTable]) -> Prices:
    """Return the latest prices, or the assumed ones before the first. Learns nothing, because someone waits."""
    return _prices.get(learner) or Prices()


def learn_prices(opened: Opened[ActiveLearner[LabelTable]]) -> None:
    """Learn prices again if they are old, while no one waits."""
    learner, last = opened.learner, prices_of(opened.learner)
    if learner in _prices and learner.seq - last.seq < max(ANEW_AFTER, ANEW_SHARE * last.seconds.n_used_):
        return
    spent = answers.timed(opened.session, opened.project_id, opened.kind.ANSWERS, LATEST, without_note=SIMULATED)
    put = [AskedAs.from_json(one.asked) if one.asked else AskedAs(QuestionForm.WHICH) for one in spent]
    alone = [(one, how) for one, how in zip(spent, put, strict=True) if how.batch is None]
    seconds = SecondsModel().fit(
        [one.seconds for one, _ in alone],
        [one.person_id for one, _ in alone],
        [how.form for _, how in alone],
        [max(1, how.choices or one.choices) for one, how in alone],
    )
    _prices[learner] = Prices(seconds, _temperature(learner), learner.seq)


def forms_now(opened: Opened[ActiveLearner[LabelTable]]) -> FormsNow:
    """See `workflow.answering.room.forms_of`."""
    learn_prices(opened)
    seconds = prices_of(opened.learner).seconds
    which, yes_no = seconds.expected(None, ["which", "is"], [4, 1]).tolist()
    return FormsNow(opened.learner.pool.answers, FROM_ANSWERS, seconds.n_used_, which, yes_no)


def form_of(
    learner: ActiveLearner[LabelTable],
    room: RoomSettings,
    person_id: int,
    token: str,
    asked: Question,
    groups_of: Callable[[], Groups],
    n_first: int,
) -> AskedAs:
    """Choose how this question is put to this person. The same token gives the same form as long as prices and shares
    are the same.

    groups_of : returns the groups of the candidates, each with its candidates (some, not all); called only if needed
    n_first : how many choices a list shows first, by their shares
    """
    n = len(asked.choices)
    drawn = room.drawn_forms and _chance(learner, token, "drawn") < DRAWN_SHARE
    chosen = room.forms == "cheapest" and learner.pool.answers >= FROM_ANSWERS
    known = learner.pool.standings.count(str(person_id)) >= FIRST_AS_USUAL
    if n < 2 or not known or not (drawn or chosen):
        return AskedAs(QuestionForm.WHICH, choices=n)
    prices = prices_of(learner)
    # With independent answers, "it is one of these" ends a person's answers about a row.
    named = () if learner.settings.several else groups_of().values()
    here = np.ones(n, dtype=bool)
    questions = row_questions(
        here,
        tempered(np.array([asked.probabilities]), here[None], LEAST_DOUBT, prices.temperature)[0],
        lambda forms, shown: prices.seconds.expected(person_id, forms, shown),
        groups=np.array([[one in members for one in asked.choices] for members in named]).reshape(-1, n),
        criterion="entropy",
        n_likeliest=1,
        n_first=n_first,
    )
    if drawn:
        forms = sorted({one.form for one in questions})
        form = forms[int(_chance(learner, token, "form") * len(forms))]
        questions = [one for one in questions if one.form == form]
    best = cheapest_question(questions)
    about = tuple(asked.choices[place] for place in best.about)
    return AskedAs(QuestionForm(best.form), about, drawn, choices=best.shown if about else n)


def kept(how: AskedAs, choices: tuple[str, ...]) -> AskedAs:
    """Keep the form of a question that is on someone's screen, whatever prices and shares become, except for candidates
    that others have ruled out meanwhile."""
    if how.form != QuestionForm.WHICH and set(how.about) < set(choices):
        return how
    return AskedAs(QuestionForm.WHICH, drawn=how.drawn, choices=len(choices))


def _temperature(learner: ActiveLearner[LabelTable]) -> float:
    """Return the temperature by the blind checks with one label; 1 while these are few or not representative. Uses the
    shares of the current model, which was not trained on them."""
    pool = learner.pool
    checks = known_checks(pool)
    rows = checks.rows[checks.truth >= 0]
    if len(rows) < FEWEST_CHECKS or weighs_own(pool):
        return 1.0
    rows = rows[np.argsort(-pool.changed_at[rows], kind="stable")[:MOST_CHECKS]]
    inside, truth = pool.first[rows], pool.candidates[rows]
    shares = learner.shares_of(rows, inside)
    # Of a thousand classes, a row has a few candidates: the others would only cost time.
    first = np.argsort(~inside, axis=1, kind="stable")[:, : inside.sum(axis=1).max()]
    inside, truth = np.take_along_axis(inside, first, axis=1), np.take_along_axis(truth, first, axis=1)
    scores = log_shares(np.take_along_axis(shares, first, axis=1), inside, LEAST_DOUBT)
    return fit_temperature(scores, truth, smoothed=True)


def _chance(learner: ActiveLearner[LabelTable], token: str, what: str) -> float:
    """Return a number in [0, 1) drawn by the project's seed and the token, a different one for each purpose."""
    drawn = hashlib.blake2s(f"{learner.settings.seed} {what} {token}".encode(), digest_size=8).digest()
    return int.from_bytes(drawn) / 2**64


FORMS = forms_now
