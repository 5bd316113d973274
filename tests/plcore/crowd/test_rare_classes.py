"""The anaesthetists of Dawid and Skene (1979): five grade 45 patients, the first of them three times."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from plcore.crowd import DawidSkene

VOTES = [
    (row, person, int(grade))
    for row, line in enumerate(Path(__file__).with_name("anaesthetists.txt").read_text().splitlines())
    for person, grade in enumerate(line.replace(" ", ""))
]


def test_without_a_prior_it_is_the_published_answer():
    model = DawidSkene(prior_strength=0, max_iter=1000).fit(VOTES)
    np.testing.assert_allclose(model.class_masses_, [0.422, 0.401, 0.111, 0.067], atol=6e-4)


def test_the_prior_keeps_the_rare_class():
    plain, model = DawidSkene(prior_strength=0, max_iter=1000).fit(VOTES), DawidSkene().fit(VOTES)
    assert model.class_masses_[3] > 0.045, "it was .027"
    changed = plain.label_distributions_.argmax(axis=1) != model.label_distributions_.argmax(axis=1)
    assert changed.sum() <= 3, "there were 4"


def test_a_person_who_is_right_everywhere_is_believed_on_a_class_hardly_seen():
    """Two in a hundred rows are of class 2, which both people always name."""
    truth = [0] * 49 + [1] * 49 + [2] * 2
    model = DawidSkene().fit([(row, who, one) for row, one in enumerate(truth) for who in "ab"])
    assert model.label_distributions_.argmax(axis=1).tolist() == truth
    assert model.confusion_["a"][2, 2] > 0.9
