"""What the loop needs of a table of label vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from plcore.common.types import AnyArray, Features


class NamedFeatures(Features, Protocol):
    """Features whose columns have names once they are fitted."""

    @property
    def feature_names_(self) -> Sequence[str]: ...


class VectorTable(Protocol):
    """What the learner needs of a `plcore.tables.table.LabelTable` of label vectors."""

    @property
    def label_vectors(self) -> AnyArray | None: ...
    @property
    def classes(self) -> Sequence[str]: ...
    @property
    def ids(self) -> Sequence[str] | AnyArray: ...
    def features(self) -> NamedFeatures: ...


TableT = TypeVar("TableT", bound=VectorTable)
