"""LabelTable: a table of rows with candidate labels, validated on creation and immutable afterwards.

The original text of every cell is kept exactly, next to the values parsed from it. See
`plcore.tables.roles.roles` for what the columns mean, `plcore.tables.text.csv` for CSV and
`plcore.tables.storing` for the stored file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from plcore.arrays import let_go
from plcore.arrays.candidate_sets import read_only
from plcore.arrays.types import BOTH
from plcore.tables.candidates import Candidates, check_class_names, parse_candidates, parse_truth, parse_vectors
from plcore.tables.columns import Finder, check_ids, first_rows, parse_ids, parse_numbers
from plcore.tables.features.embeddings import ColumnVectors, Vectors, parse_embeddings
from plcore.tables.features.matrix import FeatureTransformer, has_choice
from plcore.tables.media.cells import Media, parse_media
from plcore.tables.media.files import MediaFiles
from plcore.tables.problems import refusal, table_error
from plcore.tables.roles.hints import hint_at_labels
from plcore.tables.roles.named_votes import NamedVotes
from plcore.tables.roles.roles import Roles, role_problems
from plcore.tables.roles.suggestion import suggest_roles
from plcore.tables.storing import TableParts, Written, copy_written, read_beside, read_parts, write_parts
from plcore.tables.text.arrow import has_sign, to_csv_bytes
from plcore.tables.text.csv import name_problems, read_cells
from plcore.tables.text.frames import frame_as_text
from plcore.tables.text.types import types_of, types_of_frame, with_types


@dataclass(frozen=True, eq=False)
class LabelTable:
    """Rows with candidate labels, n of them, m classes, p number columns. All arrays are read-only.

    Build one with `read_csv`, `from_frame`, `from_cells` or `read`; these check everything and raise
    `TableError` with all problems found (at most 50), so an existing table is always valid.

    Attributes
    ----------
    cells : DataFrame of str, every column of the source, text untouched, rows 0..n-1; a copy, cheap (no cell is
        copied), that the caller may change.
    roles : the roles of the columns.
    ids : (n,) str objects; the row numbers from 1 if no id column was chosen. Built on first access; for
        single ids use `id_of`.
    numbers : (n, p) float64 in the order of `roles.numbers`; NaN if the cell is empty.
    candidates : (n, m) bool, True = may be the label; every row has at least one True. If many rows have many
        classes, `plcore.arrays.candidate_sets.CandidateSets` in its place. Of label vectors: all but a known no.
    classes : the m label names, in column order for 0/1 columns, else sorted (integers as numbers).
    truth : (n,) int64, the class number or -1 if unknown; None if no truth column was chosen.
        A known truth is always among the row's candidates.
    encoded : the output of encoders on columns of the table, at most one for each column.
    label_vectors : (n, m) int8, 1 yes, 0 no, -1 not asked, where the roles say so; None for candidates.
    media : the images and recordings that rows name, and features of the images.
    embeddings : (n, d) float32, the column with this role; NaN for an empty cell. CSR if the source was
        sparse. None without such a column.
    candidate_weights : (n, m) float64, the weight of each candidate, above 0; 0 for non-candidates. For
        annotators' columns it is the number of annotators who named it. None if all candidates of a row weigh
        the same.
    votes : which annotator named which label before the import; None if the source does not say.
    written : the file that this process has just written the table into, so that storing the table only
        copies it.
    """

    _cells: pd.DataFrame
    roles: Roles
    numbers: npt.NDArray[np.float64]
    candidates: npt.NDArray[np.bool_]
    classes: tuple[str, ...]
    truth: npt.NDArray[np.int64] | None
    media: Media
    candidate_weights: npt.NDArray[np.float64] | None = None
    embeddings: Vectors | None = None
    label_vectors: npt.NDArray[np.int8] | None = None
    votes: NamedVotes | None = None
    written: Written | None = None
    encoded: tuple[ColumnVectors, ...] = ()

    def __post_init__(self) -> None:
        read_only(self.candidates)
        checked = (self.numbers, self.truth)
        vectors = self.embeddings
        if vectors is not None and sp.issparse(vectors):
            vectors = vectors.data
        for array in (*checked, self.candidate_weights, vectors, self.label_vectors):
            if array is not None:
                array.flags.writeable = False

    @property
    def cells(self) -> pd.DataFrame:
        return self._cells.copy(deep=False)

    @property
    def text_columns(self) -> tuple[str, ...]:
        """`roles.text_columns` in the order of the file."""
        chosen = self.roles.text_columns
        return chosen if len(chosen) < 2 else tuple(str(name) for name in self._cells.columns if name in chosen)

    def cells_of(self, row: int, names: Sequence[str]) -> tuple[str, ...]:
        """Return the cells of these columns in one row, without building a DataFrame."""
        return tuple(self._columns[name][row].as_py() for name in names)

    @cached_property
    def _columns(self) -> dict[str, pa.Array]:
        """Return the columns as they are in memory, without a copy."""
        return {str(name): pa.array(column) for name, column in self._cells.items()}

    @cached_property
    def ids(self) -> npt.NDArray[np.object_]:
        ids = parse_ids(self._cells, self.roles.id, Finder(None))
        ids.flags.writeable = False
        return ids

    def id_of(self, row: int) -> str:
        """Return the id of one row, without building all ids."""
        if self.roles.id is None:
            return str(range(1, self.n_rows + 1)[row])
        # Python and Arrow trim alike, but Arrow takes ten times as long for one cell.
        return str(self._columns[self.roles.id][int(row)].as_py()).strip()

    @cached_property
    def sources(self) -> npt.NDArray[np.int64] | None:
        """Return (n,) a number for the source of each row, -1 for an empty cell; None if the roles name no
        source."""
        if self.roles.source is None:
            return None
        names = pd.Series(self._columns[self.roles.source].to_pylist(), dtype=object).str.strip()
        found = pd.factorize(names.mask(names == ""))[0].astype(np.int64)
        found.flags.writeable = False
        return found

    @cached_property
    def _source_sizes(self) -> npt.NDArray[np.int64]:
        return np.bincount(np.zeros(0, np.int64) if self.sources is None else self.sources[self.sources >= 0])

    def rows_of_source(self, row: int) -> int:
        """Return the number of rows with the same source as this row; 1 if it has none."""
        if self.sources is None or self.sources[row] < 0:
            return 1
        return int(self._source_sizes[self.sources[row]])

    @property
    def n_rows(self) -> int:
        return len(self.candidates)

    def features(self, use: str = BOTH) -> FeatureTransformer:
        """Return an unfitted transformer that turns rows of this table into a feature matrix. use : one of
        `FEATURE_SETS`"""
        return FeatureTransformer(use)

    @property
    def has_feature_choice(self) -> bool:
        """Return whether the choice among `FEATURE_SETS` makes a difference."""
        return has_choice(self)

    @classmethod
    def from_cells(
        cls,
        cells: pd.DataFrame,
        roles: Roles,
        files: MediaFiles | None = None,
        arrays: Mapping[str, Vectors] | None = None,
        numbers_in: Path | None = None,
    ) -> LabelTable:
        """Build the table from cells (DataFrame of str, as from `read_cells`). Raises TableError.

        files : those that came with the table, named in cells of the columns `image` and `audio`.
        arrays : by name, columns of vectors (n, d) next to those of text; `roles.embedding` may be one of them.
        numbers_in : the file for the numbers (`parse_numbers`), which is then mapped; None: they stay in
            memory.
        """
        _check_text(cells)
        return cls._of_text(cells, roles, files, arrays, numbers_in)

    @classmethod
    def _of_text(
        cls,
        cells: pd.DataFrame,
        roles: Roles,
        files: MediaFiles | None = None,
        arrays: Mapping[str, Vectors] | None = None,
        numbers_in: Path | None = None,
    ) -> LabelTable:
        """Build the table from cells that are known to be text. Raises TableError."""
        arrays = arrays or {}
        vectors = [name for name in arrays if name == roles.embedding]  # no other role can have them
        problems = role_problems(roles, [*cells.columns, *vectors], lambda: hint_at_labels(cells))
        if problems:
            raise table_error(problems)
        finder = Finder.of(cells)
        label_vectors = None
        if roles.label_vectors:
            label_vectors, classes = parse_vectors(cells, roles, finder)
            found = Candidates(label_vectors != 0, classes, None)
        else:
            found = parse_candidates(cells, roles, finder)
        check_class_names(found.classes, cells, roles, finder)
        truth = parse_truth(cells, roles, found.candidates, found.classes, finder)
        check_ids(cells, roles.id, finder)
        numbers = parse_numbers(cells, roles.numbers, finder, numbers_in)
        media = parse_media(cells, roles, files, finder)
        embeddings = parse_embeddings(cells, roles.embedding, arrays, finder)
        finder.refuse()
        labelled = np.asarray(found.candidates.any(axis=1))
        if roles.unlabelled == "leave-out" and not labelled.all():
            if not labelled.any():
                message = "No row has a candidate label, so all of them would be left out."
                raise refusal(message, "Choose another column.", column=roles.candidates)
            kept = {name: vectors[np.flatnonzero(labelled)] for name, vectors in arrays.items()}
            return cls._of_text(cells[labelled], roles, files, kept, numbers_in)
        types = types_of(cells)
        cells = with_types(cells.reset_index(drop=True), types)
        return cls(
            *(cells, roles, numbers, found.candidates, found.classes, truth, media, found.weights),
            embeddings,
            label_vectors,
            found.votes,
        )

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, roles: Roles | None = None) -> LabelTable:
        """Build the table from any DataFrame; its index is not used. Raises TableError.

        `plcore.tables.text.frames` converts values to text: 3.0 is `3`, missing values are empty cells.
        Without `roles` they are guessed (`suggest_roles`).
        """
        cells = frame_as_text(frame)
        _check_text(cells)
        cells = with_types(cells, types_of_frame(frame))
        return cls._of_text(cells, suggest_roles(cells) if roles is None else roles)

    @classmethod
    def read_csv(cls, source: bytes | str | Path, roles: Roles | None = None) -> LabelTable:
        """Build the table from a CSV file (bytes or path). Without `roles` they are guessed. Raises
        TableError."""
        cells = read_cells(source)
        return cls._of_text(cells, suggest_roles(cells) if roles is None else roles)

    def to_csv(self, path: str | Path) -> None:
        """Write the cells as UTF-8 CSV. Reading it back with the same roles gives the same table."""
        Path(path).write_bytes(to_csv_bytes(self.cells))

    def write(self, path: str | Path) -> str:
        """Write the table, cells and parsed values alike, as one Parquet file; returns its SHA-256 in hex.

        The same table always gives the same bytes. The write is atomic and durable.
        """
        target = Path(path)
        return self._write(target.parent, lambda _digest: target.name)

    def write_named(self, folder: str | Path) -> str:
        """Like `write`, to SHA-256.parquet in this folder. Writing the same table twice is harmless."""
        return self._write(Path(folder), "{}.parquet".format)

    def _write(self, folder: Path, name_of: Callable[[str], str]) -> str:
        if self.written is not None and self.written.holds(self._parts):
            return copy_written(self.written, folder, name_of)
        return write_parts(self._parts, folder, name_of)

    def let_go(self) -> None:
        """Release the source and the files that it names: they are stored elsewhere now."""
        if self.media.files is not None:
            self.media.files.close()
        object.__setattr__(self, "written", None)

    @classmethod
    def read(cls, path: str | Path) -> LabelTable:
        """Read the table that `write` wrote. Raises TableError if the file is something else or damaged."""
        return cls._of(read_parts(Path(path)))

    @classmethod
    def read_beside(
        cls,
        path: str | Path,
        digest: str,
        cells: pd.DataFrame,
        numbers: npt.NDArray[np.float64],
        held: object,
        vectors: Vectors | None = None,
    ) -> LabelTable:
        """The table that this program has just written there, of cells and numbers that are at hand: neither is read
        again, and keeping the table copies the file.

        digest : what `write` gave back      held : keeps the file where it is as long as it lives
        vectors : its embeddings, if they are at hand as they are stored; None: they are read. Raises OSError.
        """
        cells = with_types(cells.reset_index(drop=True), types_of(cells))
        parts = read_beside(Path(path), cells, numbers, vectors)
        return cls._of(parts, Written(Path(path), digest, parts, held))

    @classmethod
    def _of(cls, parts: TableParts, written: Written | None = None) -> LabelTable:
        # For label vectors only the cells are stored, which were validated before.
        is_vectors = parts.roles.label_vectors
        vectors = parse_vectors(parts.cells, parts.roles, Finder(None))[0] if is_vectors else None
        return cls(*parts[:-2], vectors, parts.votes, written, parts.encoded)

    @property
    def _parts(self) -> TableParts:
        return TableParts(
            self._cells,
            self.roles,
            self.numbers,
            self.candidates,
            self.classes,
            self.truth,
            self.media,
            self.candidate_weights,
            self.embeddings,
            self.votes,
            self.encoded,
        )


def _check_text(cells: pd.DataFrame) -> None:
    """Refuse tables that no CSV can hold (no rows or columns, bad names, NUL characters) and cells that are
    not text."""
    if not cells.shape[0] or not cells.shape[1]:
        raise refusal("The table has no rows.", "Add at least one data row.")
    problems = name_problems([str(name) for name in cells.columns])
    finder = Finder(None)
    types = zip(cells.columns, cells.dtypes, strict=True)
    other = [name for name, kind in types if not isinstance(kind, pd.StringDtype)]
    for name, series in cells.items() if not other else ():
        column = pa.array(series.array, pa.large_string())
        if column.null_count:
            other = [str(name)]
            break
        if has_sign(column, b"\0"):
            for row in first_rows(pc.match_substring(column, "\0")):
                finder.add(row, str(name), "the text holds a NUL character.", "Remove it.")
        let_go()
    if other:
        raise TypeError(f"Column {other[0]!r} must hold str only, none missing; use from_frame for other frames.")
    if problems or finder.problems:
        raise table_error([*problems, *finder.problems])
