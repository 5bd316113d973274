"""Describe a column of a new table by a sample of its cells: numbers, words, lists, prose or file names."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from plcore.arrays import let_go
from plcore.tables.media.file_tree import IMAGE_ENDINGS, RECORDINGS
from plcore.tables.roles.roles import marks_of
from plcore.tables.text.arrow import chunks_of, surely_differ

_NUMBER = re.compile(r"[+-]?(\d+(?:[.,]\d*)?|[.,]\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
_NO_VALUE = re.compile(r"[+-]?inf(inity)?|nan|n/?a|null|none|\?|-", re.IGNORECASE)
_NUMBER_BITS = {"0", "1", "0.0", "1.0", "-1", "-1.0"}
YES_WORDS = (
    "true", "yes", "y", "t", "present", "checked", "selected", "on", "ja", "wahr", "oui", "vrai", "sí", "si",
    "verdadero", "sim", "да", "是", "はい",
)  # fmt: skip
NO_WORDS = (
    "false", "no", "n", "f", "absent", "unchecked", "unselected", "not selected", "off", "nein", "falsch", "non",
    "faux", "falso", "não", "нет", "否", "いいえ",
)  # fmt: skip
"""Words for yes and no in lower case, in several languages and as survey tools write them."""
YES_AND_NO = frozenset((*YES_WORDS, *NO_WORDS))
SUMS = {
    "total", "totals", "sum", "sums", "subtotal", "grand total", "average", "mean", "count", "summe", "gesamt", "somme",
    "suma", "totale", "totaal", "soma", "итого", "всего", "合计", "总计", "合計",
}  # fmt: skip
"""First words of a last row that sums up the others, in lower case."""
VERDICTS = {
    *YES_AND_NO, "0", "1", "0.0", "1.0", "-1", "accepted", "accept", "rejected", "reject", "confirmed",
    "refuted", "positive", "negative", "up", "down", "agree", "disagree", "correct", "incorrect", "wrong", "right",
    "approved", "valid", "invalid", "deleted", "skipped",
}  # fmt: skip
"""Cells that say whether a label next to them is right, in lower case."""
may_be_verdict = re.compile(
    r"(?:is_|human_|manual(?:ly)?_)?(?:verif\w+|valid\w*|review|confirm\w*|correct\w*|verdict|status|accept\w*)"
).fullmatch
"""Whether a column with this key may hold such cells."""
JUDGED = VERDICTS - {
    *YES_AND_NO, "0", "1", "0.0", "1.0", "-1", "positive", "negative", "up", "down", "deleted", "skipped",
}  # fmt: skip
"""The verdicts that are hardly ever labels themselves."""
_ANSWERS = YES_AND_NO - {
    "true", "false", "wahr", "falsch", "vrai", "faux", "verdadero", "falso", "checked", "unchecked", "selected",
    "unselected", "not selected",
}  # fmt: skip
"""Words that annotators also use as answers. Programs write the others for ticked boxes."""
_BITS = (_NUMBER_BITS, YES_AND_NO, {"x", "✓", "✔"})
"""Sets of cells that mean yes or no. A cell may also mean "not asked"."""
NOT_ASKED_WORDS = (
    "unknown", "unsure", "uncertain", "unclear", "not mentioned", "not asked", "not sure", "unbekannt", "unklar",
    "weiß nicht", "weiss nicht", "keine angabe", "k.a.", "nsp", "ne sait pas", "inconnu", "no sabe", "ns/nc",
    "desconocido", "non so", "não sei", "weet niet", "onbekend", ".",
)  # fmt: skip
"""Words of people who cannot say yes or no, in lower case, in several languages; SAS and Stata write a dot."""
_NOT_ASKED = re.compile("|".join((_NO_VALUE.pattern, *map(re.escape, NOT_ASKED_WORDS))), re.IGNORECASE)
_SEPARATORS = ("|", ";", ",")
_BETWEEN_NAMES = (":::", "::", "#", "~", "^", "\\", " - ", "·", "・", "•", "<br>", " vs. ", " vs ", " und ", " oder ",
                  " et ", " ou ", " y ", " o ")  # fmt: skip
"""Separators that also occur in paths and names: most of the parts must be a whole cell somewhere."""
SELDOM = (" and/or ", " or ", "/", "&", "+", "\n", "、", "，", "；", "｜", "／", "،", "؛", *_BETWEEN_NAMES)
"""Separators used only if no usual one splits a cell, and if the parts are recognisable as labels."""
_WEIGHT = re.compile(
    r"(?:[:=(]\s{0,3}\d{0,9}[.,]\d{1,20}|(?:[(\[]\s{0,3})?(?<!\d)\d{1,9}(?:[.,]\d{1,20})?\s{0,3}%)\s{0,3}[)\]]?"
    r"(?=\s|[|;,/&+]|$)"  # all counts are bounded: a cell may be long
)
"""The number behind a label, as in `wren:0,6` or `wren (60%)`: its comma separates nothing, and no two are alike."""
_NUMBER_LAST = re.compile(r"(?P<stem>.+_|.*\D)(?P<place>\d{1,2})")
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
"""Finds the places between words in a name such as decimalLatitude."""
WORD = re.compile(r"[^\W\d_]{2}")
"""Finds a word in a name: two letters in a row."""
PROSE, FEW_WORDS = 3, 6
"""Mean number of words per cell from which it is a text; and from which it cannot be a label."""
_SAMPLE = 2000
_SEVERAL = 5
"""Minimum number of cells for equal cells, or a running number, to be evidence."""
DEFAULT_SEPARATOR = _SEPARATORS[0]
LARGEST_NUMBER = 1e18  # squares and sums of such numbers still fit single precision
_ZERO = re.compile(r"0+(\.0*)?", re.ASCII)
_BETWEEN = re.compile(r"[\s,;]+")


_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
"""Letters of scripts with few spaces between words (Korean) or none (Thai, Lao, Burmese, Khmer, Japanese, Chinese)."""


def words_in(text: str) -> float:
    """Return the number of words in a text; in scripts without spaces, two letters count as a word."""
    return sum(max(1, len(_UNSPACED.findall(word)) / 2) for word in text.split())


def key_of(name: str) -> str:
    """Normalise a column name: words in lower case, joined by underscores."""
    return re.sub(r"\W+", "_", name.strip().lower()).strip("_")


@dataclass(frozen=True)
class ColumnSample:
    """A column whose role is to be guessed: its name, and the cells of some rows."""

    name: str
    cells: tuple[str, ...]  # stripped, non-empty, from a sample of rows
    whole: pa.LargeStringArray | pa.ChunkedArray = field(repr=False, compare=False)  # all cells, unchanged

    @cached_property
    def unique(self) -> bool:
        """Whether all cells of the whole table differ, and none is empty."""
        if surely_differ(chunks_of(self.whole), len(self.whole)):
            return True
        differ = pc.count_distinct(self.whole).as_py() == len(self.whole)
        return bool(differ and not pc.any(pc.equal(self.whole, "")).as_py())

    @cached_property
    def key(self) -> str:
        return key_of(self.name)

    def share(self, pattern: re.Pattern[str]) -> float:
        return mean_of(pattern.fullmatch(cell) is not None for cell in self.cells)

    @cached_property
    def is_bits(self) -> bool:
        """Whether its cells mean yes and no in one of the usual ways."""
        if self.is_numbers and any(0 < value < 1 for value in self.values):
            return False  # scores, most of which may be 0
        if any(mean_of(cell in way for cell in self._said) >= 0.9 for way in _BITS):
            return any(self._said)
        said = set(self._said)  # several people may each use another form; single letters may be labels
        return said <= set().union(*_BITS) and any(cell in _NUMBER_BITS or len(cell) > 1 for cell in said)

    @cached_property
    def is_objects(self) -> bool:
        """Whether its cells are JSON objects or lists of them, as programs write metadata."""
        return mean_of(cell.startswith(("{", "[{")) and cell.endswith(("}", "}]")) for cell in self.cells) >= 0.9

    @cached_property
    def is_marks(self) -> bool:
        """Whether "yes" is a mark such as x, which may also be a label."""
        return set(self._said) <= _BITS[-1]

    @cached_property
    def is_yes_no(self) -> bool:
        """Whether its cells are answers in words. A property of the item may be written like that, too."""
        return mean_of(cell in _ANSWERS for cell in self._said) >= 0.9

    @cached_property
    def has_holes(self) -> bool:
        """Whether some cells are empty or mean "not asked"."""
        return len(self._said) < len(self.cells) or bool(pc.any(pc.equal(self.whole, "")).as_py())

    @cached_property
    def differs(self) -> bool:
        """Whether its yes/no cells differ. -1 may be a third value."""
        is_no = {cell: cell in NO_WORDS or _ZERO.fullmatch(cell) is not None for cell in set(self._said)}
        said = {(cell[:1] == "-", no) for cell, no in is_no.items()}
        return self.has_holes or len(said) > 1

    @cached_property
    def says_nothing(self) -> bool:
        """Whether all its cells are empty or mean "not asked"."""
        return not self._said

    @cached_property
    def _said(self) -> list[str]:
        return [cell.lower() for cell in self.cells if not _NOT_ASKED.fullmatch(cell)]

    @cached_property
    def is_numbers(self) -> bool:
        # Does not check that the cells are *good* numbers: decimal commas and NA are reported with advice of their own.
        words = [cell for cell in self.cells if not _NUMBER.fullmatch(cell) and not _NO_VALUE.fullmatch(cell)]
        # Codes such as 3 and x: each occurs often. A stray word among measurements is reported, instead.
        often = all(2 * len(set(some)) <= len(some) for some in (words, self.cells))
        if often and len(words) >= 0.2 * len(self.cells) > 0:
            return False
        numbers = self.share(_NUMBER)
        return numbers >= 0.5 or 0 < numbers >= 0.5 * (1 - self.share(_NO_VALUE))

    def is_image(self, files: bool) -> bool:
        if not files:
            return self.cells_like(lambda cell: cell.startswith("data:image"))
        return self.cells_like(lambda cell: cell.startswith("data:image") or cell.lower().endswith(IMAGE_ENDINGS))

    def names_each(self, endings: tuple[str, ...], completed: Callable[[str], str]) -> bool:
        """Whether every cell names a file of its own without its ending: a class or a number may be called like one.

        completed : as for `suggest_roles`
        """
        found = ((cell, completed(cell)) for cell in self.cells)
        named = all(path != cell and path.lower().endswith(endings) for cell, path in found)
        return bool(self.cells) and named and self.unique

    def cells_like(self, fits: Callable[[str], bool]) -> bool:
        """Whether most cells fit. A stray cell is reported later."""
        return mean_of(map(fits, self.cells)) >= 0.5

    @cached_property
    def values(self) -> tuple[float, ...]:
        """Return the numbers among its cells, percentages as shares."""
        found = [(c.rstrip(" %"), c.endswith("%")) for c in self.cells]
        return tuple(float(c.replace(",", ".")) / (100 if share else 1) for c, share in found if _NUMBER.fullmatch(c))

    @cached_property
    def words(self) -> float:
        """Mean number of words in a cell."""
        return mean_of(map(words_in, self.cells))

    @cached_property
    def repeats(self) -> bool:
        """Whether its values repeat, as categories do."""
        return bool(self.cells) and len(set(self.cells)) <= max(2, len(self.cells) // 2)

    @cached_property
    def is_constant(self) -> bool:
        """Whether its sample has enough cells, and all are the same."""
        return len(self.cells) >= _SEVERAL and len(set(self.cells)) == 1

    @cached_property
    def counts_rows(self) -> bool:
        """Whether it is a running number, which does not describe the item."""
        steps = np.diff(self.values)
        if len(steps) < _SEVERAL or not all(value.is_integer() for value in self.values):
            return False
        # The sample of a long table holds every n-th row.
        return bool((steps == steps[0]).all() and (abs(steps[0]) == 1 or (steps[0] > 1 and self.values[0] in (0, 1))))

    def separator(self) -> str | None:
        """Return the separator that splits most of its cells; None if none splits any.

        A rare one must split several cells, into parts half of which occur elsewhere. `AC/DC` and `R&B` are names if no
        cell is `AC` or `B`.
        """
        cells = [_WEIGHT.sub("", cell) for cell in self.cells if not _NO_VALUE.fullmatch(cell)]
        counts = [sum(mark in cell for cell in cells) for mark in _SEPARATORS]
        if any(counts):
            # The first that splits a tenth of them: commas also occur in names, as in Smith, John.
            found = (mark for mark, count in zip(_SEPARATORS, counts, strict=True) if 10 * count >= len(cells))
            return next(found, _SEPARATORS[counts.index(max(counts))])
        counts = [_evidence(cells, mark) for mark in SELDOM]
        return SELDOM[counts.index(max(counts))] if any(counts) else None

    def pieces(self, separator: str) -> list[str]:
        return [piece for cell in self.cells for piece in parts_of(cell, separator)]


def _evidence(cells: Sequence[str], mark: str) -> int:
    """Return the number of cells that this mark splits into labels; 0 if the evidence is weak."""
    split = [cell for cell in cells if mark in cell and len(parts_of(cell, mark)) > 1]
    if len(split) < 2:
        return 0
    parts = {part for cell in split for part in parts_of(cell, mark)}
    known = parts & parts_known(cells, mark)
    if all(part.isdecimal() for part in parts):  # 12/05 is a date, 3/8 a fraction
        known &= set(cells)
    if mark in _BETWEEN_NAMES:
        known &= set(cells)
    return len(split) if 2 * len(known) >= len(parts) else 0


def parts_of(cell: str, mark: str) -> list[str]:
    """Split a cell at this separator, and return its non-empty parts."""
    first, *others = marks_of(mark)
    for other in others:
        cell = cell.replace(other, first)
    mark = first
    return [part.strip() for part in cell.split(mark) if part.strip()]


def parts_known(cells: Iterable[str], mark: str) -> set[str]:
    """Return the parts that are a whole cell, or that occur in two different cells."""
    seen = Counter(part for cell in set(cells) for part in set(parts_of(cell, mark)))
    alone = {cell for cell in cells if mark not in cell}
    return {part for part, count in seen.items() if count > 1 or part in alone}


def sample_columns(cells: pd.DataFrame) -> list[ColumnSample]:
    """Sample all columns of a DataFrame of str, each with about _SAMPLE of its rows."""
    step = max(1, len(cells) // _SAMPLE)
    columns = []
    for name, series in cells.items():
        whole = pa.array(series.array, pa.large_string())
        sample = tuple(cell for cell in map(str.strip, _every(step, whole)) if cell)
        columns.append(ColumnSample(str(name), sample, whole))
        let_go()
    return columns


def _every(step: int, whole: pa.LargeStringArray | pa.ChunkedArray) -> Iterator[str]:
    """Yield every `step`-th cell, starting with the first, chunk by chunk: Arrow would concatenate the chunks."""
    if step == 1:
        yield from whole.to_pylist()
        return
    start = 0
    for chunk in chunks_of(whole):
        yield from chunk.take(pa.array(range(-start % step, len(chunk), step), pa.int64())).to_pylist()
        start += len(chunk)


_RATER = re.compile(r"(\w+)_(?:r|rater|reader|ann|annotator|coder|obs|observer|expert|radiologist)_?\d")
"""Question and person in a column name."""
_MOST_GRADES = 12


def questions_of(columns: Iterable[ColumnSample]) -> dict[str, list[ColumnSample]]:
    """Group columns of words or grades whose names hold a question and a person, such as malignancy_r1, by question."""
    asked: dict[str, list[ColumnSample]] = {}
    for column in columns:
        graded = len(set(column.cells)) <= _MOST_GRADES and all(value.is_integer() for value in column.values)
        if column.repeats and (graded or not column.is_numbers) and (match := _RATER.fullmatch(column.key)) is not None:
            asked.setdefault(match[1], []).append(column)
    return asked


def numbered_alike(columns: Sequence[ColumnSample]) -> list[dict[int, ColumnSample]]:
    """Return columns of words whose names differ only in the number at their end, by that number, for each name."""
    found: dict[str, dict[int, ColumnSample]] = {}
    for column in columns:
        if not column.is_numbers and column.words < FEW_WORDS and (match := _NUMBER_LAST.fullmatch(column.key)):
            found.setdefault(match["stem"], {})[int(match["place"])] = column
    return [one for one in found.values() if len(one) > 1]


def mean_of(values: Iterable[float]) -> float:
    """Return the mean; 0 if there are no values."""
    found = list(values)
    return sum(found) / len(found) if found else 0.0


def is_prose(texts: Iterable[str]) -> bool:
    """Whether these are texts of several words, not names."""
    return mean_of(map(words_in, texts)) >= PROSE


def whole_texts(
    cells: pd.DataFrame, text: str, caption: Iterable[str], more_texts: Iterable[str] = ()
) -> tuple[tuple[str, ...], list[str]]:
    """Return the columns that hold the texts of a row, and for each row its text; "" for a row without one. If there
    are further texts, such as the premise of a hypothesis, or columns of the caption hold texts, each text follows its
    column's name, in the order of the table.

    text, caption, more_texts : columns
    """
    chosen = {text, *more_texts, *(one for one in caption if is_prose(cells[one].head(_SAMPLE)))}
    columns = tuple(str(name) for name in cells.columns if name in chosen)
    texts = {one: [str(cell).strip() for cell in cells[one]] for one in columns}
    if len(columns) == 1:
        return columns, texts[text]
    rows = zip(*texts.values(), strict=True)
    named = ["\n".join(f"{name}: {cell}" for name, cell in zip(columns, row, strict=True) if cell) for row in rows]
    return columns, [whole if own else "" for whole, own in zip(named, texts[text], strict=True)]


TEXT_NAMES = {
    "text", "sentence", "description", "caption", "comment", "message", "review", "title", "abstract",
    "smiles", "sequence", "peptide", "dna_sequence", "protein_sequence", "aa_sequence",
}  # fmt: skip
MARKS = (",", ";")
"""Separators that also occur in prose."""
_KEPT = 0.95
"""Minimum share of parts in their usual position, for a cell to be a record and not a set."""
_NEW = 0.75
"""Share of cells with a part that occurs in no other cell, above which the parts are not classes."""
_FEWEST = 3
"""Minimum number of different cells with several parts for `_NEW` to apply."""
_WORDS = 4
"""Mean number of words per part, above which parts are pieces of sentences."""


def is_written(cells: Iterable[str], mark: str) -> bool:
    """Whether this mark seems to be punctuation in these cells, not a separator between labels.

    Labels repeat in other combinations and in other positions of the list. Punctuation is followed by a space, and

    - the parts form a record, each always in its position: *Smith, John*, *Springfield, IL*, *Monday, 3 May*, or
      one class such as *Agriculture, forestry*; or
    - nearly every cell has a part that occurs in no other; or
    - the parts are as long as those of sentences.
    """
    differing = set(cells)
    text = "|".join(differing)
    if 2 * len(re.findall(rf"{re.escape(mark)}\s", text)) < text.count(mark):
        return False  # programs write no space
    lists = [parts_of(cell, mark) for cell in differing]
    places: dict[str, Counter[int]] = {}
    for parts in lists:
        for place, part in enumerate(parts):
            places.setdefault(part, Counter())[place] += 1
    times = {part: found.total() for part, found in places.items()}
    several = [parts for parts in lists if len(parts) > 1]
    new = mean_of(any(times[part] == 1 for part in parts) for parts in several)
    return (
        sum(max(found.values()) for found in places.values()) >= _KEPT * sum(times.values())
        or (len(several) >= _FEWEST and new > _NEW)
        or mean_of(map(words_in, places)) > _WORDS
    )


_STARTS = re.compile(r"(segment_|clip_)?(start|begin|onset|offset)(_time|_sec|_seconds|_s)*")
_ENDS = re.compile(r"(segment_|clip_)?(end|stop)(_time|_sec|_seconds|_s)*")
_EMBEDDING = re.compile(r"(\w+_)?(embeddings?|emb|vectors?|encodings?)(_\w+)?")
_SHORTEST = 16
"""Minimum length of a list to be an embedding by its cells alone. Shorter lists may be labels or a bounding box."""


def guess_images(columns: Sequence[ColumnSample], files: bool, completed: Callable[[str], str]) -> list[ColumnSample]:
    """Return the columns whose cells hold images or, if files came with the table, name them. completed : as for
    `suggest_roles`"""
    found = [column for column in columns if column.is_image(files)]
    return found or [column for column in columns if column.names_each(IMAGE_ENDINGS, completed)][:1]


def guess_audio(columns: Sequence[ColumnSample], completed: Callable[[str], str]) -> ColumnSample | None:
    """Return the first column whose cells name recordings. completed : as for `suggest_roles`"""
    found = [column for column in columns if column.cells_like(lambda cell: cell.lower().endswith(RECORDINGS))]
    return next(iter(found or [column for column in columns if column.names_each(RECORDINGS, completed)]), None)


def guess_segment(columns: Sequence[ColumnSample]) -> tuple[ColumnSample | None, ColumnSample | None]:
    """Return the columns of the seconds at which a segment begins and ends; no end without a begin."""
    start, end = (
        next((column for column in columns if pattern.fullmatch(column.key) and column.is_numbers), None)
        for pattern in (_STARTS, _ENDS)
    )
    return (start, end) if start is not None else (None, None)


def guess_embedding(columns: Sequence[ColumnSample]) -> ColumnSample | None:
    """Return the first column of lists of numbers, recognised by its name or their length."""
    return next((column for column in columns if column.cells and _is_embedding(column)), None)


def numbers_of(text: str) -> npt.NDArray[np.float32] | None:
    """Parse the finite numbers of a cell: a JSON list, an array as NumPy prints it, or numbers separated by spaces,
    commas or semicolons. Return None if it is something else, has no number, or has one beyond 1e18."""
    try:
        values = json.loads(text) if text.startswith("[") else None
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, list):
        inside = text[1:-1] if text.startswith("[") and text.endswith("]") else text
        values = _BETWEEN.split(inside.strip())
    elif any(isinstance(value, bool) or not isinstance(value, (int, float)) for value in values):
        return None
    try:
        numbers = np.array(values, dtype=np.float64)
    except (ValueError, OverflowError):
        return None
    # The comparison is False for NaN.
    return numbers.astype(np.float32) if len(numbers) and (np.abs(numbers) <= LARGEST_NUMBER).all() else None


def fewest_numbers(name: str) -> int:
    """Return the minimum list length at which a column of this name is an embedding."""
    return 2 if is_embedding_name(name) else _SHORTEST


def is_embedding_name(name: str) -> bool:
    """Whether this is a usual column name for embeddings."""
    return _EMBEDDING.fullmatch(name.strip().lower()) is not None


def _is_embedding(column: ColumnSample) -> bool:
    lists = [numbers_of(cell) for cell in column.cells[:20]]
    fewest = fewest_numbers(column.key)
    return all(numbers is not None and len(numbers) >= fewest for numbers in lists)
