"""Other programs, as anyone installs them, read what Winnow writes; Label Studio exports it again."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from plcore import read_cells
from plcore.tables import FILE_FORMATS, NATURE_FORMATS, VECTOR_FORMATS, read_table
from tests.browser.obtain import obtain_libreoffice
from tests.conftest import ROOT
from tests.packaging.wheel import Installed, install_with_dependencies
from tests.plcore.tables.writers.answered import answered
from tests.plcore.tables.writers.tables import candidates, small_table, written
from tests.plcore.tables.writers.test_vector_writing import answered_vectors
from tests.plcore.tables.writers.vectors import small_vectors

pytestmark = [pytest.mark.proof, pytest.mark.timeout(3600)]

# Programs that read a file

TYPES = {
    "n": (pa.int32(), ["1", "", "3"], [1, None, 3]),
    "share": (pa.float64(), ["0.5", "1.25", ""], [0.5, 1.25, None]),
    "ok": (pa.bool_(), ["true", "false", ""], [True, False, None]),
    "at": (pa.timestamp("us"), ["2026-01-02 03:04:05", "", "2026-01-02 00:00:00"],
           ["2026-01-02 03:04:05", None, "2026-01-02 00:00:00"]),
    "parts": (pa.list_(pa.int64()), ["[1, 2]", "[]", "[3]"], [[1, 2], [], [3]]),
}  # fmt: skip
TYPED = replace(
    small_table(),
    cells=small_table().cells.assign(**{name: cells for name, (_, cells, _) in TYPES.items()}),
    types={name: kind for name, (kind, _, _) in TYPES.items()},
)
LISTS = [["wren"], ["wren", "robin", "film"], ["robin", "film"]]
ROWS = [
    {"winnow_label": label, "winnow_candidates": left} | {name: values[row] for name, (_, _, values) in TYPES.items()}
    for row, (label, left) in enumerate(zip(["wren", None, "robin"], LISTS, strict=True))
]
"""Values that any reader of columns must find, with the types of the source."""
NAMES = list(ROWS[0])

CHECK = """
import json, sys
def plain(value):
    if value is None or value != value: return None
    if hasattr(value, "isoformat"): return value.strftime("%Y-%m-%d %H:%M:%S")
    if hasattr(value, "tolist"): value = value.tolist()
    return [plain(one) for one in value] if isinstance(value, list) else value
