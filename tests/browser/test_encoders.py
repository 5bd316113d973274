"""Learn from meaning in the browser: download from a hub on this machine, progress, cancel, failures, consent."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import room
from tests.browser.server import START, Server
from tests.conftest import ROOT
from tests.fake_hub import FakeHub, serving
from tests.plcore.tables.encoders.small_catalogue import REVISION, WORDS, file_of, small_catalogue, words_entry
from tests.workflow.text_world import text_frame, text_project
from workflow.people import team
from workflow.server.home import Home

pytestmark = pytest.mark.browser
MODEL = f"ada/words/{REVISION}/onnx/model.onnx"
LARGE = bytes(2_000_000)
_PATCH = """import sys
if sys.orig_argv[-1].endswith("app.py") or "worker.py" in " ".join(sys.orig_argv):
    sys.path.insert(0, {root!r})
    from pathlib import Path
    from plcore.tables.encoders import catalogue
    catalogue.read_catalogue.__defaults__ = (Path({data!r}),)
"""
"""Run when the server and its training process start; their other processes load nothing more."""


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with serving(FakeHub({MODEL: WORDS, MODEL.replace("words", "large", 1): LARGE})) as made:
        yield made


@pytest.fixture
def server(tmp_path: Path, hub: FakeHub) -> Iterator[Server]:
    """A server, and its training process, whose catalogue has three small encoders of texts."""
    small_catalogue(
        tmp_path / "catalogue",
        words=words_entry(),
        large=words_entry(title="Large", repository="ada/large", files=[file_of("onnx/model.onnx", LARGE)]),
        limited=words_entry(title="Limited", licence="CC-BY-NC-SA-4.0", commercial=False),
    )
    (tmp_path / "patch").mkdir()
    patch = _PATCH.format(root=str(ROOT), data=str(tmp_path / "catalogue"))
    (tmp_path / "patch" / "sitecustomize.py").write_text(patch)
    more = {"HF_ENDPOINT": hub.address, "NO_PROXY": "127.0.0.1", "PYTHONPATH": str(tmp_path / "patch")}
    running = Server(tmp_path / "home", command=START, more=more).start()
    yield running
    running.stop()


@pytest.fixture
def learning(page: Page, server: Server, home: Home) -> Page:
    """The tab Learning of a project of texts."""
    project = text_project(home, team.ensure_owner(home).id)
    page.goto(f"{server.base}/settings?project={project}")
    page.get_by_role("tab", name="Model").click()
    return page


def choose(page: Page, title: str) -> None:
    page.get_by_role("button", name="Other encoders").click()
    page.get_by_role("combobox", name="Other encoders").click()
    page.get_by_role("option", name=f"{title}: for tests").click()
    expect(page.get_by_text(f"{title} also reads what it means")).to_be_visible()


def learn(page: Page) -> None:
    page.get_by_role("button", name="Learn from meaning").click()


def left(server: Server) -> list[str]:
    return sorted(path.name for path in (server.home / "encoders").iterdir())


@pytest.mark.proof
def test_import_page_downloads_encoder_and_encodes(page: Page, server: Server, home: Home, hub: FakeHub) -> None:
    team.ensure_owner(home)
    page.goto(f"{server.base}/import")
    page.locator(room.TABLE_BOX).set_input_files(
        {"name": "texts.csv", "mimeType": "text/csv", "buffer": text_frame().to_csv(index=False).encode()}
    )
    create = page.get_by_role("button", name="Create project")
    expect(create).to_be_enabled()
    expect(page.get_by_text("It is downloaded once from 127.0.0.1")).to_be_visible()
    assert hub.asked == [], "nothing is downloaded unasked"
    page.get_by_text("Learn from meaning").click()
    page.get_by_role("combobox", name="Encoder").click()
    page.get_by_role("option", name="Limited: for tests").click()
    expect(create).to_be_disabled()
    page.get_by_text("My use is non-commercial").click()
    expect(create).to_be_enabled()
    page.get_by_role("combobox", name="Encoder").click()
    page.get_by_role("option", name="Words: for tests").click()
    expect(page.get_by_text("My use is non-commercial")).to_have_count(0)
    create.click()
    expect(page.get_by_text("Its rows are being encoded")).to_be_visible()
    page.locator(room.CARD).wait_for()
    page.goto(page.url.replace("/annotate", "/settings"))
    page.get_by_role("tab", name="Model").click()
    expect(page.get_by_text("encoded the rows")).to_be_visible()
    assert left(server) == ["words"]
    expect(page.get_by_role("button", name="Back to words")).to_be_visible()


@pytest.mark.proof
def test_failed_download_leaves_nothing_and_words_can_return(learning: Page, server: Server, hub: FakeHub) -> None:
    def again() -> None:
        learning.reload()
        learning.get_by_role("tab", name="Model").click()

    hub.gate = threading.Event()
    choose(learning, "Large")
    learn(learning)
    expect(learning.get_by_text("Downloading: 1.0 of 2.0 MB")).to_be_visible()
    learning.get_by_role("button", name="Cancel").click()
    expect(learning.get_by_text("The latest encoding was cancelled.")).to_be_visible()
    expect(learning.get_by_role("button", name="Resume")).to_be_visible()
    hub.gate.set()
    while left(server):  # the training process sees it within a second
        learning.wait_for_timeout(100)

    again()
    hub.files[MODEL] = WORDS[:-1] + b"!"
    learn(learning)
    expect(
        learning.get_by_text("the file differs from the one that Winnow's authors tested; nothing was stored")
    ).to_be_visible()
    assert left(server) == []
    hub.status = 404
    learn(learning)
    expect(learning.get_by_text("has no 'onnx/model.onnx' of ada/words")).to_be_visible()
    assert left(server) == []

    again()
    hub.files[MODEL], hub.status = WORDS, 200
    choose(learning, "Limited")
    button = learning.get_by_role("button", name="Learn from meaning")
    expect(button).to_be_disabled()
    learning.get_by_text("My use is non-commercial").click()
    expect(button).to_be_enabled()
    learning.get_by_role("combobox", name="Other encoders").click()
    learning.get_by_role("option", name="Words: for tests").click()
    expect(learning.get_by_text("My use is non-commercial")).to_have_count(0)  # the other is drawn
    expect(learning.get_by_text("It is downloaded once from 127.0.0.1")).to_be_visible()
    expect(learning.get_by_text("nothing about them is sent")).to_be_visible()
    button.click()
    expect(learning.get_by_text("encoded the rows")).to_be_visible()
    assert left(server) == ["words"]
    learning.get_by_role("button", name="Back to words").click()
    expect(learning.get_by_role("button", name="Back to words")).to_have_count(0)
    expect(button).to_be_visible()

    again()
    hub.close()
    choose(learning, "Large")
    learn(learning)
    expect(learning.get_by_text("cannot be reached")).to_be_visible()
    expect(learning.get_by_text("winnow encoders add FILE")).to_be_visible()
    assert left(server) == ["words"]
