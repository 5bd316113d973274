"""Types used in annotations throughout plcore: arrays, progress callbacks, and the part of a table that the
learner needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from scipy import sparse

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
AnyArray = NDArray[Any]
FeatureMatrix: TypeAlias = "FloatArray | sparse.csr_matrix"
"""Features (n, d) after validation: a dense array, or CSR."""


class Matrix(Protocol):
    """Features of rows (n, d): a dense array, a DataFrame, or a CSR matrix."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __matmul__(self, other: Any, /) -> Any: ...


MatrixLike: TypeAlias = ArrayLike | Matrix
"""The input that an estimator takes as a matrix: any array-like, a DataFrame, or a sparse matrix."""
LabelsLike: TypeAlias = MatrixLike | Sequence[Collection[Hashable]]
"""The input that an estimator takes as labels or candidates: a vector, a matrix, or for each row a set of class
names."""
RandomState: TypeAlias = int | np.random.RandomState | None
"""A seed, a generator, or None for any seed."""

RoundProgress = Callable[[int, float], object]
"""Called after each round of a fit with (rounds done, current objective). An exception that it raises ends
the fit."""
StepProgress = Callable[[int, int, str], object]
"""Called with (steps done, total steps, name of the next step). An exception that it raises ends the work."""
ShareProgress = Callable[[float], object]
"""Called with the share of the work that is done, in [0, 1], ascending. An exception that it raises ends the
work."""


def untold(_share: float) -> None:
    """A `ShareProgress` that does nothing."""


BOTH, WORDS, MEANING = FEATURE_SETS = ("both", "words", "meaning")
"""Which features of a table models learn from: all; all but an encoder's vectors; or all but the features
that Winnow itself makes of texts, images and sounds. Numbers and categories are always used."""


class FeatureBlock(NamedTuple):
    """Columns of features that describe a row together, such as an embedding or the words of a text.

    one_scale : whether the relative scales of its columns matter, as for words and vectors: then all columns
        are divided by the same number. Otherwise each column is scaled by itself
    """

    columns: slice
    one_scale: bool = True


class Features(Protocol):
    """Transformer from table rows to numbers, fitted on training rows only. blocks_ : its feature blocks, set
    by `fit`"""

    @property
    def blocks_(self) -> Sequence[FeatureBlock]: ...
    def fit(self, table: Any, rows: Any) -> Any: ...
    def transform(self, table: Any, rows: Any) -> Any: ...


class Table(Protocol):
    """The part of a `plcore.tables.table.LabelTable` that the learner needs."""

    @property
    def candidates(self) -> BoolArray: ...
    @property
    def classes(self) -> Sequence[str]: ...
    @property
    def truth(self) -> IntArray | None: ...
    @property
    def candidate_weights(self) -> FloatArray | None: ...
    def features(self, use: str = BOTH) -> Features: ...


def is_sparse(X: object) -> TypeGuard[sparse.csr_matrix]:
    """Return whether features are sparse, in a form that type checkers follow."""
    from scipy import sparse  # skipped for plain arrays, so that the command line starts in half the time

    return bool(sparse.issparse(X))


# One seed for all random draws of a fit.


def draw_seed(random_state: RandomState) -> int:
    """Return a seed for a parameter `random_state`: the same for the same int, the next draw of a
    RandomState, or a random one for None."""
    from sklearn.utils import check_random_state  # the import takes a second, and only fits need it

    return int(check_random_state(random_state).randint(2**31 - 1))
