"""Declarations of this plug-in. They are imported wherever Winnow runs, so this imports nothing heavy."""

from plcore.loop import ModelPlugin
from plcore.query import StrategyPlugin
from plcore.tables import EncoderPlugin, ReaderPlugin

BOOSTED = ModelPlugin(
    words="Boosted trees: each tree corrects those before it",
    plain="Boosting",
    classifier="winnow_example.boosted:make_classifier",
)

ENTROPY = StrategyPlugin(
    words="Entropy: the model knows least which candidate it is",
    why="The model knows least about this row",
    score="winnow_example.entropy:entropy",
)

MARKDOWN = ReaderPlugin(
    words="Markdown table: cells between bars",
    read="winnow_example.markdown:read_markdown",
    starts=(b"|",),
    endings=(".md", ".markdown"),
)

TRIGRAMS = EncoderPlugin(
    words="Trigrams: hashed counts of three letters in a row",
    encode="winnow_example.trigrams:trigrams",
    about={"kind": "text"},
)
