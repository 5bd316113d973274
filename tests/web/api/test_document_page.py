"""The document says of every call what it takes and gives, and its page says the same to people, by itself alone."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urljoin

import pytest
from starlette.testclient import TestClient

from web.api.made import make_api, page_of


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return make_api().openapi()


def test_it_names_the_server_from_where_it_stands(document: dict[str, Any]) -> None:
    (server,) = document["servers"]
    for at in ("http://127.0.0.1:8501/api/v1", "https://lab.example/winnow/api/v1"):
        assert urljoin(f"{at}/openapi.json", server["url"]) == at
    assert TestClient(make_api(), root_path="/api/v1").get("/openapi.json").json()["servers"] == [server]


def calls_of(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method.upper(), path, call)
        for path, methods in document["paths"].items()
        for method, call in methods.items()
    ]


def test_every_call_is_told_whole(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    assert json.loads(json.dumps(document)) == document
    names = [call["operationId"] for _, _, call in calls_of(document)]
    assert len(names) == len(set(names))
    for method, path, call in calls_of(document):
        assert {"401", "403", "404", "422", "429", "503"} <= set(call["responses"]), path
        assert ({"400", "408", "409", "413"} <= set(call["responses"])) == (method == "POST"), path
        assert call["security"], path
        for code in ("401", "422"):
            content = call["responses"][code]["content"]
            assert list(content) == ["application/problem+json"], path
            schema = content["application/problem+json"]["schema"]
            assert schema == {"$ref": "#/components/schemas/ToldProblem"}, path
    assert "HTTPValidationError" not in document["components"]["schemas"]


def test_the_page_says_the_same_by_itself(document: dict[str, Any]) -> None:
    page = page_of(document)
    for method, path, call in calls_of(document):
        assert f"{method} /api/v1{path}" in page
        assert call["summary"] in page
    for name, schema in document["components"]["schemas"].items():
        assert f'id="{name}"' in page
        assert all(f"<code>{field}</code>" in page for field in schema["properties"])
    assert not re.search(r"<script|https?://|//cdn|<link|src=", page)
    assert page.count("<h1>") == 1


def test_what_stands_in_the_document_is_no_markup(document: dict[str, Any]) -> None:
    odd = json.loads(json.dumps(document).replace('"Winnow"', '"<b>Winnow</b>"'))
    assert "<b>" not in page_of(odd)
