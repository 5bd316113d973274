"""Guess the roles of columns from their names and cells; the owner confirms or changes them.

The guess is what the owner most likely *meant*: a number column with one stray word is still guessed to be numbers, so
that the stray word is reported and not silently turned into a category.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import pandas as pd

from plcore.tables.roles.cells import MISSING, NO_NAMES, without_weight
from plcore.tables.roles.facts import (
    AS_GIVEN,
    WHO_ABROAD,
    agreement_columns,
    codes_of,
    elsewhere,
    facts_of_portals,
    facts_of_workers,
    is_about_answer,
    is_date_or_split,
    is_fact,
    is_flag,
    is_from_model,
    is_from_votes,
    is_further_text,
    is_option_text,
    is_reference,
    is_text_of_item,
    names_of,
    naming_labels,
    naming_winners,
    never_labels,
    never_learnt,
    of_people,
    rarely_learnt,
    says_label_again,
    share_by_models,
    texts_of_items,
)
from plcore.tables.roles.roles import Roles, label_in_name
from plcore.tables.roles.sample import (
    DEFAULT_SEPARATOR,
    FEW_WORDS,
    PROSE,
    YES_AND_NO,
    ColumnSample,
    guess_audio,
    guess_embedding,
    guess_images,
    guess_segment,
    key_of,
    mean_of,
    parts_of,
    questions_of,
    sample_columns,
)
from plcore.tables.roles.suggested_labels import (
    CANDIDATE_NAMES,
    ListGuess,
    answers_of,
    are_vectors,
    counts_labels,
    flags_of_classes,
    guess_list,
    guess_pairs,
    guess_ranked,
    guess_scores,
    guess_voters,
    halves_of,
    scores_of_classes,
)
from plcore.tables.roles.written_lists import is_code

_NOT_LABEL_NAMES = {"not_labels", "not_label", "no_labels", "negative_labels", "absent_labels"}
_TRUTH_NAMES = {"truth", "true_label", "true_class", "ground_truth", "groundtruth", "gold", "gold_label", "true"}
_MAYBE_TRUTH_NAMES = {"label", "class", "target", "y", "answer", "species", "category"}
LABEL_NAMES = _TRUTH_NAMES | {"label", "target", "y", "answer"}
"""Column names that models may not learn from, because they hold the label."""
_DATE_OR_ADDRESS = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([ T].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}( .*)?|[^\s@]+@[^\s@]+\.\w+", re.ASCII
)
"""Dates and email addresses: neither describes an item."""
_ID_NAMES = {"id", "ids", "row_id", "item_id", "sample_id", "example_id", "instance_id", "uid", "uuid"}
_ID_LIKE = re.compile(r"(^|_)(ids?|uid|uuid|guid)$")
_ID_LAST = re.compile(r"[a-z]ID\s*$")
_NUMBERED = re.compile(
    r"(^|_)(no|nr|nummer|numéro|número|numero|номер|編號|编号|序号|番号|번호|№)$|^(lfd|laufende)_nr$"
)
_CODE = re.compile(r"(?=\D*\d)(?=[^A-Za-z]*[A-Za-z])[\w.:#-]{2,64}", re.ASCII)
_AMOUNT = re.compile(r"[\d.]+[A-Za-z%]+", re.ASCII)
"""A number followed by its unit, such as 10cm."""
_FEWEST_CODES = 20
"""Minimum number of rows for a column of distinct codes to name the rows: fewer may differ by chance."""
_COUNT = re.compile(r"_count$|^(num|n|number_of)_")
_MAYBE_ID_NAMES = {
    "index", "unnamed_0", "row", "key", "item", "case", "file", "filename",
    "file_name", "fname", "name", "code",
}  # fmt: skip
_ANNOTATOR = re.compile(
    rf"(?:{WHO_ABROAD})_?\d+|(annotator|annotation|worker|rater|coder|vote|voter|expert|labeler|labeller|judge|radiologist|pathologist|grader)"
    r"_?\w*|(?:dr|prof|mrs?|ms)_[^\W\d]+|lf_\w+|reader(?:_?\d\w*|_[a-z])|rad_?\d+(?:_\w+)?|anno?_?\d+"
)
_COUNTED = re.compile(r"(?:votes|counts)_(?!\d+$)")
_OF_FUNCTIONS = re.compile(r"(?:^|_)(?:lfs?|weak|labell?ing_functions?|snorkel|heuristics?|rules?)(?:_|$|\d)")
_PREDICTED = {"prediction", "predicted", "pred", "predicted_label", "predicted_class"}
_PEOPLE = {
    "annotators", "annotations", "workers", "raters", "coders", "votes", "voters",
    "experts", "judges", "labelers",
}  # fmt: skip
"""Columns whose cells list all annotators or all their answers."""
_LABEL_PREFIX = re.compile(r"(label|class|candidate|cand|is|has)_\w+")
_FLAG_PREFIX = re.compile(r"(is|has)_\w+")
_LAST_NUMBER = re.compile(r"_?[0-9]+$")
_LAST_PART = re.compile(r"[/._:\- ][^/._:\- ]*$")  # linear: starts at the last separator
_ARRAY = re.compile(r"[\[(][\d\s.,;e+-]+[\])]", re.ASCII)
"""Several numbers in one cell, as of a vector."""
_LISTED_NUMBERS = re.compile(r"[\d.,]+(?:\s*[|;]\s*[\d.,]+)+", re.ASCII)
"""Several numbers in a cell, one for each label that another column lists."""
MOST_VOTERS = 50
"""Maximum number of word columns that are compared to find voters: more would take seconds."""

OWN_COLUMN = re.compile(r"(before_)*winnow_")
"""Columns that an export by Winnow added."""
SOURCE_NAMES = frozenset(
    f"{name}{end}"
    for name in (
        *("source", "photo", "picture", "image", "recording", "scene", "bag", "file", "filename", "file_name"),
        *("caption", "page", "document", "burst", "sequence", "frame", "clip", "video"),
    )
    for end in ("", "_id")
)
"""Names of columns that hold the common source of several rows, if their labels are the same."""
_SURE_SOURCES = {"photo", "photo_id", "recording", "recording_id", "bag", "bag_id", "burst", "burst_id"}
"""Names of sources that are accepted even if labels differ, for example after answers."""
_SHARED = 0.2
"""Minimum share of rows with the same source as the row before, for a column to name sources."""
_FIRST_ROWS = 10_000
"""Rows examined for whether those of one source have the same labels."""


def _source(cells: pd.DataFrame, names: Iterable[str], labels: _Labels) -> str | None:
    """Return the first of these columns whose value many rows share with the row before; None if there is none.

    Most of these rows must also have the same label cells, unless the column's name is unambiguous.
    """
    first = cells.iloc[:_FIRST_ROWS]
    for name in names:
        own = first[name].str.strip()
        shared = (own.eq(own.shift()) & own.ne("")).to_numpy()
        if not shared.any() or shared.mean() < _SHARED or own.nunique() < 2:
            continue
        said = first[[*_names(labels.columns)]]
        same_labels = said.eq(said.shift()).all(axis=1).to_numpy() & (said.shape[1] > 0)
        if key_of(name) in _SURE_SOURCES or same_labels[shared].mean() > 0.5:
            return name
    return None


def suggest_roles(
    cells: pd.DataFrame, *, files: bool = False, typed: bool = False, completed: Callable[[str], str] = str
) -> Roles:
    """Suggest roles for the columns of this DataFrame of str.

    files : whether files came with the table, so that cells may name images and recordings. Both are used for features
        unless there are embeddings. A text always is.
    typed : whether the source distinguishes text from missing values, as JSON and Parquet do. NA and None are then
        names.
    completed : returns the path of the file that a cell names without its ending, or the cell itself

    Label columns are guessed to be label vectors if a cell is empty or a row has no 1, and no column holds the true
    label; so are lists of labels next to a column of labels that are not right.
    If nothing looks like candidate labels, the owner has to choose their columns.
    """
    columns = sample_columns(cells)
    # Columns that an earlier export added are neither truth nor features: the model would be tested on its own
    # predictions.
    columns = [column for column in columns if not OWN_COLUMN.match(column.name)]
    remarks = facts_of_portals(column.key for column in columns)
    columns = [column for column in columns if column.key not in remarks]
    free = {column.name: column for column in columns}

    def take(column: ColumnSample | None) -> str | None:
        return None if column is None else free.pop(column.name).name

    seen = guess_images(columns, files, completed)
    # Rows are often named by an image file, perhaps with another ending than the file itself.
    pictures = _names([column for column in seen if column.key not in _ID_NAMES] or seen)
    for name in pictures:
        free.pop(name)
    image = pictures[0] if pictures else None
    audio = take(guess_audio(list(free.values()), completed) if files else None)
    start, end = map(take, guess_segment(list(free.values())) if audio is not None else (None, None))
    embedding = take(guess_embedding(list(free.values())))
    others = next((column for column in columns if column.key in _NOT_LABEL_NAMES), None)
    given = _labels([column for column in free.values() if column is not others])
    for column in given.columns:
        take(column)
    not_labels = take(others if given.roles.candidates is not None else None)
    labels = given.labels
    # These reveal the label in a model's or a person's words, so they are not features.
    of_classes = scores_of_classes([one.name for one in free.values() if one.words < PROSE], labels)
    for name in {*of_classes, *flags_of_classes(free.values(), labels)}:
        free.pop(name)
    if (prefix := given.roles.score_prefix) and not prefix.startswith("*"):  # votes_total, next to votes_cat
        free = {name: one for name, one in free.items() if not name.strip().startswith(prefix)}
    no_truths = [one for one in free.values() if one.key not in _TRUTH_NAMES]
    for name in (*codes_of(cells, given.roles, no_truths), *of_people(given.roles.annotators, free)):
        free.pop(name, None)
    vectors = not_labels is not None or are_vectors(cells, list(given.roles.label_columns))
    unnamed = [one for one in free.values() if one.key not in _TRUTH_NAMES | _MAYBE_TRUTH_NAMES]
    for name in () if not_labels else naming_winners(cells, given.roles, unnamed):
        free.pop(name)
    for name in agreement_columns(cells, given.roles.annotators, [one for one in unnamed if one.name in free]):
        free.pop(name)
    if by_models := [one.name for one in free.values() if share_by_models(one.name, cells[one.name])]:
        gone = [one.name for one in free.values() if one.name in by_models or one.key in _MAYBE_TRUTH_NAMES]
        free = {name: one for name, one in free.items() if name not in gone}
    truth = None if not_labels else take(_truth(list(free.values()), labels, by_models=bool(by_models)))
    free = {name: one for name, one in free.items() if one.is_numbers or not _mostly(one, labels)}
    row_id = take(_id(list(free.values())))
    text = take(next(iter(texts_of_items(list(free.values()))), None))
    asked = _names(given.columns)
    named = [column.name for column in free.values() if column.key in SOURCE_NAMES]
    source = _source(cells, [*named, *(name for name in (image, audio) if name is not None)], given)
    free.pop(source or "", None)
    described = bool(text or image or audio or embedding)
    for name in naming_labels(cells, given.roles, given.labels, list(free.values())):
        free.pop(name)
    free = {name: one for name, one in free.items() if not is_option_text(one.key, [key_of(said) for said in asked])}
    if given.roles.label_columns or given.roles.candidates is not None:
        free = {
            name: one
            for name, one in free.items()
            if not (one.is_numbers and counts_labels(one, given.roles, given.columns))
        }
    numbers, categories = _features(list(free.values()), columns, described, given.roles.label_columns)
    if row_id is None and columns and columns[0].name in free.keys() - {*numbers, *categories}:
        row_id = take(columns[0]) if _names_rows(columns[0]) else None
    shown = [one for one in free.values() if one.name not in {*numbers, *categories} and is_text_of_item(one)]
    shown = [one for one in shown if not one.share(_DATE_OR_ADDRESS)]
    more_texts = _names(one for one in shown if text is not None and is_further_text(one))
    return replace(
        given.roles,
        label_vectors=vectors and truth is None,
        not_labels=not_labels,
        ignored=_missing(given, cells, typed),
        truth=truth,
        id=row_id,
        text=text,
        more_texts=more_texts,
        image=image,
        more_images=pictures[1:],
        audio=audio,
        start=start,
        end=end,
        embedding=embedding,
        source=source,
        image_features=image is not None and embedding is None,
        sound_features=audio is not None and embedding is None,
        numbers=numbers,
        categories=categories,
        caption=_names(one for one in shown if one.name not in more_texts),
    )


def _features(
    free: list[ColumnSample], columns: list[ColumnSample], described: bool, labels: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns of numbers and of words that describe the item.

    described : whether a text, image, recording or vector describes it already. Then a column is added only if its name
        and cells suggest that it describes the item, not the run or the worker, and it is not a running number.
    """
    workers = facts_of_workers(column.key for column in columns)
    tell = workers | (LABEL_NAMES | CANDIDATE_NAMES if described else frozenset())
    differ = [one for one in free if not any(never_learnt(key) or says_label_again(key) for key in names_of(one))]
    differ = [one for one in differ if one.key not in tell]
    differ = [one for one in differ if one.is_numbers or one.share(_DATE_OR_ADDRESS) < 0.5]
    differ = [one for one in differ if not one.is_constant] or ([] if described else differ)
    # Survey tools name the combined column of a question like this, next to animals/cat and animals/dog.
    stems = {_LAST_PART.sub("", name.strip()).rstrip("/._:- ") for name in labels}
    differ = [one for one in differ if not one.is_objects and one.name.strip() not in stems]
    differ = [one for one in differ if not (described and is_text_of_item(one) and one.words >= FEW_WORDS)]
    differ = [one for one in differ if one.is_numbers or mean_of(map(is_code, one.cells[:_FEWEST_CODES])) < 0.5]
    differ = [one for one in differ if one.share(_ARRAY) < 0.5 and not one.share(_LISTED_NUMBERS)]
    differ = [one for one in differ if not is_date_or_split(one)]
    # An id number measures nothing, even if it repeats.
    differ = [one for one in differ if not (one.is_numbers and (_ID_LIKE.search(one.key) or _ID_LAST.search(one.name)))]
    differ = [one for one in differ if not (_NUMBERED.search(one.key) and one.unique)]
    if any(one.is_numbers and not one.counts_rows for one in differ):  # a running number next to measurements
        differ = [one for one in differ if not one.counts_rows]
    doubtful = [
        rarely_learnt(one.key)
        or (described and (one.counts_rows or elsewhere(one) or any(map(rarely_learnt, names_of(one)))))
        for one in differ
    ]
    sure = [one for one, doubt in zip(differ, doubtful, strict=True) if not doubt]
    lost = any(one.is_numbers for one, doubt in zip(differ, doubtful, strict=True) if doubt)
    found = sure if described or not lost else differ
    if not described and not sure:
        found = []
    numbers = tuple(one.name for one in found if one.is_numbers)
    return numbers, tuple(one.name for one in found if not one.is_numbers and one.repeats)


