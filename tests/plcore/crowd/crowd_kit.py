"""Results of crowd-kit 1.4.2 for some votes, stored in crowd_kit_answers.txt: crowd-kit itself wants transformers.

Made by, with what requirements-dev.txt pins:
pip install --no-deps crowd-kit==1.4.2 && python -m tests.plcore.crowd.crowd_kit
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

ANSWERS = Path(__file__).with_name("crowd_kit_answers.txt")
ROUNDS = 6
ROWS, PEOPLE, CLASSES = 40, 5, 4


def some_votes():
    """(row, annotator, class): three people's votes on every row, 70% of them correct."""
    rng = np.random.default_rng(15)
    truth = rng.integers(CLASSES, size=ROWS)
    return [
        (row, int(who), int(truth[row] if rng.random() < 0.7 else rng.integers(CLASSES)))
        for row in range(ROWS)
        for who in rng.permutation(PEOPLE)[:3]
    ]


def main():
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    model = DawidSkene(n_iter=ROUNDS, tol=-1.0)
    found = model.fit_predict_proba(pd.DataFrame(some_votes(), columns=["task", "worker", "label"]))
    np.savetxt(ANSWERS, found.loc[range(ROWS), range(CLASSES)].to_numpy(), fmt="%.12f")


if __name__ == "__main__":
    main()
