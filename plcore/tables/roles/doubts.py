"""Oddities of a readable table, reported before it is stored. Some of them stop the import."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from plcore.arrays import let_go
from plcore.arrays.candidate_sets import pairs_of
from plcore.arrays.types import IntArray
from plcore.arrays.words import counted, either, listed, quoted
from plcore.tables.media.file_tree import MEDIA_ENDINGS
from plcore.tables.readers.tools.detections import CONFIDENCE, ITEM, serving_columns
from plcore.tables.roles.cells import MISSING, is_weighted, without_weight
from plcore.tables.roles.facts import is_from_model, is_from_votes, share_by_models
from plcore.tables.roles.sample import DEFAULT_SEPARATOR, SELDOM, WORD, is_prose, key_of, parts_known, parts_of
from plcore.tables.roles.stops import find_stops
from plcore.tables.roles.suggested_labels import halves_of, is_label_key, listed_in
from plcore.tables.roles.suggestion import LABEL_NAMES
from plcore.tables.table import LabelTable

_VOTES = "If each row is one vote on an item, call the columns of item, person and vote task, worker and label."
SHOWN = 5  # names per sentence
_MANY = 20
_TOGETHER = 8  # number columns that are compared at a time
_FEW = 1_000
_MOST_COLUMNS = 200
_NO_NUMBERS = (-99, -999, -9999, -99999, 999, 9999, 99999)
"""Numbers that programs write where there is no value."""
_FEW_FILES = 3
_FEWEST_NAMED = 5
"""Minimum number of cells that name a class, to be evidence."""
_SAME_CAUSE = {
    "few-separators": "split-apart",
    "json-in-names": "code-in-names",
    "weights-in-names": "numbers-in-names",
}
"""Doubts that stop an import, and the minor doubt about the same cells that each replaces."""
_CODE = re.compile(r"""[\[\]{}"]|^'|'$|&(?:\w{2,6}|#\d{1,5});""")
_NO_NAME = re.compile(r"[+-]?\d+|true|false", re.ASCII | re.IGNORECASE)
_DECIMAL = re.compile(r"[+-]?\d*[.,]\d+(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_PERCENT = re.compile(r"\S.*\s[(\[]?\d+([.,]\d+)?\s*%[)\]]?", re.ASCII)
_NO_WORD = re.compile(
    r"[?.]+|_+|''|nil|\(none\)|pending|k\.? ?a\.?|missing|undefined|n\.?\s?a\.?|not available"
    r"|(?:i )?(?:don['’]?t|do not) know|dunno|idk|no idea|(?:i['’]?m )?(?:not sure|unsure)"
    r"|can(?:['’]?t|not) (?:tell|say|decide|judge)|unable to \w+|hard to (?:tell|say)|not applicable"
    r"|no[ _](?:answer|vote|label|opinion)|skip(?:ped)?|abstain|tbd|to ?do"
    r"|(?:un|not[ _-]?)(?:label|annotat|assign|tagg|cod)\w*ed|unspecified"
    r"|wei(?:ß|ss) (?:ich )?nicht|keine ahnung|unklar|unsicher|unbestimmt|unbekannt|no (?:lo )?sé|ns/nr|desconocido"
    r"|je ne sais pas|nsp|inconnu|indéterminé|não sei|desconhecido|non (?:lo )?so|не знаю|不知道|不清楚|不确定|不明"
    r"|わからない|모름"
    r"|\(?(?:no \w+|none|not|nothing) (?:listed|given|specified|assigned|selected|recorded|entered|chosen)\)?",
    re.IGNORECASE,
)  # not + and -, nor an emoji, which are labels
_DASHES = re.compile(r"[-–—]{1,3}")
_WHOLE = re.compile(r"^([+-]?\d+)\.0*$", re.ASCII)
_OF_ALL = re.compile(
    r"(all|any|both|several|more than one)( of (the above|them|these))?|either|multiple|\*"
    r"|alles?|beides?|mehrere|(?:tou(?:te)?s|tous) les (?:deux|trois)|les deux|tou(?:te)?s|plusieurs|tod[oa]s|amb[oa]s"
    r"|vari[oa]s|tutt[ie]|entramb[ie]|divers[ie]|allemaal|beiden?|meerdere"
    r"|unknown|uncertain|unclear|undecided|ambiguous|unidentified",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"(?:(?:(?:all|any|anything|everything)[\s_-]+(?:but|except)|not|non|no|nicht|keine?|pas|sin|sans)[\s_-]+|[!¬~-]\s*)(.+)",
    re.IGNORECASE,
)
_RANK_ALONE = re.compile(r"(?:unidentified|indeterminate)\s+(.+)|(.+?)\s+(?:sp|spp|spec|indet)\b\.?", re.IGNORECASE)
_SHORT_GENUS = re.compile(r"[A-Z]\. [a-z-]+.*")
_DOUBTED = re.compile(r"[?.!*]+$|\(\?\)$")
_ID_WORDS = re.compile(r"(^|_)(id|ids|key|uid|uuid|task|item|index)$")


@dataclass(frozen=True)
class Doubt:
    """Something odd about a table.

    name : of its kind, for programs      message, fix : for users, as in a `Problem`
    stops : whether nothing is stored until the user has confirmed the reading
    """

    name: str
    message: str
    fix: str
    stops: bool = False

    def __str__(self) -> str:
        return f"{self.message} Fix: {self.fix}"


def find_doubts(table: LabelTable) -> list[Doubt]:
    """Return the oddities of the table: first those that stop its import, then the others by importance."""
    stops = [Doubt(*odd, stops=True) for odd in find_stops(table)]
    told = {_SAME_CAUSE[doubt.name] for doubt in stops if doubt.name in _SAME_CAUSE}
    others = (doubt for look in _LOOKS for doubt in look(table))
    return [*stops, *(doubt for doubt in others if doubt.name not in told)]


def _many_classes(table: LabelTable) -> Iterator[Doubt]:
    """Most labels repeat. Cells of a wrong column, or split at a wrong separator, mostly do not."""
    rows, classes = table.n_rows, len(table.classes)
    if classes <= _MANY or table.roles.label_columns or table.roles.score_columns:
        return
    once = int((np.bincount(pairs_of(table.candidates)[1], minlength=classes) <= 1).sum())
    if 2 * once > classes:
        of_rows, first = counted(rows, "row"), _some(table.classes)
        message = f"There are {classes:,} classes for {of_rows}, the first of them {first}."
        yield Doubt("many-classes", message, "If these are not labels, choose another column or separator.")


def _code_in_names(table: LabelTable) -> Iterator[Doubt]:
    names = table.classes
    if is_weighted(names):
        message = f"The class names hold numbers: {_some(names)}."
        yield Doubt("numbers-in-names", message, "If they are scores or counts, choose the form “list with numbers”.")
    elif len(found := [name for name in names if _PERCENT.fullmatch(name)]) > len(names) / 2:
        message = f"Most class names end with a percentage: {_some(found)}."
        yield Doubt("numbers-in-names", message, "If these are weights, write them as in wren:60%.")
    elif found := [name for name in names if _CODE.search(name)]:
        message = f"Class names hold brackets or quotes, as code does: {_some(found)}."
        yield Doubt("code-in-names", message, "If the cells are JSON or Python lists, choose that form.")
    elif len(found := [name for name in names if _DECIMAL.fullmatch(name)]) > len(names) / 2:
        message = f"Most class names are decimal numbers: {_some(found)}."
        yield Doubt("numbers-as-names", message, "If this column holds scores, choose it as a column of scores.")


def _read_numbers(table: LabelTable) -> Iterator[Doubt]:
    """The number may be a count, or a part of the name as in ICD10:250."""
    column, weights = table.roles.candidates, table.candidate_weights
    if column is None or table.roles.form != "weighted":
        return
    if weights is None or bool((weights == np.floor(weights)).all()):
        cell = next((cell for cell in table.cells[column] if cell.strip()), "")
        message = f"The numbers after the names were read as weights, as in {quoted(cell)}: all of them are whole."
        yield Doubt("numbers-as-weights", message, "If they belong to the names, choose the form “list”.")


def _listed_twice(table: LabelTable) -> Iterator[Doubt]:
    """Cells that name a label twice, each time with a number."""
    column, weights = table.roles.candidates, table.candidate_weights
    if column is None or weights is None or table.roles.form == "list":
        return
    for cell in table.cells[column].head(_FEW).str.strip().unique():
        parts = listed_in(cell, table.roles.form, table.roles.separator)
        names = [without_weight(part, loose=True) for part in parts] if table.roles.form == "weighted" else parts
        if len(set(names)) < len(names):
            whole = bool((weights == np.floor(weights)).all())
            counts = "all numbers are whole, so they are added up" if whole else "the highest number counts"
            name = Counter(names).most_common(1)[0][0]
            message = f"{quoted(cell)} names {quoted(name)} more than once: {counts}."
            yield Doubt("listed-twice", message, "If that is wrong, name each label once.")
            return


def _split_apart(table: LabelTable) -> Iterator[Doubt]:
    """Names split at a comma or a rare separator into parts that no other cell has."""
    column, mark = table.roles.candidates, table.roles.separator
    if column is None or table.roles.form != "list" or mark not in (*SELDOM, ","):
        return
    cells = table.cells[column].str.strip().unique().tolist()
    known = parts_known(cells, mark)
    split = [parts_of(cell, mark) for cell in cells]
    odd = [cell for cell, parts in zip(cells, split, strict=True) if len(parts) > 1 and not known & set(parts)]
    if mark == ",":  # usual separator: only reported if most split cells have no known part
        odd = odd if 2 * len(odd) > sum(len(parts) > 1 for parts in split) else []
    else:
        odd += [cell for cell, parts in zip(cells, split, strict=True) if parts != [cell] and len(parts) < 2]
    if odd:
        message = f"Cells were split at {quoted(mark)}, into parts that nothing else names: {_some(odd)}."
        fix = f"If these are one label each, write another mark between labels, such as {DEFAULT_SEPARATOR}."
        yield Doubt("split-apart", message, fix)
        return
    again = Counter(part for parts in split for part in set(parts))
    pairs = Counter(pair for parts in split for pair in pairwise(parts))
    always = [pair for pair, n in pairs.items() if n > 1 and n == again[pair[0]] == again[pair[1]]]
    if mark == "," and always and any(", ".join(always[0]) in cell for cell in cells):
        message = f"{quoted(', '.join(always[0]))} was split into two labels, which occur together in every row of "
        message += "either."
        yield Doubt("split-apart", message, f"If it is one label, write another mark, such as {DEFAULT_SEPARATOR}.")


def _no_header(table: LabelTable) -> Iterator[Doubt]:
    """Label columns named like labels: the first row was taken for the header."""
    roles, classes = table.roles, set(table.classes)
    columns = [column for column in (roles.candidates, *roles.annotators, *roles.choices, roles.truth) if column]
    odd = [column for column in columns if set(parts_of(column, roles.separator)) <= classes]
    if odd:
        message = f"The header holds labels: {_some(odd)}."
        fix = "If the first line is a row, put a line with the names of the columns above it."
        lists = any(len(parts_of(column, roles.separator)) > 1 for column in odd)
        yield Doubt("no-header", message, fix, stops=lists or is_prose([roles.text or ""]))


def _names_alike(table: LabelTable) -> Iterator[Doubt]:
    alike: dict[str, list[str]] = defaultdict(list)
    for name in table.classes:
        if _NEGATED.fullmatch(name) is None:
            alike[_plain(name)].append(name)
    groups = [names for names in alike.values() if len(names) > 1]
    if groups:
        shown = "; ".join(" and ".join(map(quoted, names[:SHOWN])) for names in groups[:SHOWN])
        message = f"Class names are equal but for capitals, accents, spaces or a question mark: {shown}."
        yield Doubt(
            "names-alike", message, "If they are the same, write them alike, or merge them once the project is made."
        )
    short = {name for name in table.classes if _SHORT_GENUS.match(name)}
    for name in table.classes:
        if (cut := f"{name[:1]}. {name.partition(' ')[2]}") in short and cut != name:
            message = f"{quoted(cut)} and {quoted(name)} are two classes, but one may be the other, shortened."
            yield Doubt("names-alike", message, "If it is, write the name in full.")
            return


def _plain(name: str) -> str:
    """Normalise a name: no capitals, accents, spaces, hyphens or trailing marks of doubt; 1 for 1.0."""
    parts = unicodedata.normalize("NFKD", _WHOLE.sub(r"\1", name).casefold())
    letters = re.sub(r"[\s_\-]+", "", "".join(part for part in parts if not unicodedata.combining(part)))
    return _DOUBTED.sub("", letters) or letters


def _nothing_names(table: LabelTable) -> Iterator[Doubt]:
    read = table.roles.ignored
    if read:
        message = f"{listed(read)} among the labels {'is' if len(read) == 1 else 'are'} read as an empty cell."
        yield Doubt("read-as-empty", message, "If it is a class, remove it from the ignored words.")
    dashes = [name for name in table.classes if _DASHES.fullmatch(name)]
    dashes = dashes if all(WORD.search(name) for name in table.classes if name not in dashes) else []
    empty = {name for name in table.classes if name in dashes or _NO_WORD.fullmatch(name)}
    if kept := [name for name in table.classes if name in MISSING or name in empty]:
        message = f"{listed(kept)} {'is a class' if len(kept) == 1 else 'are classes'} of this table; " + (
            "programs and people write such where they have nothing."
        )
        rows, classes = pairs_of(table.candidates)
        alone = {table.classes[one] for one in np.unique(classes[np.bincount(rows)[rows] == 1])}
        stops = _are_in_cells(table) and not alone.isdisjoint(empty)
        yield Doubt("nothing-as-class", message, "If it means nothing, add it to the ignored words.", stops)


def _numbers_among_names(table: LabelTable) -> Iterator[Doubt]:
    """Numbers, true or false in a few rows, where all other classes are words."""
    found = {place: name for place, name in enumerate(table.classes) if _NO_NAME.fullmatch(name)}
    others = [name for place, name in enumerate(table.classes) if place not in found]
    if not _are_in_cells(table) or not found or not all(map(WORD.search, others)):
        return
    rows, classes = pairs_of(table.candidates)
    holding = len(np.unique(rows[np.isin(classes, list(found))]))
    if 0 < holding <= table.n_rows / 10:
        names, of_rows = listed([*found.values()]), counted(holding, "row")
        message = f"{names} {either(len(found), 'is a class', 'are classes')} of {of_rows}; all others are words."
        yield Doubt("numbers-as-names", message, "If it is the number of a label, write its name.", stops=True)


def _are_in_cells(table: LabelTable) -> bool:
    """Whether cells hold the labels, in lists or as votes; otherwise they are names of columns."""
    roles = table.roles
    return roles.candidates is not None or bool(roles.annotators or roles.choices)


def _almost_labels(table: LabelTable) -> Iterator[Doubt]:
    """Number columns that are features only because a few cells differ from those of the 0/1 label columns."""
    for column in table.roles.numbers if table.roles.label_columns else ():
        cells = _filled(table, column)
        odd = cells[~cells.isin(("0", "1", "0.0", "1.0"))]
        if 0 < len(odd) <= len(cells) / 10:
            message = f"Column {quoted(column)} holds {_some(odd.unique().tolist())}, otherwise 0 and 1 like the label "
            message += "columns. It is a feature, not a label."
            yield Doubt("almost-label", message, "If it is a label, write 0 and 1 in all of its cells.", stops=True)


def _scale_of_scores(table: LabelTable) -> Iterator[Doubt]:
    """Scores of a few rows that are far above those of all others, such as a percentage among shares."""
    weights = table.candidate_weights
    if weights is None or bool((weights == np.floor(weights)).all()):
        return
    highest = np.sort(weights.max(axis=1))
    usual = float(highest[int(0.9 * (len(highest) - 1))])
    if usual <= 1 and float(highest[-1]) > 10:
        rows = int((highest > 10).sum())
        message = f"{counted(rows, 'row')} {either(rows, 'has', 'have')} scores up to {highest[-1]:g}, and most others "
        message += f"at most {usual:g}."
        yield Doubt("scale-of-scores", message, "If these are percentages, write them as the others.", stops=True)


def _prose_in_names(table: LabelTable) -> Iterator[Doubt]:
    """Classes that are sentences, as language models answer: all with the same first words, or a few among others."""
    names = table.classes
    if len(names) < 2 or table.roles.label_columns or table.roles.score_columns:
        return
    first, last = min(names), max(names)
    same = next((place for place, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    head = first[:same].rpartition(" ")[0].rstrip()
    if (head.endswith(":") and head != ":") or (len(head.split()) > 2 and all(map(str.isalpha, head.split()))):
        message = f"All class names begin with {quoted(head)}, so that they may be sentences."
        yield Doubt("prose-in-names", message, "If they are, write only the labels, with a mark between several.")
        return
    said = [name for name in names if name.endswith((".", "!", "?")) and len(name.split()) > 3]
    if 0 < len(said) < len(names) / 2:
        message = f"{listed(said, SHOWN)} {'is a sentence' if len(said) == 1 else 'are sentences'} next to short names."
        yield Doubt("prose-in-names", message, "If it says that there is no label, leave the cell empty.")


def _several_meant(table: LabelTable) -> Iterator[Doubt]:
    """Classes that may stand for several others: a row with only one of them counts as decided."""
    if found := [name for name in table.classes if _OF_ALL.fullmatch(name)]:
        what = "is a class" if len(found) == 1 else "are classes"
        message = f"{listed(found)} {what} of this table: a row with it alone "
        message += "counts as decided, though it may mean several of the others."
        yield Doubt("several-meant", message, "If it does, list the labels that it means.")
    known = {name.casefold().lstrip("+ ") for name in table.classes}
    parts = ((name, _NEGATED.fullmatch(name)) for name in table.classes)
    negated = [name for name, part in parts if part is not None and part[1].casefold() in known]
    if negated and len(table.classes) - len(negated) > 1:  # otherwise spam and not spam are the two classes
        message = f"{listed(negated)} {'is a class' if len(negated) == 1 else 'are classes'} of this table, and so is "
        message += "the name without the negation. A row with it alone counts as decided, though it may rule out one "
        message += "label and leave the others."
        yield Doubt("several-meant", message, "If it does, list the labels that are left.", stops=_are_in_cells(table))
    ranks = ((name, _RANK_ALONE.fullmatch(name)) for name in table.classes)
    groups = {name: next(filter(None, part.groups()), "") for name, part in ranks if part is not None}
    within: dict[str, list[str]] = {group: [] for group in groups.values() if group}
    for name in table.classes if within else ():
        for group in within.keys() & {name, *name.split(" ")}:
            within[group].append(name)
    for name, group in groups.items():
        if below := [one for one in within.get(group, ()) if one != name]:
            message = f"{quoted(name)} is a class of this table, and so is {quoted(below[0])}: a row with it alone "
            message += "counts as decided, though it may mean the other as well."
            yield Doubt("several-meant", message, "If it does, list the labels that it means.")
            return


def _unmatched_truth(table: LabelTable) -> Iterator[Doubt]:
    """A column named like a true label whose cells are not classes: letters or numbers of choices."""
    if table.truth is not None or table.label_vectors is not None:
        return
    used = {column for role, column in table.roles.used() if role != "categories"}
    classes, lists = set(table.classes), table.roles.candidates
    called = LABEL_NAMES if lists is None or is_label_key(key_of(lists)) else LABEL_NAMES | {"species", "class"}
    for column in map(str, table.cells.columns):
        if column in used or key_of(column) not in called:
            continue
        cells = set(table.cells[column].head(_FEW).str.strip()) - {""}
        if cells and not cells & classes:
            message = f"Column {quoted(column)} is called like one of true labels, but its cells, such as "
            message += f"{quoted(min(cells))}, name no class: "
            message += "it is learnt from." if column in table.roles.categories else "it is not used."
            yield Doubt("unmatched-truth", message, "If they are, write the names of the classes.")


def _no_question(table: LabelTable) -> Iterator[Doubt]:
    if table.label_vectors is not None:
        if (table.label_vectors >= 0).all():
            message = "Every label of every row is known already: there is nothing to ask."
            yield Doubt("nothing-to-ask", message, "Leave cells empty if no one was asked.")
    elif (table.candidates.sum(axis=1) <= 1).all():
        message = "Every row has one candidate already, so there is nothing to ask."
        fix = f"If a cell lists several labels, check the separator. {_VOTES}"
        yield Doubt("nothing-to-ask", message, fix)


def _repeated_ids(table: LabelTable) -> Iterator[Doubt]:
    if table.roles.id is not None:
        return
    used = {column for _, column in table.roles.used()} | serving_columns(table.cells)
    for column in table.cells.columns:
        key = re.sub(r"\W+", "_", str(column).strip().lower())
        if column in used or not _ID_WORDS.search(key):
            continue
        again = int(table.cells[column].duplicated().sum())
        if again:
            message = (
                f"Column {quoted(column)} looks like an id, but {counted(again, 'row')} "
                f"{either(again, 'repeats', 'repeat')} one, so it is not used."
            )
            yield Doubt("repeated-ids", message, f"Give each row an id. {_VOTES}")


def _leaks(table: LabelTable) -> Iterator[Doubt]:
    """Features that reveal the label: they would make every figure look too good."""
    truth = np.full(table.n_rows, -1) if table.truth is None else table.truth
    known, classes = truth >= 0, set(table.classes)
    told, cells = [], table.cells
    for column in table.roles.categories:
        values = cells[column].str.strip()
        names_labels = values.nunique() >= 2 and set(values.unique()) - {""} <= classes
        if names_labels or _tells(values[known], truth[known]):
            told.append(column)
    rows = np.flatnonzero(known)
    labels = len(np.unique(truth[rows]))
    few = table.numbers[rows[:_FEW]].T
    may_tell = [place for place, numbers in enumerate(few) if not _differ(pd.Series(numbers), labels)]
    for start in range(0, len(may_tell), _TOGETHER):  # the matrix is stored row by row
        places = may_tell[start : start + _TOGETHER]
        for place, numbers in zip(places, table.numbers[np.ix_(rows, np.array(places))].T, strict=True):
            if _tells(pd.Series(numbers), truth[rows]):
                told.append(table.roles.numbers[place])
        let_go()
    if told:
        message = f"{listed(told[:SHOWN])} reveals the label: every value occurs with only one label."
        fix = "If it was derived from the label, take it from the features; figures would be too good."
        yield Doubt("leak", message, fix)


def _tells(values: pd.Series[str] | pd.Series[float], truth: IntArray) -> bool:
    """Whether there are few values, each with a single label, and they distinguish the labels."""
    labels = len(np.unique(truth))
    if _differ(values.iloc[:_FEW], labels):
        return False
    distinct = values.nunique()
    if labels < 2 or distinct < labels or distinct > 2 * labels or distinct > len(values) / 3:
        return False
    return bool(pd.Series(truth).groupby(values.to_numpy()).nunique().max() == 1)


def _differ(few: pd.Series[str] | pd.Series[float], labels: int) -> bool:
    """Whether even these few rows have too many values for this number of labels, as in most number columns."""
    return bool(few.nunique() > 2 * labels)


def _codes_as_numbers(table: LabelTable) -> Iterator[Doubt]:
    """Numbers such as -9999, several times and far from all others: programs write them where there is no value."""
    for place, column in enumerate(table.roles.numbers[:_MOST_COLUMNS]):
        numbers = table.numbers[:_FEW, place]
        for code in (one for one in _NO_NUMBERS if np.count_nonzero(numbers == one) > 1):
            others = numbers[(numbers != code) & ~np.isnan(numbers)]
            if len(others) and abs(code) > 3 * np.abs(others).max():
                times = counted(int(np.count_nonzero(numbers == code)), "time")
                message = (
                    f"Column {quoted(column)} holds {code} {times}, far from its other numbers: it is learnt from."
                )
                yield Doubt("codes-as-numbers", message, "If it means that there is no value, leave the cells empty.")
                break


def _unheard(table: LabelTable) -> Iterator[Doubt]:
    if table.media.sounds is None or table.media.audio is None:
        return
    silent = int((np.isnan(table.media.sounds[:, 0]) & (table.media.audio != "")).sum())
    if silent:
        message = f"Recordings that cannot be decoded, so that they play but nothing is learnt from them: {silent:,}."
        yield Doubt("unheard", message, "Save them as WAV, FLAC, Ogg or MP3.")


def _inexact_paths(table: LabelTable) -> Iterator[Doubt]:
    """Files that cells name by a part of their path, without their ending, or with other folders."""
    found: Mapping[str, str] = {} if table.media.files is None else table.media.files.inexact
    if found:
        some = "; ".join(f"{quoted(cell)} is {quoted(path)}" for cell, path in list(found.items())[:_FEW_FILES])
        more = f" and {len(found) - _FEW_FILES:,} more" if len(found) > _FEW_FILES else ""
        was, paths = either(len(found), "was", "were"), either(len(found), "its path", "their paths")
        message = f"{counted(len(found), 'file')} {was} found by the end of {paths}: {some}{more}."
        yield Doubt("inexact-paths", message, "If a cell means another file, write its whole path.")


def _no_pictures(table: LabelTable) -> Iterator[Doubt]:
    """Images or recordings that cells name but that were not imported, although other columns are learnt from."""
    roles = table.roles
    cells = table.cells
    columns = set(cells.columns)
    if roles.text or roles.image or roles.audio or roles.embedding or {ITEM, CONFIDENCE} <= columns:
        return  # the readers of tools report this themselves
    learnt = [*roles.numbers, *roles.categories]
    idle = columns.difference(learnt)
    for column in (one for one in map(str, cells.columns) if one in idle):
        files = [re.split("[?#]", cell.strip(), maxsplit=1)[0].lower() for cell in cells[column].head(_FEW)]
        if 2 * sum(file.endswith(MEDIA_ENDINGS) for file in files) > len(files):
            message = f"Column {quoted(column)} names pictures or recordings that are not there: no one sees or hears "
            message += f"them, and only {listed(learnt, SHOWN)} distinguishes the rows."
            yield Doubt("no-media", message, "Put the files into one zip with the table.")
            return


def _labels_of_models(table: LabelTable) -> Iterator[Doubt]:
    """A column of labels next to one that says that models gave some of them: a model's label is never the truth."""
    givers = list(_by_models(table))
    if columns := [*_cells_by_models(table), *(givers if table.roles.label_vectors else ())]:
        message = f"Some labels were given by models, by {_some(columns)}: read here, they are known."
        yield Doubt("labels-of-models", message, "If they are not, empty their cells.", stops=True)
    elif givers:
        used = {column for _, column in table.roles.used()} | serving_columns(table.cells) | {*givers}
        idle = [str(one) for one in table.cells.columns if one not in used]
        named = [one for one in idle if _filled(table, one).isin(table.classes).mean() > 0.5]
        all_models = all(share_by_models(one, table.cells[one]) == 1 for one in givers)
        if named:
            whose = "models" if all_models else "models and by others"
            message = (
                f"By column {listed(givers)}, the labels in {listed(named)} were given by {whose}: none is a true "
                "label here."
            )
            people = "" if all_models else "those of people are true, empty the cells of the models and choose it"
            fix = f"If {people or 'it holds true labels, choose it'} as the column of true labels (--truth)."
            yield Doubt("labels-of-models", message, fix, stops=not all_models)


def _cells_by_models(table: LabelTable) -> Iterator[str]:
    """Yield the columns such as `source:cat` that say that models gave filled cells of the label column `cat`."""
    labels = {key_of(one): one for one in table.roles.label_columns}
    for column in map(str, table.cells.columns) if labels else ():
        for word, key in halves_of(key_of(column)):
            if (label := labels.get(key)) is not None:
                known = table.cells[label].str.strip() != ""
                if share_by_models(word, table.cells[column][known]):
                    yield column


def _by_models(table: LabelTable) -> Iterator[str]:
    """Yield the columns that say that models gave labels; none if the table has true labels, or if an earlier version
    of Winnow exported it: its labels are those of this project."""
    own = f"{table.roles.candidates}_before" in table.cells
    for column in () if own or table.roles.truth is not None else map(str, table.cells.columns):
        if share_by_models(column, table.cells[column]):
            yield column


def _unused(table: LabelTable) -> Iterator[Doubt]:
    """Columns without a role. One whose cells mostly name classes may hold true labels, some of which the lists do not
    have."""
    used = {column for _, column in table.roles.used()} | serving_columns(table.cells)
    idle = [str(column) for column in table.cells.columns if column not in used]
    if truth := next((column for column in idle if _may_be_truth(table, column)), None):
        idle.remove(truth)
        cells = _filled(table, truth)
        others = _some(cells[~cells.isin(table.classes)].unique().tolist())
        message = f"Most cells of {quoted(truth)} name a class, but others do not: {others}. The column is ignored."
        yield Doubt("may-be-truth", message, "If it holds true labels, choose it as the column of true labels.")
    if idle:
        message = f"Nothing is learnt from {_some(idle)}: kept and exported, not shown."
        yield Doubt("unused", message, "If it describes a row, choose it as a feature.")


def _may_be_truth(table: LabelTable, column: str) -> bool:
    roles, key = table.roles, key_of(column)
    if roles.truth or roles.label_columns or is_from_votes(key) or is_from_model(key) or any(_by_models(table)):
        return False
    known = _filled(table, column).isin(table.classes)
    return bool(_FEWEST_NAMED <= known.sum() < len(known) <= 2 * known.sum())


def _filled(table: LabelTable, column: str) -> pd.Series[str]:
    """Return the first cells of a column that hold a word."""
    cells = table.cells[column].head(_FEW).str.strip()
    return cells[~cells.isin(["", *MISSING])]


def _cut_away(table: LabelTable) -> Iterator[Doubt]:
    roles = table.roles
    if roles.cut != "threshold" or table.candidate_weights is None or roles.scored_by is not None:
        return
    under = int((table.candidate_weights.max(axis=1) < table.roles.cut_at).sum())
    if under:
        where = f"In {counted(under, 'row')}"
        message = f"{where} no label reaches {table.roles.cut_at:g}: all their labels stay candidates."
        yield Doubt("under-threshold", message, "Choose a lower threshold if that is too many.")


def _some(names: tuple[str, ...] | list[str]) -> str:
    shown = ", ".join(quoted(name) for name in names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN:,} more"


_LOOKS: tuple[Callable[[LabelTable], Iterator[Doubt]], ...] = (
    _no_header,
    _no_question,
    _code_in_names,
    _read_numbers,
    _listed_twice,
    _split_apart,
    _many_classes,
    _repeated_ids,
    _leaks,
    _names_alike,
    _nothing_names,
    _numbers_among_names,
    _almost_labels,
    _scale_of_scores,
    _several_meant,
    _prose_in_names,
    _unmatched_truth,
    _cut_away,
    _codes_as_numbers,
    _unheard,
    _inexact_paths,
    _no_pictures,
    _labels_of_models,
    _unused,
)