@dataclass(frozen=True)
class _Labels:
    """The roles of the label columns, these columns, and the labels in the sampled rows."""

    roles: Roles
    columns: tuple[ColumnSample, ...] = ()
    labels: frozenset[str] = frozenset()


def _labels(columns: list[ColumnSample]) -> _Labels:
    """Guess the form of the candidates: the first that fits."""
    if (pairs := guess_pairs(columns)) is not None:
        roles = Roles(choices=_names(pairs.choices), choice_scores=_names(pairs.scores))
        return _Labels(roles, (*pairs.choices, *pairs.scores), _cells(pairs.choices))
    listed = guess_list(columns, _named_as_truth(columns))
    if listed is not None and (people := _voters_like(listed, columns)):
        return _Labels(Roles(annotators=_names(people)), tuple(people), _cells(people))
    if listed is not None:
        said = guess_voters(columns, listed)
        roles = Roles(listed.column.name, listed.separator, listed.form, voters=next(iter(_names(said)), None))
        return _Labels(roles, (listed.column, *said), frozenset(listed.labels))
    if scores := guess_scores(columns, _cells(one for one in _named_as_truth(columns) if not one.is_numbers)):
        roles = Roles(
            score_columns=_names(scores.columns), score_prefix=scores.prefix, cut=scores.cut, cut_at=scores.cut_at
        )
        return _Labels(
            roles, scores.columns, frozenset(label_in_name(name, scores.prefix) for name in roles.score_columns)
        )
    annotators = [
        column
        for column in columns
        if _ANNOTATOR.fullmatch(column.key) and not is_fact(column.key) and not is_from_votes(column.key)
    ]
    if not annotators:  # several people's answers to one question, as malignancy_r1 and malignancy_r2
        several = [found for found in questions_of(columns).values() if len(found) > 1]
        annotators = several[0] if len(several) == 1 else []
    # Next to text votes, number columns such as rater_count, vote_total or coder_age are not votes.
    words = [column for column in annotators if not column.is_numbers]
    called = {_LAST_NUMBER.sub("", column.key) for column in words}  # ann1 votes if ann2 and ann3 do
    votes = [one for one in annotators if one in words or _is_person(one.key, called)]
    annotators = votes if words else annotators
    annotators = [column for column in annotators if column.cells and not column.is_objects]
    annotators = [one for one in annotators if not (one.key in _PEOPLE or is_about_answer(one.key))]
    # Numbers in votes_cat and votes_dog count votes.
    annotators = [one for one in annotators if not (one.is_numbers and _COUNTED.match(one.key))]
    # Facts about the file are constant and are not answers: annotators would share a label.
    annotators = [one for one in annotators if not one.is_constant or _shares(one, annotators)]
    annotators = answers_of(annotators, columns)
    if len(annotators) < 2:
        annotators = _models(columns)
    if len(annotators) < 2 and (ranked := guess_ranked(columns)) is not None:
        return _Labels(Roles(choices=_names(ranked.choices)), ranked.choices, _cells(ranked.choices))
    if len(annotators) < 2:
        if bits := _label_columns(columns):
            names = _names(bits)
            return _Labels(Roles(label_columns=names), tuple(bits), frozenset(name.strip() for name in names))
        annotators = _voters(columns)
    return _Labels(Roles(annotators=_names(annotators)), tuple(annotators), _cells(annotators))