def rows(found): return [{name: plain(one[name]) for name in NAMES} for one in found]
"""
"""Code shared by the programs below: the values of any reader as JSON."""

SCHEMA = ROOT / "tests" / "packaging" / "camtrap_dp" / "observations-table-schema.json"
CAMTRAP = (
    "from frictionless import Resource, Schema, system\n"
    f"told = json.load(open({str(SCHEMA)!r}, encoding='utf-8'))\n"
    "del told['foreignKeys']\n"  # of tables that this repository does not have
    "with system.use_context(trusted=True):\n"
    "    report = Resource(path=FILE, schema=Schema.from_descriptor(told)).validate()\n"
    "errors = report.flatten(['rowNumber', 'fieldName', 'note'])\n"
)
"""Checks observations against the official schema."""

PROGRAMS: Mapping[str, tuple[str, str, Any]] = {
    "polars, Parquet": ("typed.parquet", "import polars as p; found = rows(p.read_parquet(FILE).to_dicts())", ROWS),
    "polars, Arrow": ("typed.arrow", "import polars as p; found = rows(p.read_ipc(FILE).to_dicts())", ROWS),
    "pandas, Arrow": (
        "typed.arrow",
        "import pyarrow.feather as f; found = rows(f.read_table(FILE).to_pylist())",
        ROWS,
    ),
    "DuckDB, Parquet": (
        "typed.parquet",
        "import duckdb; found = rows(duckdb.sql(f\"select * from '{FILE}'\").to_arrow_table().to_pylist())",
        ROWS,
    ),
    "DuckDB, CSV": (
        "typed.csv",
        "import duckdb\n"
        "found = duckdb.sql(f\"select name, winnow_label from '{FILE}'\").fetchall()\n"
        "found = [list(one) for one in found]",
        [["p", "wren"], ["q", None], ["r", "robin"]],
    ),
    "datasets, Parquet": (
        "typed.parquet",
        "from datasets import load_dataset\n"
        "data = load_dataset('parquet', data_files=FILE, cache_dir=FILE + '.cache')['train']\n"
        "found = [rows(data), data.features['label'].names, data.features['n'].dtype, data.features['at'].dtype]",
        [ROWS, ["wren", "robin", "film"], "int32", "timestamp[us]"],
    ),
    "datasets, label vectors": (
        "vectors.parquet",
        "from datasets import load_dataset\n"
        "data = load_dataset('parquet', data_files=FILE, cache_dir=FILE + '.cache')['train']\n"
        "found = [[one['winnow_labels'], one['winnow_not_labels']] for one in data]",
        [[[0], [1]], [[1], []], [[], []]],
    ),
    "cleanlab, NPZ": (
        "shares.npz",
        "import numpy as np\n"
        "from cleanlab.filter import find_label_issues\n"
        "arrays = np.load(FILE)\n"
        "known = arrays['winnow_label_index'] >= 0\n"
        "labels, shares = arrays['winnow_label_index'][known], arrays['winnow_probabilities'][known]\n"
        "found = [list(shares.shape), int(find_label_issues(labels=labels, pred_probs=shares).sum())]",
        [[200, 3], 0],
    ),
    "cleanlab, probabilities": (
        "shares.probabilities.parquet",
        "import pandas as pd\n"
        "from cleanlab.count import compute_confident_joint\n"
        "data = pd.read_parquet(FILE).dropna(subset='winnow_label')\n"
        "names = [one for one in data if one.startswith('winnow_probability:')]\n"
        "labels = data.winnow_label.map({one.partition(':')[2]: k for k, one in enumerate(names)}).to_numpy()\n"
        "found = compute_confident_joint(labels, data[names].to_numpy()).tolist()",
        [[100, 0, 0], [0, 100, 0], [0, 0, 0]],
    ),
    "frictionless, Camtrap DP": ("birds.camtrap-dp.csv", f"{CAMTRAP}found = errors", []),
    "frictionless, Camtrap DP of a table without deployments and times": (
        "bare.camtrap-dp.csv",
        f"{CAMTRAP}found = sorted({{one[1] for one in errors}})",
        ["deploymentID", "eventEnd", "eventStart"],
    ),
    "argilla": (
        "typed.argilla.json",
        "import argilla\n"
        "records = [argilla.Record.from_dict(one) for one in json.load(open(FILE, encoding='utf-8'))]\n"
        "found = [[one.id, one.suggestions['label'].value, [r.value for r in one.responses]] for one in records]",
        [["p", LISTS[0], [["wren"]]], ["q", LISTS[1], []], ["r", LISTS[2], []]],
    ),
    "argilla, label vectors": (
        "vectors.argilla.json",
        "import argilla\n"
        "records = [argilla.Record.from_dict(one) for one in json.load(open(FILE, encoding='utf-8'))]\n"
        "found = [[[one.question_name, one.value] for one in record.suggestions] for record in records]",
        [[["label", ["sea"]], ["not_label", ["sand"]]], [["label", ["sand"]]], []],
    ),
}  # fmt: skip
"""A program by its name: the file that it reads, a few lines of code, and the expected result."""


def shares(n_rows: int = 201) -> Any:
    """Rows of three classes, all except the last with a label, which their probabilities support."""
    label = np.append(np.arange(n_rows - 1) % 2, -1)
    found = np.where(np.eye(3)[label] > 0, 0.8, 0.1)
    return replace(small_table(n_rows), label=label, probabilities=found)


FILES: Mapping[str, Callable[[], bytes]] = {
    **{
        f"typed{FILE_FORMATS[name].suffix}": lambda name=name: written(FILE_FORMATS[name].write, TYPED)
        for name in ("parquet", "arrow", "csv", "argilla")
    },
    **{
        f"shares{FILE_FORMATS[name].suffix}": lambda name=name: written(FILE_FORMATS[name].write, shares())
        for name in ("npz", "probabilities")
    },
    **{
        f"vectors{VECTOR_FORMATS[name].suffix}": lambda name=name: written(VECTOR_FORMATS[name].write, small_vectors())
        for name in ("parquet", "argilla")
    },
    **{
        f"{name}.camtrap-dp.csv": lambda columns=columns: written(
            NATURE_FORMATS["camtrap-dp"].write, answered(answers={0: "none", 1: ("Great tit",)}, **columns)
        )
        for name, columns in (
            (
                "birds",
                {
                    "deploymentID": "d1",
                    "eventStart": "2026-05-01T05:00:00+02:00",
                    "eventEnd": "2026-05-01T05:00:03+02:00",
                },
            ),
            ("bare", {}),
        )
    },
}


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """An environment with all of these programs."""
    wanted = ("polars", "duckdb", "datasets", "cleanlab", "frictionless", "argilla", "pyarrow")
    return install_with_dependencies(wanted, tmp_path_factory.mktemp("readers"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_reads_exported_file(readers: Installed, tmp_path: Path, name: str) -> None:
    file, code, wanted = PROGRAMS[name]
    (tmp_path / file).write_bytes(FILES[file]())
    head = f"{CHECK}\nNAMES, FILE = {NAMES!r}, {file!r}\n"
    done = readers.run(
        readers.python, "-c", f"{head}{code}\nprint('found', json.dumps(found))", cwd=tmp_path,
        HOME=str(tmp_path), HF_HUB_OFFLINE="1",
    )  # fmt: skip
    (found,) = [line for line in done.stdout.splitlines() if line.startswith("found ")]
    assert json.loads(found.removeprefix("found ")) == wanted


def test_libreoffice_opens_workbook(tmp_path: Path) -> None:
    soffice = obtain_libreoffice()
    odd = replace(TYPED, cells=TYPED.cells.assign(text=["=1+1", "b,\nc", " d"]))
    (tmp_path / "birds.xlsx").write_bytes(written(FILE_FORMATS["xlsx"].write, odd))
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    command = [soffice, profile, "--headless", "--convert-to", "csv:Text - txt - csv (StarCalc):44,34,76"]
    subprocess.run([*command, "birds.xlsx"], cwd=tmp_path, check=True, capture_output=True, timeout=300)
    found, wanted = (
        read_cells(one) for one in ((tmp_path / "birds.csv").read_bytes(), written(FILE_FORMATS["csv"].write, odd))
    )
    texts = ["name", "text", "at", "winnow_candidates", "winnow_label", "winnow_source"]
    assert found[texts].to_numpy().tolist() == wanted[texts].to_numpy().tolist()
    assert pd.to_numeric(found["share"]).dropna().tolist() == [0.5, 1.25]


# Label Studio

TOKEN = "0123456789abcdef0123456789abcdef01234567"
STARTS = 900.0
"""Seconds for creating its database."""


class LabelStudio:
    """A Label Studio on loopback."""

    def __init__(self, address: str) -> None:
        self.address = address

    def call(self, path: str, given: Any = None) -> Any:
        """Call its API and return the reply; a POST if `given` is given."""
        head = {"Authorization": f"Token {TOKEN}", "Content-Type": "application/json"}
        data = None if given is None else json.dumps(given).encode()
        with urllib.request.urlopen(urllib.request.Request(self.address + path, data, head)) as answer:
            return json.load(answer)

    def round(self, config: bytes, tasks: bytes) -> bytes:
        """Import these tasks into a new project with this interface, and return its export."""
        project = self.call("/api/projects/", {"title": "winnow", "label_config": config.decode()})["id"]
        self.call(f"/api/projects/{project}/import", json.loads(tasks))
        return json.dumps(self.call(f"/api/projects/{project}/export?exportType=JSON&download_all_tasks=true")).encode()


@pytest.fixture(scope="module")
def label_studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabelStudio]:
    folder = tmp_path_factory.mktemp("label-studio")
    made = install_with_dependencies(["label-studio"], folder / "environment")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG")}
    quiet = {"COLLECT_ANALYTICS": "false", "LATEST_VERSION_CHECK": "false", "SENTRY_DSN": ""}
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [
                *(made.folder / "bin" / "label-studio", "start", "--no-browser", "--enable-legacy-api-token"),
                *("--internal-host", "127.0.0.1", "--port", str(port), "--data-dir", folder),
                *("--username", "ann@example.org", "--password", "for-this-test", "--user-token", TOKEN),
            ],
            cwd=folder, env={**kept, **quiet, "HOME": str(folder)}, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
        try:
            found = LabelStudio(f"http://127.0.0.1:{port}")
            until = time.monotonic() + STARTS
            while True:
                assert server.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < until, (folder / "log").read_text()
                try:
                    found.call("/api/projects/")
                    break
                except (urllib.error.URLError, ConnectionError):
                    time.sleep(0.5)
            yield found
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait()


def test_label_studio_round_trips_candidates_and_votes(label_studio: LabelStudio) -> None:
    data = written(FILE_FORMATS["labelstudio"].write, small_table())
    config = written(FILE_FORMATS["labelstudio-config"].write, small_table())
    before, after = (read_table(one, "tasks.json") for one in (data, label_studio.round(config, data)))
    assert candidates(after) == candidates(before) == [
        {"wren": 1.5}, {"wren": 0.5, "robin": 0.25, "film": 0.25}, {"robin": 0.25, "film": 0.25},
    ]  # fmt: skip
    assert after.cells[["task_id", "name", "text"]].equals(before.cells[["task_id", "name", "text"]])
    assert "ann" in after.cells["sources"].iloc[0]


def test_label_studio_round_trips_label_vectors(label_studio: LabelStudio) -> None:
    data = written(VECTOR_FORMATS["labelstudio"].write, answered_vectors())
    config = written(VECTOR_FORMATS["labelstudio-config"].write, answered_vectors())
    before, after = (read_table(one, "tasks.json") for one in (data, label_studio.round(config, data)))
    assert after.roles == before.roles
    columns = ["task_id", "name", "text", "sea", "sand"]
    assert after.cells[columns].equals(before.cells[columns])
    assert after.cells[["sea", "sand"]].to_numpy().tolist() == [["1", "0"], ["", "1"], ["", ""]]
