"""A small good file of every format, and ways to damage one: bytes changed, cut, inserted, doubled.

As a program, it reads damaged files in little memory, one after the other, until one ends it: a fault in a compiled
library may crash the whole process, which no test could survive.
"""

from __future__ import annotations

import gzip
import io
import random
import resource
import sys
import zipfile
from functools import cache

import numpy as np
import pandas as pd

from plcore.tables import LabelTable, TableError, find_doubts, read_table, shape_name, shaped
from tests.plcore.tables.readers.test_arrays import mat
from tests.plcore.tables.readers.test_excel import cell, ods, row, workbook
from tests.plcore.tables.readers.xls import table, xls
from tests.plcore.tables.zips import birds, make_zip
from workflow.importing import check
from workflow.importing.reading import read_upload

_ROWS = [["id", "candidates", "score"], ["a", "wren|robin", 1.5], ["b", "robin", 2.5], ["c", "wren", 3.5]]


@cache
def good_files() -> dict[str, bytes]:
    """File name -> bytes of a table of three rows, for every format."""
    frame = pd.DataFrame(_ROWS[1:], columns=_ROWS[0])
    lists = frame.assign(candidates=[["wren", "robin"], ["robin"], None])
    X, S = np.array([[1.5, 0], [2.5, 1], [0, 3.5]]), np.array([[1, 1], [0, 1], [1, 0]])
    arrays, feather = io.BytesIO(), io.BytesIO()
    np.savez(arrays, X=X, S=S, y=np.array([0, 1, -1]))
    lists.to_feather(feather)
    cells = "".join(row(*map(cell, map(str, each))) for each in _ROWS)
    csv = frame.to_csv(index=False).encode()
    votes = b"task,worker,label,w\nt1,ann,wren,1\nt1,bob,robin,1\nt2,ann,nan,2\nt2,bob,wren,2\n"
    return {
        "csv": csv,
        "wide.csv": csv.decode().encode("utf-16"),
        "western.csv": csv.replace(b"robin", "Grö\u00dfe".encode("cp1252")),
        "weights.csv": b'labels,w\n"wren:0.6|robin:0.4",1\n"{""wren"": 0.6}",2\n',
        "votes.csv": votes,
        "json": frame.to_json(orient="records").encode(),
        "jsonl": lists.to_json(orient="records", lines=True).encode(),
        "studio.json": b'[{"data": {"text": "x"}, "annotations": [{"result": [{"type": "choices", "from_name": "c", '
        b'"to_name": "t", "value": {"choices": ["wren"]}}]}], "predictions": []}]',
        "npz": arrays.getvalue(),
        "mat": mat(data=X, partial_target=S.T, target=np.eye(3)[:, :2].T),
        "plain.mat": mat(False, data=X, partial_target=np.eye(3)[:, :2].T),
        "xlsx": workbook({"S": _ROWS, "T": [["x"]]}),
        "xls": xls({"S": table(_ROWS)}),
        "large.xls": xls({"S": table(_ROWS + [["d", "robin|owl", float(k)] for k in range(150)])}),
        "ods": ods(cells),
        "parquet": lists.to_parquet(),
        "plain.parquet": frame.to_parquet(compression=None),
        "feather": feather.getvalue(),
        "arff": b"@relation 'b: -C 1'\n@attribute a {0,1}\n@attribute w real\n@data\n1,2\n{0 1, 1 3}\n",
        "libsvm": b"1,3 1:0.2 3:1\n2 2:4\n1 1:1\n",
        "zip": make_zip(birds()),
        "gz": gzip.compress(csv, mtime=0),
    }


def damaged(data: bytes, rng: random.Random) -> bytes:
    """The file with a few of its bytes or pieces changed."""
    for _ in range(rng.choice((1, 1, 2, 4, 12))):
        place, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
        end = min(end, place + rng.choice((1, 1, 2, 4, 8, 64)))
        piece = data[place:end]
        way = rng.randrange(6)
        if way == 0:
            new = rng.randbytes(len(piece))
        elif way == 1:
            new = b""
        elif way == 2:
            new = piece + rng.randbytes(rng.choice((1, 4, 8)))
        elif way == 3:
            new = piece * rng.choice((2, 3, 50))
        elif way == 4:
            new = rng.choice((b"\0", b"\xff", b"\x7f", b"\x80", b"9")) * len(piece)
        else:
            new = bytes(byte ^ 1 << rng.randrange(8) for byte in piece)
        data = data[:place] + new + data[end:]
    return data


def damaged_inside(data: bytes, rng: random.Random) -> bytes:
    """The zip with one of its files damaged and the checksums right, so that the damage reaches the reader."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as file, zipfile.ZipFile(out, "w") as new:
        entries = file.infolist()
        chosen = rng.choice(entries)
        for entry in entries:
            part = file.read(entry)
            new.writestr(zipfile.ZipInfo(entry.filename), damaged(part, rng) if entry is chosen else part)
    return out.getvalue()


def a_damaged(name: str, seed: int) -> bytes:
    """The file of this name, damaged by this seed."""
    rng, data = random.Random(f"{name}{seed}"), good_files()[name]
    inside = data.startswith(b"PK") and rng.random() < 0.8
    return damaged_inside(data, rng) if inside else damaged(data, rng)


def read_or_say(data: bytes, name: str) -> LabelTable | None:
    """The table of these bytes, with its doubts; None if they are refused with a message."""
    try:
        if name.endswith(".xls"):  # its reader may end the process, which is another one for every file of users
            upload = read_upload(data, name)
            return check(upload, upload.guess).table
        reading = read_table(data, name)
        if shape_name(reading) is not None:
            reading = shaped(reading)
        table = LabelTable.from_cells(reading.cells, reading.suggest_roles(), reading.files)
        find_doubts(table)
    except TableError as error:
        if not error.problems or not all(problem.message and problem.fix for problem in error.problems):
            raise AssertionError("a refusal without words") from error
        return None
    return table


def main(first: int, count: int, megabytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    for seed in range(first, first + count):
        for name in good_files():
            sys.stdout.write(f"{name} {seed}\n")
            sys.stdout.flush()
            read_or_say(a_damaged(name, seed), f"a.{name}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
