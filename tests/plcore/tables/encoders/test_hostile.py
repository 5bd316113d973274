"""Encoders that attack the process that opens them: each ends in words, within limits, and reads nothing outside its
folder."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from plcore.tables.encoders import Encoder, EncoderError, ModelInputs, digest_of
from plcore.tables.encoders.encoding import MOST_NUMBERS
from tests.conftest import ROOT
from tests.plcore.tables.encoders.models import FLOAT, INT64, encoder, energy, mean_color, tokens

IMAGES = {"kind": "image", "size": 4}
SECRET = np.full(12, 7.25, dtype=np.float32).tobytes()
"""Twelve weights in a file next to the encoder's folder."""


def graph(nodes: Sequence[Any], weights: Sequence[Any] = (), **values: object) -> bytes:
    """A model of images that has not been checked. values : constants by name"""
    inside = [numpy_helper.from_array(np.asarray(value), name) for name, value in values.items()]
    one, other = (
        helper.make_tensor_value_info(name, FLOAT, sides) for name, sides in (("x", ("n", 3, 4, 4)), ("y", ("n", "d")))
    )
    made = helper.make_graph(nodes, "hostile", [one], [other], [*weights, *inside])
    return bytes(
        helper.make_model(made, opset_imports=[helper.make_opsetid("", 20)], ir_version=10).SerializeToString()
    )


def mean_plus(*nodes: Any, **values: object) -> bytes:
    """The mean colours, plus the mean of what these nodes call `big`."""
    ends = [
        helper.make_node("ReduceMean", ["big"], ["z"], keepdims=0),
        helper.make_node("ReduceMean", ["x", "sides"], ["m"], keepdims=0),
        helper.make_node("Add", ["m", "z"], ["y"]),
    ]
    return graph([*nodes, *ends], sides=[2, 3], **values)


def outside(location: str, **more: int) -> bytes:
    """The mean colours times weights that are in a file."""
    weights = TensorProto(name="w", data_type=FLOAT, dims=[3, 4], data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, "length": 48, **more}.items():
        weights.external_data.add(key=key, value=str(value))
    nodes = [
        helper.make_node("ReduceMean", ["x", "sides"], ["m"], keepdims=0),
        helper.make_node("MatMul", ["m", "w"], ["y"]),
    ]
    return graph(nodes, [weights], sides=[2, 3])


def claiming(*dims: int) -> bytes:
    """Weights of these sides, without a number in the file."""
    return graph([helper.make_node("Add", ["x", "w"], ["y"])], [TensorProto(name="w", data_type=FLOAT, dims=dims)])


def looping(times: int, node: Any) -> bytes:
    """A loop around a node from `v` to `u`, which begins with the mean colours."""
    flag = [helper.make_tensor_value_info(name, TensorProto.BOOL, ()) for name in ("go", "on")]
    state = [helper.make_tensor_value_info(name, FLOAT, None) for name in ("v", "u")]
    count = helper.make_tensor_value_info("i", INT64, ())
    nodes = [helper.make_node("Identity", ["go"], ["on"]), node]
    body = helper.make_graph(nodes, "body", [count, flag[0], state[0]], [flag[1], state[1]])
    begin = helper.make_node("ReduceMean", ["x", "sides"], ["m"], keepdims=0)
    return graph(
        [begin, helper.make_node("Loop", ["times", "first", "m"], ["y"], body=body)],
        sides=[2, 3],
        times=times,
        first=True,
    )


CYCLE = [helper.make_node("Add", ["x", "b"], ["a"]), helper.make_node("Add", ["a", "x"], ["b"])]
LARGE_FIELD = b"\x08\x0a\x3a"
"""The start of a model whose graph has as many bytes as the number that follows."""

REFUSED = {
    "climbs": outside("../../../../../../../../etc/passwd"),
    "climbs to its neighbour": outside("../secret.bin"),
    "absolute": outside("/etc/passwd"),
    "endless device": outside("/dev/zero"),
    "link": outside("link.bin"),
    "hard to see": outside("deeper/../../secret.bin"),
    "folder": outside("."),
    "pipe": outside("pipe"),
    "longer than its file": outside("own.bin", length=2**40),
    "before its file": outside("own.bin", offset=-100),
    "terabytes": claiming(2**20, 2**20),
    "more than can be counted": claiming(2**40, 2**40),
    "negative sides": claiming(-1, 4),
    "cycle": graph([*CYCLE, helper.make_node("ReduceMean", ["b", "sides"], ["y"], keepdims=0)], sides=[2, 3]),
    "own code": graph([helper.make_node("System", ["x"], ["y"], domain="evil")]),
    "other type": graph([helper.make_node("Cast", ["x"], ["y"], to=TensorProto.STRING)]),
    "cut off": mean_color()[:60],
    "nothing": b"",
    "zeros": bytes(1000),
    "noise": np.random.default_rng(0).bytes(5000),
    "says two gigabytes": LARGE_FIELD + b"\xff\xff\xff\xff\x07" + mean_color(),
    "says exabytes": LARGE_FIELD + b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f" + mean_color(),
    "no numbers": mean_plus(helper.make_node("ConstantOfShape", ["s"], ["big"]), s=[2**40, 2**40]),
    "rows of gigabytes": graph(
        [helper.make_node("Reshape", ["x", "flat"], ["f"]), helper.make_node("Tile", ["f", "times"], ["y"])],
        flat=[0, -1],
        times=[1, 2**34],
    ),
}
HUNGRY = {
    "constant of 4 TB": mean_plus(helper.make_node("ConstantOfShape", ["s"], ["big"]), s=[2**20, 2**20]),
    "constant of 8 GB": mean_plus(helper.make_node("ConstantOfShape", ["s"], ["big"]), s=[2**31]),
    "doubles 40 times": looping(40, helper.make_node("Concat", ["v", "v"], ["u"], axis=1)),
}
"""Models that end where memory does."""


