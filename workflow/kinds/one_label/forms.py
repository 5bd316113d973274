"""How a question about a row is put: as "which of these?", or in yes and no where that gains more for its seconds.

A form must not tell that a row is a blind check. It cannot: it follows from what the screen shows of any row, its
candidates with their shares, and from the token of the showing, the person and the project. Whether the row is a check
is no argument of `form_of`, and shares that a model says of a check are those of a row that it has not learnt. For the
same reason gain is measured by the entropy of these shares, whatever strategy chose the row: what an answer could
change is known of rows that train alone.
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
"""Answers of a project from which on forms are chosen: by then models and seconds tell something."""

DRAWN_SHARE = 0.05
"""For the questions, whose form comes by chance."""

FIRST_AS_USUAL = 20
"""Entries of a person at a project before anything but "which" is put to them: they are getting to know the card, and
their seconds tell of that."""

LEAST_DOUBT = 0.02
"""For every model: shared out evenly among the candidates. Neighbours that agree make shares of 0 and 1."""

FEWEST_CHECKS, MOST_CHECKS = 30, 500
"""Blind checks from which on shares are calibrated, and the most of them that are looked at."""

LATEST = 2_000
"""Answers that seconds are learnt from."""

ANEW_AFTER, ANEW_SHARE = 25, 0.1
"""Entries after which seconds and temperature are learnt again: so many, or this share of the answers that they were
learnt from where that is more. Who answers next waits for it, and to two thousand answers twenty-five more say nothing
new."""


@dataclass(frozen=True)
class Prices:
    """Cost of questions, and calibration of the model. temperature : of the logarithms of the shares

    seq : of the last entry that was learnt from
    """

    seconds: SecondsModel = field(default_factory=SecondsModel)
    temperature: float = 1.0
    seq: int = 0


# Next to each learner while it is in memory; read and written only while it is open, that is by one thread at a time.
_prices: WeakKeyDictionary[ActiveLearner[LabelTable], Prices] = WeakKeyDictionary()


def prices_of(learner: ActiveLearner[LabelTable]) -> Prices:
    """The latest result last; before anything was, what is assumed. Nothing is learnt here: someone waits."""
    return _prices.get(learner) or Prices()


def learn_prices(opened: Opened[ActiveLearner[LabelTable]]) -> None:
    """Learn prices again if they are old, while no one waits."""
    learner, last = opened.learner, prices_of(opened.learner)
    if learner in _prices and learner.seq - last.seq < max(ANEW_AFTER, ANEW_SHARE * last.seconds.n_used_):
        return
    spent = answers.timed(
        opened.session, opened.project_id, opened.kind.ANSWERS, LATEST, without_note=SIMULATED
    )
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
    """How this question is put to this person; the same token always gives the same, as long as prices and shares do.

    groups_of : gives the groups of the candidates, each with those that it holds: some, not all; not asked for in vain
    n_first : how many choices a list shows first, by the shares as well
    """
    n = len(asked.choices)
    drawn = room.drawn_forms and _chance(learner, token, "drawn") < DRAWN_SHARE
    chosen = room.forms == "cheapest" and learner.pool.answers >= FROM_ANSWERS
    known = learner.pool.standings.count(str(person_id)) >= FIRST_AS_USUAL
    if n < 2 or not known or not (drawn or chosen):
        return AskedAs(QuestionForm.WHICH, choices=n)
    prices = prices_of(learner)
    # Where people answer for themselves, "it is one of these" is the last that they say of a row.
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
    """How a question that is on the screen of a person continues being put, whatever prices and shares become: as it
    was, but for
    what others have ruled out meanwhile."""
    if how.form != QuestionForm.WHICH and set(how.about) < set(choices):
        return how
    return AskedAs(QuestionForm.WHICH, drawn=how.drawn, choices=len(choices))


def _temperature(learner: ActiveLearner[LabelTable]) -> float:
    """By the blind checks that have one label; 1 while these are few, or tell of no other row. The shares are those
    of the current model, which has not learnt from them."""
    pool = learner.pool
    checks = known_checks(pool)
    rows = checks.rows[checks.truth >= 0]
    if len(rows) < FEWEST_CHECKS or weighs_own(pool):
        return 1.0
    rows = rows[np.argsort(-pool.changed_at[rows], kind="stable")[:MOST_CHECKS]]
    inside, truth = pool.first[rows], pool.candidates[rows]
    shares = learner.shares_of(rows, inside)
    # With a thousand classes, a row has a few: the others would only cost time.
    first = np.argsort(~inside, axis=1, kind="stable")[:, : inside.sum(axis=1).max()]
    inside, truth = np.take_along_axis(inside, first, axis=1), np.take_along_axis(truth, first, axis=1)
    scores = log_shares(np.take_along_axis(shares, first, axis=1), inside, LEAST_DOUBT)
    return fit_temperature(scores, truth, smoothed=True)


def _chance(learner: ActiveLearner[LabelTable], token: str, what: str) -> float:
    """A number in [0, 1) that the project's seed and the token draw, another for each purpose."""
    drawn = hashlib.blake2s(f"{learner.settings.seed} {what} {token}".encode(), digest_size=8).digest()
    return int.from_bytes(drawn) / 2**64


FORMS = forms_now
