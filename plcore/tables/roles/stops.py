"""Doubts that stop an import until the user confirms the reading: cells that can be read in two ways."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from plcore.arrays import let_go
from plcore.arrays.candidate_sets import pairs_of
from plcore.arrays.words import counted, listed, quoted
from plcore.tables.readers.tools.detections import is_detections
from plcore.tables.roles.cells import MISSING, without_weight
from plcore.tables.roles.sample import SUMS, WORD, key_of, parts_of, sample_columns
from plcore.tables.roles.separators import STOPPING_SEPARATORS
from plcore.tables.roles.suggested_labels import guess_list, is_label_key, listed_in, scores_of_classes
from plcore.tables.roles.suggestion import OWN_COLUMN
from plcore.tables.roles.vote_stops import STOPPING_VOTES, Odd
from plcore.tables.roles.written_lists import SMALL_IS_NEAR, looks_like_json, read_cell
from plcore.tables.table import LabelTable

_SHOWN = 3
_MOST_CELLS = 1_000  # maximum number of different cells in a column that is compared with others
_ROWS = 20_000  # rows examined
_MOST_COLUMNS = 60  # columns searched for a second header
_LINE = r"^\s*[-=_:]{3,}\s*$"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_SHEET_DATE = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}([ T]\d{1,2}:\d{2}.*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}"
    rf"|\d{{1,2}}[- ]{_MONTH}([- ]\d{{2,4}})?|{_MONTH}[- ]\d{{1,4}}",
    re.IGNORECASE | re.ASCII,
)
_FORMULA = re.compile(r"=\s*[A-Za-z+\-(].*|#(REF|NAME|VALUE|DIV/0|NUM|NULL|SPILL|CALC)[!?]+", re.ASCII)
_BITS = re.compile(r"[01]{3,64}", re.ASCII)
_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?"  # unambiguous, as cells may be hostile
_NUMBERS = re.compile(
    rf"(?:\w+\()?[\[(]?(\s*{_NUMBER}(?:[\s,;|]+{_NUMBER})*)[\s,]*[\])]?(?:,[^()]*)?\)?", re.ASCII | re.IGNORECASE
)
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})?", re.ASCII)
_SHARE = re.compile(r"0?\.\d*[1-9]\d*", re.ASCII)
_SHARE_BEHIND = re.compile(r"\w\s*[:=]\s*(?:0?\.\d+|[01](?:\.0+)?)$", re.ASCII)
_GRADE = re.compile(
    r"^(?:0?\.\d+|1\.0+|\d{1,3}\s*%|\d{1,3}\s*[x×])\s*[:-]?\s+|^\d{1,2}\s*[:.)]\s*(?=[^\W\d])"
    r"|^(?:probably|possibly|likely|perhaps|maybe)\s+|^\?+\s*(?=\w)|\b(?:cf|aff)\.\s+(?=\w)"
    r"|\s*[:(\[-]?\s*(?:very\s+)?\b(?:high|medium|low|likely|unlikely|certain|uncertain|sure|unsure|probable|possible|maybe"
    r"|definite|probably|possibly)\s*[)\]]?$|(?<=\w)\s*\(?\?+\)?$"
    r"|\s*[:=(\[@~-]?\s+(?:0?\.\d+|1\.0+)\s*(?:/\s*\d+)?\s*[)\]]?$"
    r"|\s*[(\[]\s*(?:0?\.\d+|1\.0+|\d{1,3}\s*%)\s*[)\]]$"
    r"|\s+\(?(?:[x×]\s?\d{1,3}|\d{1,2}\s?/\s?\d{1,2})\)?$|(?<=\w)\s*@\s*\d+(?:\.\d+)?\s*(?:s|ms|sec)?$"
    r"|\s*[(\[](?:primary|secondary|main|best|top|preferred|dominant|first|second|third|1st|2nd|3rd)(?: choice)?[)\]]$"
    r"|(?<=\w)\s?\*{1,3}$|^\*{1,3}\s?(?=\w)|^_{2}(?=\w)|(?<=\w)__$"
    r"|^<(?:b|i|u|em|strong|mark)>|</(?:b|i|u|em|strong|mark)>$"
    r"|^[✅❌🥇🥈🥉☑☐✔✗✘⭐★☆][\ufe0f\s]*(?=\w)|(?<=\w)\s*[✅❌🥇🥈🥉☑☐✔✗✘⭐★☆]\ufe0f?$",
    re.ASCII | re.IGNORECASE,
)
_INNER = re.compile(rf"\s*(?:[:=(]\s*{_NUMBER}\s*%?|\s\d+\s*%)\s*\)?\s*[/,;+&]?\s+(?=\w)", re.ASCII | re.IGNORECASE)
_RANGE = re.compile(
    r"(\d{1,3}|[A-Za-z]|[IVX]{1,4})\s?(?:-|–|—|\.\.|to|bis)\s?(\d{1,3}|[A-Za-z]|[IVX]{1,4})|[<>≤≥]=?\s?(\d{1,3})|(\d{1,3})\+",
    re.ASCII,
)
_LAST = re.compile(r"(\d+)\D*$", re.ASCII | re.MULTILINE)
_INTEGER = re.compile(r"-?\d{1,9}", re.ASCII)
_SIDE = re.compile(r"(?<=_)(?:a|b|1|2|left|right)$")
_SIDES = {"a", "b", "1", "2", "left", "right", "first", "second", "tie", "both", "neither", "same", "equal"}
_NO_ANSWER = {-9, -99, -999, -9999, -8, -88, -7, -77, 77, 88, 99, 777, 888, 999, 9999}
_NO_ANSWER_DIGIT, _GAP = 9, 3
_FEW_ROWS = 500
_DEEP = 3


def find_stops(table: LabelTable) -> list[Odd]:
    """Return the name, message and fix of every doubt that stops the import of this table."""
    found = [odd for look in _STOPPING for odd in look(table)]
    graded = any(name == "graded-names" for name, *_ in found)  # the grade is not a person
    return [odd for odd in found if not (graded and odd[0] == "people-in-names")]


def _weights_in_names(table: LabelTable) -> Iterator[Odd]:
    known = set(table.classes)
    shares = [name for name in known if _SHARE_BEHIND.search(name)]
    if len(shares) == len(known) > 1 and table.roles.form == "json":
        message = f"All classes end in a share, such as {quoted(min(shares))}: read here as part of the name."
        yield "weights-in-names", message, 'If it is a weight, write it as in {"wren": 0.6, "robin": 0.4}.'
        return
    found = [
        (name, plain)
        for name in table.classes
        if (plain := without_weight(name, loose=True)) != name and plain in known
    ]
    if found:
        name, plain = found[0]
        message = (
            f"{_classes(found)} a class with a number behind it, such as {quoted(name)}: read here as a class of its "
            f"own, but it may be {quoted(plain)} with a weight."
        )
        yield (
            "weights-in-names",
            message,
            "If it is a weight, write one behind every label, as in wren:0.6|robin:0.4.",
        )


def _json_names(table: LabelTable) -> Iterator[Odd]:
    found = [name for name in table.classes if looks_like_json(name)]
    if found:
        message = (
            f"{_classes(found)} JSON or code, such as {quoted(found[0])}: read here as the name of one class, but it "
            "may hold the labels of the row."
        )
        yield "json-in-names", message, "If it does, write every cell as JSON, or every cell as a list."


def _cut_quotes(table: LabelTable) -> Iterator[Odd]:
    """Quoted names that were split inside their quotes, as in "owl, barn",cat."""
    odd = [name for name in table.classes if name.count('"') == 1]
    ends = [name for name in odd if name.endswith('"')]
    if table.roles.form == "list" and ends and any(name.startswith('"') for name in odd):
        message = f"{_classes(odd)} a piece of a name in quotes, such as {quoted(odd[0])}, which holds the separator."
        yield "cut-quotes", message, "Write another mark between labels, such as |, and no quotes."


def _second_header(table: LabelTable) -> Iterator[Odd]:
    cells = table.cells  # copied at each access
    names = list(dict.fromkeys(column for _, column in table.roles.used()))
    names = [name for name in names if name in cells.columns][:_MOST_COLUMNS]
    if not names:
        return
    same, lined = np.zeros(table.n_rows, dtype=np.int64), np.zeros(table.n_rows, dtype=np.int64)
    for name in names:
        column = pa.array(cells[name].array, pa.large_string())
        alike = column if len(names) == 1 else pc.utf8_lower(pc.utf8_trim_whitespace(column))
        same += np.asarray(pc.equal(alike, name if len(names) == 1 else name.strip().lower()))
        lined += np.asarray(pc.match_substring_regex(column, _LINE))
        let_go()
    if len(under := np.flatnonzero(lined == len(names))):
        message = f"Row {under[0] + 1:,} is a line of dashes: read here as an item with labels called so."
        yield "second-header", message, "Remove the row; programs draw such a line below the header."
        return
    rows = np.flatnonzero(same >= max(1 if len(names) == 1 else 2, len(names) // 2))
    if len(rows):
        message = (
            f"Row {rows[0] + 1:,} repeats the header: read here as an item with the labels that it names, but the file "
            "may be several tables one after the other."
        )
        yield "second-header", message, "Remove the row, and every other that repeats the header."


def _sum_row(table: LabelTable) -> Iterator[Odd]:
    roles = table.roles
    cells = table.cells
    looked = [roles.id, roles.candidates, str(cells.columns[0])]
    for column in dict.fromkeys(name for name in looked if name is not None and name in cells.columns):
        word = str(cells[column].iloc[-1]).strip()
        if word.rstrip(":").lower() in SUMS and not bool((cells[column].iloc[:-1].str.strip() == word).any()):
            message = (
                f"The last row says {quoted(word)} in column {quoted(column)}: read here as an item, but it may sum up "
                "the rows."
            )
            yield "sum-row", message, "If it does, remove it."
            return
    # The seconds of detections may be 0, 3, 6 and 9.
    for place, column in enumerate(() if is_detections(cells) else roles.numbers):
        numbers = table.numbers[:, place]
        # At least three rows above it: in 0, 0, 1, 1 the last number is not a sum.
        if (
            table.n_rows > _DEEP
            and abs(numbers[-1]) > np.nanmax(np.abs(numbers[:-1]), initial=0)
            and np.isclose(np.nansum(numbers[:-1]), numbers[-1], rtol=1e-9)
        ):
            message = f"The last number in column {quoted(column)} is the sum of all above it: read here as an item."
            yield "sum-row", message, "If the row sums up the others, remove it."
            return


def _thousands(table: LabelTable) -> Iterator[Odd]:
    """Numbers such as 1.234 next to 950: perhaps with a point between thousands."""
    some = table.cells.head(_FEW_ROWS)
    for column in table.roles.numbers[:_MOST_COLUMNS]:
        cells = [cell for cell in some[column].str.strip() if cell]
        points = [cell for cell in cells if "." in cell]
        if 1 < len(points) < len(cells) and all(map(_GROUPED.fullmatch, cells)):
            message = (
                f"Column {quoted(column)} holds numbers such as {quoted(points[0])}, and others without a point: read "
                "here with three decimals, but the point may be a thousands separator."
            )
            yield "thousands", message, "If it does, write the numbers without it."
            return


def _dates_and_formulas(table: LabelTable) -> Iterator[Odd]:
    formulas = [name for name in table.classes if _FORMULA.fullmatch(name)]
    dates = [name for name in table.classes if _SHEET_DATE.fullmatch(name)]
    if formulas:
        message = f"{_classes(formulas)} a formula or an error of a spreadsheet, such as {quoted(formulas[0])}."
        yield "formulas-as-labels", message, "Save the values in place of the formulas, and import that."
    if dates:
        message = (
            f"{_classes(dates)} a date, such as {quoted(dates[0])}: read here as a label, but spreadsheets turn names "
            "such as MARCH1 or 3-4 into dates, and a column of dates contains no labels."
        )
        yield ("dates-as-labels", message, "If these are not labels, choose another column, or correct the names.")


def _missing_next_to_labels(table: LabelTable) -> Iterator[Odd]:
    """Placeholders next to labels that are read as nothing, which makes the remaining label certain."""
    roles = table.roles
    words = [word for word in roles.ignored if word in (*MISSING, "-1")]
    if not words or roles.candidates is None or roles.form == "weighted" or roles.label_vectors:
        return
    cells = table.cells[roles.candidates].str.strip()
    rows, _ = pairs_of(table.candidates)
    certain = np.bincount(rows, minlength=table.n_rows) == 1
    hit = np.zeros(table.n_rows, dtype=bool)
    for word in words:
        hit |= cells.str.contains(word, regex=False).to_numpy(dtype=bool)
    for row in np.flatnonzero(hit & certain)[:_SHOWN]:
        cell = str(cells.iloc[row])
        parts = listed_in(cell, roles.form, roles.separator)
        if len(parts) > 1 and set(parts) & set(words):
            message = (
                f"Row {row + 1:,} lists {quoted(str(cells.iloc[row]))}: with {quoted((set(parts) & set(words)).pop())} "
                "read as nothing, only one candidate is left, and the row counts as certain."
            )
            yield "nothing-next-to-labels", message, "If it is a class, remove it from the ignored words."
            return


def _holes(table: LabelTable) -> Iterator[Odd]:
    """Label vectors without any "no", or with at least as many cells of -1 as of 0."""
    columns, vectors = table.roles.label_columns, table.label_vectors
    if vectors is None or not columns:
        return
    if not (vectors == 0).any() and (vectors < 0).any():
        message = "No cell of the label columns says no: read here, empty cells were not asked, but they may mean no."
        fix = "If an empty cell means that the label is not right, write 0 there. Accept if no one was asked."
        yield "empty-or-no", message, fix
        return
    cells = table.cells
    text = [cells[column].str.strip() for column in columns]
    minus = sum(int(one.isin(["-1", "-1.0"]).sum()) for one in text)
    zeros = sum(int(one.isin(["0", "0.0"]).sum()) for one in text)
    if minus >= zeros > 0:
        message = (
            f"The label columns say -1 in {counted(minus, 'cell')} and 0 in {zeros:,}: read here, 0 means no and -1 "
            "not asked, but it may be the other way round."
        )
        yield "minus-one", message, "If -1 means no, write 0 for it, and leave the cells empty that say 0."


def _number_for_each_class(table: LabelTable) -> Iterator[Odd]:
    """Cells with the same number of numbers in every row: 0/1 or a probability for each class."""
    column = table.roles.candidates
    if column is None or table.roles.label_vectors:
        return
    cells = set(table.cells[column].head(_ROWS).str.strip()) - {""}
    lists = [_numbers_in(cell) for cell in cells]
    width = len(lists[0]) if lists else 0
    if width < 2 or len(lists) < 2 or any(len(one) != width for one in lists):
        return
    # A list of class numbers has no duplicates.
    if any(len(set(one)) < width or any("." in number.rstrip(".0") for number in one) for one in lists):
        message = (
            f"Every cell of column {quoted(column)} holds {width} numbers, such as {quoted(min(cells))}: read here as "
            "names of classes, but they may be one number for each class: 0 or 1, or how probable it is."
        )
        fix = "If they are, write one column of numbers for each class, named like it, or the names of the classes."
        yield "vectors-in-cells", message, fix


def _numbers_in(cell: str) -> list[str]:
    """Return the numbers of a cell of numbers only: `[0, 1, 0]`, `[0. 1.]`, `0 1 0`, `tensor([0, 1])`, `010`."""
    if _BITS.fullmatch(cell):
        return list(cell)
    found = _NUMBERS.fullmatch(cell)
    return re.split(r"[\s,;|]+", found[1].strip()) if found else []


def _without_grade(name: str) -> str:
    """Return the name without shares, counts and words of certainty; unchanged if it has none."""
    joined = " ".join(name.split())  # the pattern is slow on repeated spaces
    plain = _GRADE.sub("", joined).strip()
    return name if plain == joined else plain


def _graded_names(table: LabelTable) -> Iterator[Odd]:
    """Names with different shares, counts or words of certainty: `0.8 cat`, `3x cat`, `cat (high)`."""
    if table.roles.label_columns or table.roles.score_columns or table.label_vectors is not None:
        return
    plain = {name: found for name in table.classes if (found := _without_grade(name)) not in ("", name)}
    names = set(table.classes)
    shares = [name for name in table.classes if _SHARE.fullmatch(name)]
    known = {*(name for name in table.classes if name not in plain), *plain.values()} - {""}
    inner = [name for name in table.classes if (cut := _INNER.search(name)) and name[: cut.start()].strip() in known]
    if inner := inner or [name for name in table.classes if re.search(r"\d\s*%.*\d\s*%", name, re.ASCII)]:
        message = f"{_classes(inner)} several labels with their numbers, such as {quoted(inner[0])}: read here as one."
        yield "graded-names", message, "Write another mark between the labels, as in wren:0.6|robin:0.4."
        return
    again = Counter(plain.values())
    merged = [name for name, one in plain.items() if again[one] > 1 or one in names]
    words = any(not re.fullmatch(_NUMBER, name, re.ASCII | re.IGNORECASE) for name in names)
    if shares and words and len(shares) < table.n_rows:
        message = f"{_classes(shares)} a number, such as {quoted(shares[0])}, next to classes that are words."
        fix = "If these are weights, write each behind its label, as in wren:0.6|robin:0.4."
        yield "graded-names", message, fix
    elif len(known) > 1 and 2 * len(merged) >= len(plain) > 0 and (len(merged) > 1 or _is_hedged(merged)):
        message = (
            f"{_classes(merged)} a name with a number, a mark, or a word for how sure it is, such as "
            f"{quoted(merged[0])}: read here as classes of their own, but each may be a class such as "
            f"{quoted(plain[merged[0]])} with its weight."
        )
        fix = "If they are weights, write numbers behind the labels, as in wren:0.6|robin:0.4."
        yield "graded-names", message, fix


def _ranges(table: LabelTable) -> Iterator[Odd]:
    """Classes that span others: 1-3 or A–C among single grades, and >=2 or <3."""
    known = set(table.classes)
    spans = ((name, _RANGE.fullmatch(name)) for name in table.classes)
    found = [name for name, part in spans if part and known.issuperset(filter(None, part.groups()))]
    if found and table.label_vectors is None:
        message = (
            f"{_classes(found)} made of the names of others, such as {quoted(found[0])}: read here as one class, but "
            "it may stand for all classes in that range."
        )
        yield "ranges-as-classes", message, "If it does, list all of them, as in 1|2|3."


def _is_hedged(names: list[str]) -> bool:
    """Whether a single name is enough for a doubt: low and high may belong to any name; probably and ? do not."""
    return len(names) == 1 and re.search(r"\b(high|medium|low)\b", names[0], re.IGNORECASE) is None


def _ranks(table: LabelTable) -> Iterator[Odd]:
    """Numbers after the labels of a row that are 1, 2, 3: perhaps ranks, the first the best."""
    column, roles = table.roles.candidates, table.roles
    if table.candidate_weights is None or column is None or roles.voters is not None:
        return
    cells = [cell for cell in table.cells[column].head(_FEW_ROWS).str.strip().unique() if cell]
    if roles.form == "json":
        rows = [[weight or 0.0 for _, weight in read_cell(cell) or ()] for cell in cells]
    else:
        rows = [list(map(float, _LAST.findall(cell.replace(roles.separator, "\n")))) for cell in cells]
    several = [row for row in rows if len(row) > 1]
    if len(several) > 1 and all(sorted(row) == list(range(1, len(row) + 1)) for row in rows):
        message = (
            f"The numbers of every row in column {quoted(column)} are 1, 2 and so on: read here as "
            "weights, so that the largest is the likeliest; they may be ranks."
        )
        yield (
            "ranks-as-weights",
            message,
            "If they are, leave them out, or write a larger number for a likelier label.",
        )


def _votes_in_cells(table: LabelTable) -> Iterator[Odd]:
    """Lists with duplicate labels: perhaps one vote per person."""
    column, roles = table.roles.candidates, table.roles
    if column is None or roles.form == "weighted" or roles.label_vectors or table.candidate_weights is not None:
        return
    cells = set(table.cells[column].head(_FEW_ROWS).str.strip()) - {""}
    lists = [listed_in(cell, roles.form, roles.separator) for cell in cells]
    again = [place for place, one in enumerate(lists) if len(set(one)) < len(one)]
    if len(lists) > 1 and 4 * len(again) >= len(lists) and not any(_NUMBERS.fullmatch(cell) for cell in cells):
        which = f"Every cell of column {quoted(column)} lists {len(lists[0])} labels"
        if len({len(one) for one in lists}) > 1:
            if len(again) < _DEEP:
                return  # few cells, in which a label was named twice by mistake
            which = f"Cells of column {quoted(column)} list labels"
        message = (
            f"{which}, some twice, such as {quoted(list(cells)[again[0]])}: read here as candidates that weigh the "
            "same, but they may be one vote each."
        )
        fix = "If they are, write how often each was named, as in wren:2|robin:1, or a column for each voter."
        yield "votes-in-cells", message, fix


def _ids_as_weights(table: LabelTable) -> Iterator[Odd]:
    """Whole numbers after the labels, another for each label and the same in every row: perhaps their ids."""
    weights = table.candidate_weights
    if weights is None or table.roles.candidates is None or len(table.classes) < _DEEP:
        return
    rows, classes = pairs_of(table.candidates)
    some = rows < _ROWS
    numbers = defaultdict(set)
    for label, number in zip(
        classes[some].tolist(), np.asarray(weights[rows[some], classes[some]]).tolist(), strict=True
    ):
        numbers[label].add(number)
    own = {number for one in numbers.values() for number in one if float(number).is_integer()}
    several = len(set(np.bincount(rows[some])) - {0}) > 1
    if several and len(own) == len(numbers) < max(own) and all(len(one) == 1 for one in numbers.values()):
        name, (number,) = next((table.classes[label], one) for label, one in numbers.items())
        message = (
            f"Each label has the same number in every row, as {quoted(name)} has {number:g}: read here as weights, but "
            "they may be the numbers of the labels."
        )
        yield "ids-as-weights", message, "If they are, leave them out, or write weights in their place."


def _turned_weights(table: LabelTable) -> Iterator[Odd]:
    """Weights in a column called like distances or logits."""
    column = table.roles.candidates
    if column is None or table.candidate_weights is None:
        return
    message = f"Column {quoted(column)} is called like "
    ranks_in_name = re.search(r"(?:^|_)(?:rank(?:ing)?s?|positions?)(?:_|$)", key_of(column)) is not None
    fractions = bool((table.candidate_weights % 1 != 0).any())
    if SMALL_IS_NEAR.fullmatch(key_of(column)) and not (ranks_in_name and fractions):
        message += "numbers of which the smallest is the best: read here as weights, with the largest as the best."
        yield "distances-as-weights", message, "If so, write weights instead, such as 1/(1+d) for a distance d."
    elif re.fullmatch(r"(?:\w+_)?(?:logits?|log_?prob(?:s|abilit(?:y|ies))?|log_?likelihoods?)", key_of(column)):
        message += "logarithms: read here as weights, unchanged."
        yield "logits-as-weights", message, "If they are logarithms, take the exponential first."


def _are_codes(numbers: list[list[str]], lists: list[list[str]]) -> bool:
    """Whether the numbers are those of the labels: the same ones, or one for each label, everywhere."""
    if [*map(sorted, numbers)] == [*map(sorted, lists)]:
        return True
    pairs = {pair for one, other in zip(numbers, lists, strict=True) for pair in zip(one, other, strict=True)}
    return len(pairs) == len({code for code, _ in pairs}) == len({label for _, label in pairs})


def _scores_elsewhere(table: LabelTable) -> Iterator[Odd]:
    """Another column with one number for each label that a cell lists."""
    column, roles = table.roles.candidates, table.roles
    weighted = roles.form == "weighted" or table.candidate_weights is not None
    if column is None or weighted or roles.label_vectors:
        return
    used = {name for _, name in roles.used()}
    some = table.cells.head(_FEW_ROWS)
    lists = [listed_in(cell, roles.form, roles.separator) for cell in some[column].str.strip()]
    if max(map(len, lists), default=0) < 2:
        return
    free = (str(one) for one in some.columns if one not in used and some[one].str.match(r"\s*[-+.,]*\d").any())
    found = scores_of_classes(free, table.classes)
    if len(found) > 1:
        message = (
            f"Columns {listed(found, _SHOWN)} are called like classes, with a score each: read here, they count for "
            "nothing, but they may say how probable each class is."
        )
        fix = "If they do, choose them as columns of scores, or write both in one cell, as in wren:0.6|robin:0.4."
        yield "scores-elsewhere", message, fix
        return
    # Columns of our own exports hold no scores here.
    others = [str(one) for one in some.columns if one not in used and not OWN_COLUMN.match(str(one))]
    for name in others[:_MOST_COLUMNS]:
        cells = some[name].str.strip()
        numbers = [_numbers_in(cell) for cell in cells]
        if [*map(len, numbers)] == [*map(len, lists)] and not _are_codes(numbers, lists):
            message = (
                f"Column {quoted(name)} holds a number for each label in {quoted(column)}, such as "
                f"{quoted(str(cells.iloc[0]))}: read here, it counts for nothing, but it may say how probable each is."
            )
            fix = 'If it does, write both in one cell, as in wren:0.6|robin:0.4 or {"wren": 0.6}.'
            yield "scores-elsewhere", message, fix
            return


def _other_lists(table: LabelTable) -> Iterator[Odd]:
    """Another column that lists names like the candidates' column, and no name says which of the two holds labels."""
    chosen, some = table.roles.candidates, table.cells.head(_FEW_ROWS)
    if chosen is None or OWN_COLUMN.match(chosen):
        return
    used = {name for role, name in table.roles.used() if role != "categories"}
    others = [name for name in some.columns if name not in used and not OWN_COLUMN.match(name)][:_MOST_COLUMNS]
    other = guess_list(sample_columns(some[others]))
    if other is None or not other.lists_several or is_label_key(other.column.key) != is_label_key(key_of(chosen)):
        return
    numbers = not any(map(WORD.search, other.labels))
    if numbers or len(set(other.column.cells)) == 1 or not other.labels.isdisjoint(table.classes):
        return
    message = (
        f"Column {quoted(other.column.name)} lists names as well, such as {quoted(other.column.cells[0])}: read here, "
        f"the labels are in {quoted(chosen)}, but they may be in that column."
    )
    yield "other-lists", message, "If they are, choose that column of candidates (--candidates)."