def lay(folder: Path, model: bytes) -> Path:
    """The encoder's folder, with a link and a pipe in it, and a secret next to it."""
    box = encoder(folder / "box", IMAGES, model)
    (folder / "secret.bin").write_bytes(SECRET)
    (box / "deeper").mkdir()
    (box / "own.bin").write_bytes(bytes(48))
    (box / "link.bin").symlink_to(folder / "secret.bin")
    os.mkfifo(box / "pipe")
    return box


def use(box: Path) -> str:
    """The words in which it ends."""
    with pytest.raises(EncoderError) as caught:
        Encoder(box).encode_inputs([ModelInputs(np.zeros((1, 4, 4, 3)))])
    return str(caught.value)


@pytest.mark.parametrize("name", REFUSED)
def test_hostile_model_is_refused_with_message(tmp_path: Path, name: str) -> None:
    said = use(lay(tmp_path, REFUSED[name]))
    assert said.startswith("model.onnx ")
    assert "Fix: " in said
    assert len(said) < 500


def test_model_without_enough_memory_is_reported(tmp_path: Path) -> None:
    for name, model in HUNGRY.items():
        lay(tmp_path / name, model)
    limited = [sys.executable, "-m", __name__, str(tmp_path)]
    said = json.loads(subprocess.run(limited, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout)
    assert said.keys() == HUNGRY.keys()
    assert {name for name, words in said.items() if "needs more memory than there is. Fix:" not in words} == set()


WORDS = {"type": "WordLevel", "vocab": {"[UNK]": 0, "a": 1}, "unk_token": "[UNK]"}
EMPTY_PARTS = ("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder")


def splitting(expression: str) -> dict[str, Any]:
    return {
        "pre_tokenizer": {"type": "Split", "pattern": {"Regex": expression}, "behavior": "Isolated", "invert": False}
    }


TOKENIZERS: dict[str, dict[str, Any]] = {
    "expression that takes ages": splitting("(a+)+$"),
    "expression of 5,000 brackets": splitting("(" * 5000 + "a" + ")" * 5000),
    "no word for the unknown": {"model": WORDS | {"vocab": {"b": 0}}},
    "negative numbers": {"model": WORDS | {"vocab": {"[UNK]": -1}}},
    "model of another kind": {"model": {"type": "Other"}},
    "no words": {"model": {"type": "Unigram", "unk_id": 5, "vocab": []}},
    "merges of nothing": {"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["x y"]}},
    "template of what is not there": {
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "[X]", "type_id": 0}}],
            "pair": [],
            "special_tokens": {},
        }
    },
}


def tokenizing(folder: Path, tokenizer: str) -> Callable[[], list[Any]]:
    box = encoder(folder, {"kind": "text", "tokenizer": "tokenizer.json"}, tokens())
    (box / "tokenizer.json").write_text(tokenizer)
    return lambda: Encoder(box).encode_inputs([ModelInputs(("a" * 4000 + "b",))])


def tokenizer_of(more: dict[str, Any]) -> str:
    parts = dict.fromkeys(EMPTY_PARTS) | {"version": "1.0", "added_tokens": [], "model": WORDS} | more
    return json.dumps(parts)


def test_plain_tokenizer_is_accepted(tmp_path: Path) -> None:
    assert len(tokenizing(tmp_path, tokenizer_of({}))()) == 1


@pytest.mark.parametrize("name", TOKENIZERS)
def test_hostile_tokenizer_is_refused_with_message(tmp_path: Path, name: str) -> None:
    with pytest.raises(EncoderError, match=r"^tokenizer\.json cannot .*Fix: "):
        tokenizing(tmp_path, tokenizer_of(TOKENIZERS[name]))()


@pytest.mark.parametrize("text", ["", "null", "7", "[" * 100_000, tokenizer_of({})[:80]])
def test_invalid_tokenizer_is_refused_with_message(tmp_path: Path, text: str) -> None:
    with pytest.raises(EncoderError, match=r"^tokenizer\.json cannot be read .*Fix: "):
        tokenizing(tmp_path, text)()


def test_padding_and_truncation_of_the_file_do_not_count(tmp_path: Path) -> None:
    padding = {"strategy": {"Fixed": 10**15}, "direction": "Right", "pad_to_multiple_of": 10**12, "pad_id": 0}
    more = {"padding": padding | {"pad_type_id": 0, "pad_token": "[PAD]"}}
    assert len(tokenizing(tmp_path, tokenizer_of(more))()) == 1


def test_large_inputs_are_encoded_a_few_at_a_time(tmp_path: Path) -> None:
    about = {"kind": "sound", "rate": 400_000, "seconds": 50}
    box = encoder(tmp_path, about, energy(20_000_000))
    assert Encoder(box)._at_once == MOST_NUMBERS // 20_000_000 == 1
    assert Encoder(encoder(tmp_path, IMAGES, mean_color()))._at_once == 16


def test_digest_does_not_read_what_links_lead_to(tmp_path: Path) -> None:
    box = lay(tmp_path, mean_color())
    digest = digest_of(box)
    (tmp_path / "secret.bin").write_bytes(b"another")
    assert digest_of(box) == digest
    (box / "own.bin").write_bytes(b"another")
    assert digest_of(box) != digest


if __name__ == "__main__":
    import onnxruntime  # noqa: F401 - what it takes itself is not limited

    in_use = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_DATA, (in_use + 2**30,) * 2)
    sys.stdout.write(json.dumps({one.name: use(one / "box") for one in Path(sys.argv[1]).iterdir()}))