def _shares(column: ColumnSample, others: Iterable[ColumnSample]) -> bool:
    """Whether another column has one of its cells."""
    return any(not set(column.cells).isdisjoint(one.cells) for one in others if one is not column)


def _names(columns: Iterable[ColumnSample]) -> tuple[str, ...]:
    return tuple(column.name for column in columns)


def _cells(columns: Iterable[ColumnSample]) -> frozenset[str]:
    return frozenset(cell for column in columns for cell in column.cells)


def _named_as_truth(columns: list[ColumnSample]) -> list[ColumnSample]:
    return [column for column in columns if column.key in _TRUTH_NAMES | _MAYBE_TRUTH_NAMES]


def _missing(given: _Labels, cells: pd.DataFrame, typed: bool) -> tuple[str, ...]:
    """Return placeholders for "no label" among the labels, other than an empty cell.

    Such a word is a name if it is quoted, as in JSON; if it is next to other labels of a row, because ignoring it would
    make the others certain; or if one of our exports lists it as a class.
    """
    roles = given.roles
    # Class numbers start at 0; programs write negative numbers for "no label".
    whole = [label for label in given.labels if label.lstrip("-").isdecimal()]
    none = tuple(label for label in whole if label == "-1" and len(given.labels) > 2)
    none += _abstentions(given)
    if any(label.startswith("-") and label != "-1" for label in whole):
        none = _abstentions(given)
    if typed or (roles.form == "json" and roles.candidates is not None):
        return none
    columns = [*roles.annotators, *roles.choices]
    found = {cell for column in columns for cell in cells[column].unique()}.intersection(MISSING)
    if roles.candidates is not None:  # column names are always names
        found |= given.labels & set(MISSING)
    if found and roles.candidates is not None:
        lists = {tuple(parts_of(cell, roles.separator)) for cell in cells[roles.candidates].unique()}
        plain = without_weight if roles.form == "weighted" else str
        found -= {plain(part) for parts in lists if len(parts) > 1 for part in parts} - set(NO_NAMES)
    exported = [str(name) for name in cells.columns if OWN_COLUMN.match(str(name))]
    for name in exported if found else ():
        found -= {part for cell in cells[name].unique() for part in parts_of(cell, DEFAULT_SEPARATOR)}
    return (*(name for name in MISSING if name in found), *none)


