"""docs/library.md: its code runs unchanged, and does what the page says."""

from __future__ import annotations

import contextlib
import re

import numpy as np
import pytest

from plcore import PLKNeighborsClassifier
from plcore.evaluation import candidate_accuracy
from tests.conftest import ROOT
from tests.plcore.tables.encoders.models import encoder, mean_color
from tests.plcore.tables.zips import birds, make_zip

PAGE = (ROOT / "docs" / "library.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """Names that the code of the page defines, and the first model before its refit."""
    found: dict[str, object] = {}
    folder = tmp_path_factory.mktemp("page")
    (folder / "birds.zip").write_bytes(make_zip(birds()))
    encoder(folder / "resnet", {"kind": "image", "size": 4}, mean_color(4))
    with contextlib.chdir(folder):
        return run(found)


def run(found):
    for number, block in enumerate(BLOCKS):
        exec(compile(block, f"docs/library.md, block {number}", "exec"), found)  # noqa: S102
        if not number:
            first = found["model"]
            found["inside"] = first.transduction_.tolist(), first.predict([[3.0, 3.0]]).tolist(), found["y"]
            found["score"] = first.score(found["X"], found["y"]), first.predict(found["X"])
    return found


def test_every_heading_has_code():
    assert len(BLOCKS) == 14
    for section in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]:
        assert "```python" in section, section.splitlines()[0]


def test_first_model_matches_page(names):
    labels, predicted, sets = names["inside"]
    assert all(label in row for label, row in zip(labels, sets, strict=True))
    assert predicted == ["emu"]
    score, said = names["score"]
    assert score == candidate_accuracy(sets, said)


def test_shortlists_match_page(names):
    lists, candidates, truth = (names["lists"], *(names[one][names["others"]] for one in ("candidates", "truth")))
    assert (lists <= candidates).all()
    assert lists.sum() < candidates.sum()
    assert lists[np.arange(len(truth)), truth].mean() > 0.85


def test_cheapest_question_matches_page(names):
    best = names["cheapest_question"](names["questions"])
    assert (best.form, best.about) == ("is", (0,))


def test_answer_is_applied(names):
    model = names["model"]
    assert model.transduction_[4] == "wren"
    assert 4 in names["changed"]


def test_search_and_ensembles_learn(names):
    X, truth, candidates = names["X"], names["truth"], names["candidates"]
    assert names["search"].best_score_ > 0.9
    for name in ("search", "both", "bags", "calibrated"):
        assert names[name].score(X, truth) > 0.9, name
        assert names[name].score(X, candidates) > 0.9, name
    assert names["bags"].oob_score_ > 0.9
    assert 0 < names["calibrated"].temperature_ < 1  # votes are too modest
    plain = PLKNeighborsClassifier().fit(X, candidates).predict_proba(X)
    right = np.arange(len(X)), truth
    assert np.log(names["calibrated"].predict_proba(X)[right]).mean() > np.log(plain[right]).mean()


def test_several_annotators_match_page(names):
    votes, crowd = names["votes"], names["crowd"]
    assert names["majority"](votes).tolist() == ["wren", "emu", "robin"]
    assert crowd.classes_.tolist() == ["emu", "robin", "wren"]
    np.testing.assert_allclose(crowd.label_distributions_.sum(axis=1), 1)
    assert crowd.label_distributions_[[0, 1, 2], [1, 2, 2]].tolist() == [0, 0, 0]
    assert "ben" in crowd.confusion_
    assert names["low"] <= names["alpha"] <= names["high"]
    assert names["gwet_ac1"](votes).reason in PAGE
    assert names["too_fast"]([0.4] * 12, [4.0] * 40).too_fast


def test_every_strategy_asks_its_own_rows(names):
    runs = names["runs"]
    for run in runs.values():
        assert run.answers.tolist() == [0, 5, 10, 15, 20]
        assert run.errors[0] == runs["random"].errors[0]
    # Of two candidates the shares that are most even have the smallest margin.
    np.testing.assert_array_equal(runs["entropy"].rows, runs["margin"].rows)
    assert len({tuple(runs[name].rows) for name in ("margin", "apl", "random")}) == 3
    assert min(runs[name].errors[-1] for name in ("entropy", "margin", "apl")) < runs["random"].errors[0]
    assert len(names["moved"].rows) == 10
    assert len(names["changed_most"].rows) == 2


def test_coverage_matches_page(names):
    cover = names["cover"]
    assert cover.lasts(answered=0)
    assert len(set(cover.next(3).tolist())) == 3


def test_encoder_makes_vector_of_every_image(names):
    assert names["vectors"].shape == (names["table"].n_rows, 3)
    assert np.isfinite(names["vectors"][0]).all()
