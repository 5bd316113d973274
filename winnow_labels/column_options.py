"""Options of `winnow import` and `winnow compare` about a file and its columns: one option per role."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import click

from winnow_labels.places import FileToRead

COLUMNS = {
    "candidates": "The column that lists the candidates.",
    "not-labels": "With --label-vectors: the column of labels that are not right.",
    "voters": "With --candidates: the column of annotators per label, as JSON.",
    "truth": "The column of true labels.",
    "id": "The column that names the rows.",
    "text": "The column of the text to show.",
    "image": "The column of images, or of their files' names.",
    "audio": "The column of the recordings' names.",
    "start": "The column of seconds at which segments of recordings begin.",
    "end": "The column of seconds at which segments of recordings end.",
    "embedding": "The column of vectors, lists of numbers, that your own model computed for the rows.",
    "source": "The column of the photo, recording or scene that several rows come from.",
}
"""Roles of one column each; "" means that no column has the role."""

LISTS = {
    "label-column": (
        "label_columns",
        "A 0/1 column, or with --label-vectors a 1/0/empty column, named like its label.",
    ),
    "annotator": ("annotators", "A column with the votes of one annotator."),
    "choice": ("choices", "A column with one candidate per row; name the best column first."),
    "choice-score": ("choice_scores", "The column of scores of a --choice, in the same order."),
    "score-column": ("score_columns", "A column of scores, probabilities or vote counts of one label."),
    "ignore": (
        "ignored",
        'A further placeholder that means “no label”, such as nan; give "" first to replace the guessed ones.',
    ),
    "more-text": (
        "more_texts",
        "A further text of the same row, such as the premise of a hypothesis; displayed and learnt from.",
    ),
    "more-image": ("more_images", "A further column of images of the same row."),
    "number": ("numbers", "A column of numbers to learn from."),
    "category": ("categories", "A column of words to learn from."),
    "caption": (
        "caption",
        "A column to display next to the row's name, such as a date or a place; never used for training.",
    ),
}
"""Roles of several columns, an option for each column; "" alone means that no column has the role."""


def column_options(command: Callable[..., object]) -> Callable[..., object]:
    """Add the options; the command gets them as `columns`, a mapping for `workflow.importing.adjusted`.
    Options not given are guessed."""

    def told(**options: object) -> object:
        chosen = {name: options.pop(name) for name in _NAMES}
        return command(columns={name: _given(value) for name, value in chosen.items()}, **options)

    told.__doc__ = command.__doc__
    told.__click_params__ = list(getattr(command, "__click_params__", []))  # type: ignore[attr-defined]
    for option in reversed(_OPTIONS):
        told = option(told)
    return told


def file_options(command: Callable[..., object]) -> Callable[..., object]:
    """Add `--rows`, `--embeddings`, `--as-it-is`, `--item`, `--unfinished` and `--classes`, which describe FILE; the
    command gets `files`, `FileOptions`, which `winnow_labels.places.on_disk` turns into arguments of
    `workflow.importing.read_paths`."""
    rows = click.option(
        "--rows", type=FileToRead(dir_okay=False), help="The table of the rows, if FILE holds only votes or candidates."
    )
    as_it_is = click.option("--as-it-is", is_flag=True, help="Take each row as an item, though it looks like a vote.")
    vectors = click.option(
        "--embeddings",
        "vectors",
        type=FileToRead(dir_okay=False),
        help="Vectors of the rows by id, made by your own model: .npz, Parquet, or the output of `encode`.",
    )

    item = click.option(
        "--item",
        type=click.Choice(["picture", "detection", "frame", "media", "event"]),
        help="What an item of MegaDetector's file is: a picture or video (default), a detection in it, or a frame; and "
        "of Camtrap DP: a medium (default) or an event.",
    )
    unfinished = click.option(
        "--unfinished",
        type=click.Choice(["leave-out", "count"]),
        help="Answers of people who did not finish a survey. Default: left out, once you accept that.",
    )

    classes = click.option(
        "--classes", help="The classes, with commas between them, if nothing in FILE is labelled yet: each is possible."
    )

    def told(
        rows: str | None,
        vectors: str | None,
        as_it_is: bool,
        item: str | None,
        unfinished: str | None,
        classes: str | None,
        **options: object,
    ) -> object:
        chosen = {"item": item, "unfinished": unfinished, "classes": classes}
        ways = {name: value for name, value in chosen.items() if value is not None}
        return command(files={"rows": rows, "vectors": vectors, "as_it_is": as_it_is, "ways": ways}, **options)

    told.__doc__ = command.__doc__
    told.__click_params__ = list(getattr(command, "__click_params__", []))  # type: ignore[attr-defined]
    return rows(vectors(as_it_is(item(unfinished(classes(told))))))


def setting_option(command: Callable[..., object]) -> Callable[..., object]:
    """Add `--setting NAME=VALUE`, which may be repeated; the command gets `settings`, a mapping."""
    return click.option(
        "--setting",
        "settings",
        multiple=True,
        metavar="NAME=VALUE",
        callback=_settings,
        help="How the project learns and asks, such as model=plsvc, truth_role=hidden, test_share=0.2.",
    )(command)


def _settings(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> Mapping[str, object]:
    found = {}
    for one in given:
        name, sign, value = one.partition("=")
        if not sign:
            raise click.BadParameter(f"expected NAME=VALUE. Got {one!r}.")
        try:
            found[name.strip()] = json.loads(value)
        except ValueError:
            found[name.strip()] = value
    return found


def _given(value: object) -> object:
    """Return None if the option was not given."""
    return None if value == () else value


_OPTIONS = (
    *(click.option(f"--{name}", help=f'{words} "" for none. Default: guessed.') for name, words in COLUMNS.items()),
    click.option(
        "--vote-weights",
        type=click.Choice(["counts", "dawid-skene"]),
        help="Whether votes count equally or by the voter's estimated accuracy. Default: equally.",
    ),
    click.option("--separator", help="Separator between candidates; |, splits at both characters. Default: guessed."),
    click.option(
        "--form",
        type=click.Choice(["list", "weighted", "json"]),
        help="How a cell of candidates is written: a|b, a:0.6|b:0.3, or JSON. Default: guessed.",
    ),
    *(
        click.option(f"--{name}", role, multiple=True, help=f'{words} Can be repeated, "" for none. Default: guessed.')
        for name, (role, words) in LISTS.items()
    ),
    click.option(
        "--score-prefix",
        help="Prefix of the score columns' names, such as p_, or a pattern such as *_prob. Default: guessed.",
    ),
    click.option(
        "--cut",
        type=click.Choice(["all", "threshold", "top", "mass"]),
        help="Which labels with weights are candidates: all, or those that --cut and --cut-at select.",
    ),
    click.option(
        "--cut-at",
        type=float,
        help="The threshold, the number of labels, or the share of the weight. Default: 0.1, 5 or 0.95.",
    ),
    click.option(
        "--unlabelled",
        type=click.Choice(["refuse", "all", "leave-out"]),
        help="Rows without a candidate: refuse the file, keep every class possible, or leave them out. Default: "
        "refuse.",
    ),
    click.option(
        "--truth-outside",
        type=click.Choice(["refuse", "add", "unknown"]),
        help="True labels that are not candidates of their row: refuse the file, add them, or take them as unknown. "
        "Default: refuse.",
    ),
    click.option("--label-vectors/--one-label", default=None, help="Whether several labels may be right at once."),
    click.option("--image-features/--no-image-features", default=None, help="Whether to learn from the images."),
    click.option("--sound-features/--no-sound-features", default=None, help="Whether to learn from the recordings."),
)
_NAMES = (
    *(name.replace("-", "_") for name in COLUMNS),
    *(role for role, _ in LISTS.values()),
    "vote_weights", "separator", "form", "score_prefix", "cut", "cut_at", "label_vectors", "image_features",
    "sound_features", "unlabelled", "truth_outside",
)  # fmt: skip