def _compared_texts(table: LabelTable) -> Iterator[Odd]:
    """Labels that say which of two texts is better, of which models would read one."""
    text = table.roles.text
    said = {key_of(name).rpartition("_")[2] for name in table.classes}
    side = None if text is None else _SIDE.search(key_of(text))
    if side is None or not said <= _SIDES:
        return
    others = [one for one in map(str, table.cells) if one not in table.roles.text_columns and _SIDE.search(key_of(one))]
    if other := next((one for one in others if _SIDE.sub("", key_of(one)) == _SIDE.sub("", key_of(str(text)))), None):
        message = f"The labels compare {quoted(str(text))} and {quoted(other)}: read here, models learn from the first."
        yield "compared-texts", message, "Choose the second as a further text, or accept that only one is read."


def _paths(table: LabelTable) -> Iterator[Odd]:
    """Lists whose parts always have the same position and the same part before them: a class and its groups."""
    column, roles = table.roles.candidates, table.roles
    if roles.choices:
        yield from _levels(table)
    if column is None or roles.form != "list" or roles.label_vectors:
        return
    cells = set(table.cells[column].head(_ROWS).str.strip()) - {""}
    if not 3 <= len(cells) <= _MOST_CELLS:
        return
    lists = [parts_of(cell, roles.separator) for cell in cells]
    above: dict[str, set[tuple[int, str]]] = defaultdict(set)
    for parts in lists:
        for place, part in enumerate(parts):
            above[part].add((place, parts[place - 1] if place else ""))
    roots = {parts[0] for parts in lists if parts}
    sizes = {len(parts) for parts in lists}
    at_one_place = all(len({place for place, _ in one}) == 1 for one in above.values())
    if (
        (min(sizes) >= _DEEP and all(len(one) == 1 for one in above.values()))
        or (len(sizes) == 1 < min(sizes) and at_one_place)
    ) and (len(roots) < len({parts[-1] for parts in lists})):
        cell = min(cells)
        message = (
            f"The parts of {quoted(cell)} and all other cells stand at one place each: read here as "
            f"{len(parts_of(cell, roles.separator))} candidates, but they may be one class and its groups."
        )
        fix = f"If they are, write another mark between them, such as {' > '!r}, or the last part alone."
        yield "paths-as-lists", message, fix