def _abstentions(given: _Labels) -> tuple[str, ...]:
    """Return the words for "no vote" of labelling functions: ABSTAIN as Snorkel writes it, or any spelling in columns
    that are called like such functions. Elsewhere, people may abstain."""
    words = sorted(label for label in given.labels if label.lower() in ("abstain", "abstained"))
    of_functions = any(_OF_FUNCTIONS.search(column.key) for column in given.columns)
    others = any(not label.isupper() for label in given.labels)
    return tuple(word for word in words if of_functions or (word == "ABSTAIN" and others))


def _is_person(key: str, people: set[str]) -> bool:
    """Whether a column is named like those of `people`, except for its number."""
    return _LAST_NUMBER.search(key) is not None and _LAST_NUMBER.sub("", key) in people


def _models(columns: list[ColumnSample]) -> list[ColumnSample]:
    """Return the columns of language models' answers, if they share labels."""
    named = [one for one in columns if is_from_model(one.key) and one.repeats and not one.is_numbers]
    named = [one for one in named if not (never_labels(one.key) or is_about_answer(one.key))]
    words = [set(one.cells) for one in named]
    every = set().union(*words)
    return named if len(every) > 1 and all(2 * len(own) >= len(every) for own in words) else []


def _voters(columns: list[ColumnSample]) -> list[ColumnSample]:
    """Return three or more columns of any name with mostly the same words: votes for the same labels."""
    words = {
        column.name: set(column.cells)
        for column in columns
        if column.repeats
        and not column.is_numbers
        and column.key not in _TRUTH_NAMES | _MAYBE_TRUTH_NAMES
        and not never_labels(column.key)
        and not (is_from_votes(column.key) or is_reference(column.key) or column.key in _PREDICTED)
    }
    if len(words) > MOST_VOTERS:
        return []
    best: set[str] = set()
    for own in words.values():
        alike = {name for name, other in words.items() if len(own & other) >= len(own | other) / 2}
        labels = set().union(*(words[name] for name in alike))
        # Yes and no answer a different question in each column; they are not labels.
        if len(labels) >= 2 and not {label.lower() for label in labels} <= YES_AND_NO and len(alike) > len(best):
            best = alike
    if len(best) < 3:
        return []
    # Next to Antwort 1, Antwort 2 and Antwort 3, a column with another name is not a vote.
    stems = Counter(_LAST_NUMBER.sub("", key_of(name)) for name in best if _LAST_NUMBER.search(key_of(name)))
    if stems and 1 < (family := max(stems.values())) == len(best) - 1:
        best = {name for name in best if stems[_LAST_NUMBER.sub("", key_of(name))] == family}
    said = set().union(*(words[name] for name in best))
    truths = [set(column.cells) for column in columns if column.key in _TRUTH_NAMES | _MAYBE_TRUTH_NAMES]
    if any(len(labels - said) > len(labels) / 2 for labels in truths):
        return []  # low, medium and high next to a label that is cat or dog: measurements
    # With holes, w2 may lack a word that w1 and w3 say.
    called = {_LAST_NUMBER.sub("", column.key) for column in columns if column.name in best}
    return [
        column
        for column in columns
        if column.name in best or (_is_person(column.key, called) and column.cells and said.issuperset(column.cells))
    ]


