"""A client that another program generates from the OpenAPI document."""

from __future__ import annotations

import importlib
import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.web.api.conftest import API
from web.api.conventions import MEDIA_TYPES
from workflow.people import team, tokens
from workflow.seat import Seat
from workflow.server.home import Home

DISHES = "dish,guesses,about\n" + "".join(
    f"d{row},{'indian;french' if row % 3 else 'french;thai'},{'ghee' if row % 2 else 'butter'} {row}\n"
    for row in range(40)
)
BINARY = (*MEDIA_TYPES.values(), "image/*", "audio/*", "*/*")
"""Content types that the generator is to take for files."""


@pytest.fixture
def generated(url: str, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A client of the package that openapi-python-client makes of this server's document, without one warning."""
    import httpx

    token = tokens.make_token(Seat(home, team.ensure_owner(home).id), "generated")
    document = httpx.get(f"{url}{API}/openapi.json", headers={"authorization": f"Bearer {token}"})
    (tmp_path / "openapi.json").write_bytes(document.content)
    files = "".join(f"  '{one}': application/octet-stream\n" for one in BINARY if one != "application/json")
    (tmp_path / "config.yaml").write_text(f"post_hooks: []\ncontent_type_overrides:\n{files}")
    made = subprocess.run(
        [
            *(sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none", "--fail-on-warning"),
            *("--path", "openapi.json", "--config", "config.yaml", "--output-path", "winnow_api"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    monkeypatch.syspath_prepend(str(tmp_path))
    package = importlib.import_module("winnow_api")
    with package.AuthenticatedClient(base_url=f"{url}{API}", token=token) as client:
        yield client
    for name in [one for one in sys.modules if one.partition(".")[0] == "winnow_api"]:
        del sys.modules[name]


@pytest.mark.proof
def test_generated_client_creates_answers_and_exports_project(generated: Any) -> None:
    def call(name: str) -> Any:
        return importlib.import_module(f"winnow_api.api.{name}")

    models, File = (importlib.import_module("winnow_api.models"), importlib.import_module("winnow_api.types").File)
    project = call("import_.make_project").sync(
        client=generated,
        body=File(io.BytesIO(DISHES.encode())),
        project="dishes",
        name="dishes.csv",
        roles='{"text": "about"}',
    )
    assert type(project).__name__ == "MadeProject", project
    assert (project.rows, project.classes, project.kind) == (40, 3, "one_label")
    (listed,) = call("read.list_projects").sync(client=generated).projects
    assert listed.name == "dishes"
    said = {}
    for _ in range(5):
        question = call("label.question").sync(project.id, client=generated).question
        label = question.choices[0].label
        body = models.AnswerBody(models.AnswerBodyKind.IS, question.token, [label], shown=question.shown)
        saved = call("label.answer").sync(project.id, client=generated, body=body)
        assert (saved.row, saved.labels) == (question.row, [label])
        said[question.row_id] = label
    given = call("export.export").sync(
        project.id, client=generated, file=models.ExportFile.CSV, rows=models.ExportRows.ANSWERED
    )
    frame = pd.read_csv(given.payload)
    assert dict(zip(frame["dish"], frame["winnow_label"], strict=True)) == said
    refused = call("read.one_project").sync(99, client=generated)
    assert (type(refused).__name__, refused.status) == ("ToldProblem", 404)
