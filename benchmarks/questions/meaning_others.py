"""Encoders against built-in features on a set of texts and a set of photos by which nothing was chosen.

What is measured, and how, is as in [meaning](meaning.md). No setting of Winnow was chosen by these sets.

*Other texts*: 20 intents a seed of CLINC150 (Larson et al. 2019, CC BY 3.0), 10 domains: `data/data_full.json` of
[clinc/oos-eval](https://github.com/clinc/oos-eval) at 828f8093, without rows that are out of scope, as
`WINNOW_DATA/meaning/clinc150.json`. *Other photos*: 960 photos of 12 flowers, a part of Oxford's 17 (Nilsback and
Zisserman 2006), made so that colours alone do not tell them apart: `lab3/flowers` of
[daniele-gilio/Machine-Learning-Class](https://github.com/daniele-gilio/Machine-Learning-Class) at 35496a14, its folders
`train` and `test` in `WINNOW_DATA/meaning/flowers`.
"""

from __future__ import annotations

import json
import warnings
import zipfile
from pathlib import Path

import pandas as pd

from benchmarks.harness import benchmark, data_folder, folder, load_average, page
from benchmarks.questions.meaning import Part, Rows, measured, photos_of, some_intents


def intents(seed: int, at: Path) -> Rows:
    """Return 20 intents of CLINC150."""
    told = json.loads((data_folder() / "meaning" / "clinc150.json").read_text("utf-8"))
    parts = [pd.DataFrame(told[split], columns=["text", "label"]).assign(split=split) for split in ("train", "test")]
    return some_intents(pd.concat(parts, ignore_index=True), seed, at, "clinc")


def flowers(seed: int, at: Path) -> Rows:
    """Return the photos of flowers, zipped with their table."""
    path = at / "flowers.zip"
    if not path.exists():
        found = sorted((data_folder() / "meaning" / "flowers").glob("*/*/*.jpg"))
        with zipfile.ZipFile(path, "w") as archive:
            lines = ["file,label"]
            for place, photo in enumerate(found):
                archive.write(photo, f"{place:04}.jpg")
                lines.append(f"{place:04}.jpg,{photo.parent.name}")
            archive.writestr("labels.csv", "\n".join(lines))
    return photos_of(path, seed, at, "flowers")


PARTS = {
    "other texts": Part(intents, ("minilm", "wordllama"), 4, "wordllama", 5, others_lists=True),
    "other photos": Part(flowers, ("efflite0",), 2, "efflite0", 3, others_lists=False),
}


@benchmark("Learning from meaning: other sets", packages=("onnxruntime", "tokenizers"))
def meaning_others() -> str:
    with folder(large=True) as at, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about too few rounds
        blocks = [block for name, part in PARTS.items() for block in measured(name, part, at)]
    return page((__doc__ or "").split("\n\n", 1)[1], load_average(), *blocks)