def _voters_like(listed: ListGuess, columns: list[ColumnSample]) -> list[ColumnSample]:
    """Return the columns of several voters, one of them mistaken for a list because classes contain a separator."""
    if listed.form != "list" or listed.column.key in CANDIDATE_NAMES:
        return []
    annotators = [one for one in columns if _ANNOTATOR.fullmatch(one.key) and not one.is_numbers]
    people = annotators if listed.column in annotators and len(annotators) > 1 else _voters(columns)
    return people if listed.column in people else []


def _label_columns(columns: list[ColumnSample]) -> list[ColumnSample]:
    """Return the 0/1 columns that are labels: those named by the true label, those with a label's prefix, or all."""
    every = [column for column in columns if column.is_bits]
    bits = [one for one in every if not (is_fact(one.key) or _ID_LIKE.search(one.key) or _COUNT.search(one.key))]
    holes = any(one.has_holes for one in bits)  # an amount or id that was not asked about is a label: payment, photo_id
    more = [one for one in every if (holes and one.has_holes) or (bits and _FLAG_PREFIX.fullmatch(one.key))]
    bits = [one for one in every if one in bits or (one in more and not is_flag(one.key))]
    keys = {column.key for column in bits}  # predicted:cat, next to cat
    bits = [one for one in bits if not any(is_from_model(front) and back in keys for front, back in halves_of(one.key))]
    names = {column.name.strip() for column in bits}
    for column in columns:
        if column.key in _TRUTH_NAMES | _MAYBE_TRUTH_NAMES and column.cells:
            values = set(column.cells)
            if len(values & names) >= max(2, len(values) // 2):
                # Labels that are never true are not among the values, so take the whole run of 0/1 columns.
                places = [place for place, each in enumerate(columns) if each.name.strip() in values & names]
                first, last = places[0], places[-1]
                while first > 0 and columns[first - 1].is_bits:
                    first -= 1
                while last + 1 < len(columns) and columns[last + 1].is_bits:
                    last += 1
                return [each for each in columns[first : last + 1] if each.is_bits]
    named = [column for column in bits if _LABEL_PREFIX.fullmatch(column.key)]
    flags = all(_FLAG_PREFIX.fullmatch(column.key) for column in named)
    if flags and len(bits) - len(named) > 1:
        named = []  # cat, dog, is_blurry: the others are labels, too
    chosen = named if len(named) > 1 else bits
    if all(column.is_yes_no for column in chosen) and not any(column.has_holes for column in chosen):
        return []  # every question has an answer in every row: smokes, drinks
    if len(chosen) < 2 or (not named and _tell_nothing(chosen)):
        return []
    # An empty column among the labels is a label that was never asked.
    names = {column.name for column in chosen}
    places = [place for place, each in enumerate(columns) if each.name in names]
    first, last = places[0], places[-1]
    # Cells that mean "not asked".
    while first > 0 and columns[first - 1].cells and columns[first - 1].says_nothing:
        first -= 1
    while last + 1 < len(columns) and columns[last + 1].cells and columns[last + 1].says_nothing:
        last += 1
    run = columns[first : last + 1]
    return [each for each in run if each.name in names or each.says_nothing]


def _tell_nothing(columns: list[ColumnSample]) -> bool:
    """Whether 0/1 columns leave nothing to ask.

    True if all columns repeat one word; if fewer than two number columns vary, as with counts of a few things; or if
    two columns are opposite in every row, as two flags are (day and night).
    """
    if sum(column.differs for column in columns) < 2:
        return all(column.is_numbers or len(set(column.cells)) == 1 for column in columns)
    one, other = columns[0], columns[-1]
    if len(columns) > 2 or one.has_holes or other.has_holes:
        return False
    pairs = zip(one.cells, other.cells, strict=False)
    return all(mine.lower() != yours.lower() for mine, yours in pairs)


def _truth(columns: list[ColumnSample], labels: frozenset[str], *, by_models: bool) -> ColumnSample | None:
    """Return the true label: a column named for it, one with a similar name and label cells, or one of labels only.

    by_models : whether a column says that models gave labels: then only the name of a column can say that it is true
    """
    for column in columns:
        if column.key in _TRUTH_NAMES:
            return column
    for column in columns:
        if column.key in _MAYBE_TRUTH_NAMES and _mostly(column, labels):
            return column
    for column in columns:
        if is_from_votes(column.key) or is_from_model(column.key) or column.key in AS_GIVEN:
            continue
        if by_models and not is_reference(column.key):
            continue
        # As a category feature, a true label would reveal every answer.
        if not column.is_numbers and column.cells and mean_of(cell in labels for cell in column.cells) >= 0.95:
            return column
    return None


def _mostly(column: ColumnSample, labels: frozenset[str]) -> bool:
    return mean_of(cell in labels for cell in column.cells) >= 0.5


def _id(columns: list[ColumnSample]) -> ColumnSample | None:
    for column in columns:
        if column.key in _ID_NAMES:
            return column
    for column in columns:
        named = column.key in _MAYBE_ID_NAMES and column.words < PROSE
        if (named or column.key.endswith("_id") or _NUMBERED.search(column.key)) and column.unique:
            return column
    return None


def _names_rows(column: ColumnSample) -> bool:
    """Whether its cells are distinct codes, such as T1017."""
    codes = column.share(_CODE) == 1 and not column.share(_DATE_OR_ADDRESS) and column.share(_AMOUNT) < 0.5
    return codes and len(column.whole) >= _FEWEST_CODES and column.unique