def _levels(table: LabelTable) -> Iterator[Odd]:
    """Columns of choices none of which shares a label with another, each with more labels than the one before."""
    columns = table.roles.choices
    some = table.cells[list(columns)].head(_ROWS).apply(lambda one: one.str.strip())
    named = [set(some[column]) - {""} for column in columns]
    apart = sum(map(len, named)) == len(set().union(*named))
    above = some.drop_duplicates()
    rising = all(len(mine) <= len(next_) for mine, next_ in pairwise(named)) and len(named[0]) < len(named[-1])
    nested = all(
        not above[[one, other]].drop_duplicates()[other].duplicated().any() for one, other in pairwise(columns)
    )
    if apart and rising and nested and len(above) >= _DEEP:
        message = (
            f"No label of column {quoted(columns[0])} is in {listed(columns[1:], _SHOWN)}, and each label there always "
            "has the same one before it: read here as candidates, but they may be one class and its groups."
        )
        yield "paths-as-lists", message, "If they are, keep the last column alone."


def _missing_codes(table: LabelTable) -> Iterator[Odd]:
    """Codes that statistics programs write for "no answer", far from the other class numbers."""
    if not table.classes or not all(map(_INTEGER.fullmatch, table.classes)) or table.label_vectors is not None:
        return
    numbers = sorted(int(name) for name in table.classes)
    codes = [one for one in numbers if one in _NO_ANSWER]
    most = max((abs(one) for one in numbers if one not in codes), default=0)
    far = all(abs(one) > 3 * most for one in codes)
    if not codes and numbers[-1] == _NO_ANSWER_DIGIT and numbers[-2] + _GAP <= numbers[-1]:
        codes = numbers[-1:]  # on a scale of up to 6 values, all of which occur
        far = numbers[:-1] == list(range(numbers[0], numbers[0] + len(numbers) - 1))
    if codes and len(numbers) - len(codes) > 1 and far:
        message = (
            f"{_classes([str(one) for one in codes])} {codes[0]}, far from the other numbers: read here as a class, "
            "but statistics programs write it where there is no answer."
        )
        fix = "If it means nothing, leave the cell empty, or add it to the ignored words."
        yield "missing-codes", message, fix


def _classes(found: list[tuple[str, list[str]]] | list[tuple[str, str]] | list[str]) -> str:
    return f"{counted(len(found), 'class', 'classes')} {'is' if len(found) == 1 else 'are'}"


_STOPPING: tuple[Callable[[LabelTable], Iterator[Odd]], ...] = (
    _weights_in_names,
    _json_names,
    _cut_quotes,
    _second_header,
    _sum_row,
    _thousands,
    _dates_and_formulas,
    _missing_next_to_labels,
    _holes,
    _number_for_each_class,
    _graded_names,
    _ranges,
    _ranks,
    _ids_as_weights,
    _turned_weights,
    _votes_in_cells,
    _scores_elsewhere,
    _other_lists,
    _compared_texts,
    _paths,
    _missing_codes,
    *STOPPING_SEPARATORS,
    *STOPPING_VOTES,
)
