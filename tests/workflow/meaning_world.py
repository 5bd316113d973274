"""A text encoder that knows topics: words of a topic, in texts or only typed, point in the same direction."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from onnx import helper
from tokenizers import Tokenizer, models, pre_tokenizers

from plcore.tables import ColumnVectors, directions_of
from tests.plcore.tables.encoders.models import INT64, encoder, made
from tests.workflow.text_world import SHARED, TOPICS, text_project
from workflow.importing import encoding, more_rows
from workflow.seat import Seat
from workflow.server.home import Home

TYPED = {"animals": "birds", "voyage": "ships", "symphony": "music"}
"""Words that are in no text, and their topics."""
WORDS = ["[UNK]", *SHARED, *TYPED, *(word for words in TOPICS.values() for word in words)]


def topic_table(*, turned: bool = False) -> np.ndarray:
    """(words, 3 + words): for each word its topic's direction, and a small one of its own. turned : whether topics swap
    places"""
    topics = list(TOPICS)
    table = np.zeros((len(WORDS), len(topics) + len(WORDS)), dtype=np.float32)
    for place, word in enumerate(WORDS):
        table[place, len(topics) + place] = 0.2
        topic = TYPED.get(word) or next((name for name, words in TOPICS.items() if word in words), None)
        if topic is not None:
            table[place, (topics.index(topic) + turned) % len(topics)] = 1.0
    return table


def topic_encoder(home: Home, name: str = "topics", *, turned: bool = False) -> Path:
    """An encoder in the data folder, the mean of the vectors of a text's words."""
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["y"])]
    table = topic_table(turned=turned)
    model = made(
        nodes,
        dict.fromkeys(("input_ids", "attention_mask"), (INT64, ("n", "t"))),
        {"y": ("n", "t", table.shape[1])},
        {"table": table},
    )
    folder = encoder(home.encoders_dir / name, {"kind": "text", "tokenizer": "tokenizer.json"}, model)
    words = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    (folder / "tokenizer.json").write_text(json.dumps(json.loads(words.to_str())))
    return folder


def give_vectors(
    seat: Seat, vectors: np.ndarray, column: str = "text", encoder: str = "theirs", digest: str = "0" * 64
) -> np.ndarray:
    """Store vectors (n, d) of a project's rows, as if an encoder had made them of a column. Return them as stored."""
    with seat.reading() as reading:
        table_hash = reading.project.table_hash
    values = directions_of(vectors.astype(np.float32))
    made = ColumnVectors(column, encoder, digest, values)
    more_rows.add_rows(seat, more_rows.read_encoded(seat, table_hash, made))
    return values.astype(np.float64)


def meaning_project(home: Home, owner: int, name: str = "texts", **settings: object) -> Seat:
    """The owner's seat at a project of texts that `topic_encoder` has read."""
    seat = Seat(home, owner, text_project(home, owner, name, **settings))
    encoding.encode_project(seat, encoding.Encoder(topic_encoder(home)))
    return seat
