"""A model of a plug-in in a project: chosen, logged with its version, trained by a worker; and when it is lost."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from db import entries
from plcore import TableError
from plcore.arrays import Plugin
from plcore.baselines.declared import MODEL_GROUP, ModelPlugin, model_plugins
from plcore.baselines.plugged import PluggedClassifier
from plcore.evaluation.learners import LEARNER_ENTRIES, LearnerEntry
from plcore.loop import MODEL_ENTRIES, EntryKind
from plcore.loop.one_label import comparing
from plcore.loop.registry import plugged_entry
from plcore.query import RowsKnown, strategy_plugins
from plcore.query.plugged import order_rows
from plcore.tables import EncoderError, encoder_plugins, reader_plugins
from tests.conftest import ROOT
from tests.docs.pages import blocks
from tests.plcore.query import test_plugged as strategy_plugged
from tests.plcore.query.test_plugged import HERE, WORDS
from tests.workflow.encoder_world import table_of
from tests.workflow.text_world import text_frame, text_project
from tests.workflow.world import answer_next, file_of, log, newest_version, opened, small_frame, small_project
from workflow.exporting.as_of import AsOfError
from workflow.files.limited import asking
from workflow.importing import encoding, encoding_requests
from workflow.importing.encoding_worker import EncodingWorker
from workflow.importing.reading import read_upload
from workflow.kinds.adopting import read_adoptions
from workflow.kinds.one_label import settings
from workflow.kinds.one_label.rows import QueueView
from workflow.models import choosing, plugins, showing
from workflow.models.encoders import installed as encoders_installed
from workflow.models.encoders import offers
from workflow.models.training import Worker, training_state
from workflow.projects import managing
from workflow.rows import queue
from workflow.seat import Seat
from workflow.server.home import Home

NAME, SOURCE = "plugin-bayes", "winnow-bayes 2.1"
ORDER, LOGGED = "plugin-entropy", "plugin-entropy (winnow-entropy 1.0)"
TEMPLATE = ROOT / "docs" / "plugin-template"


def plug_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register a plug-in as if it had been there when the process began."""
    declared = ModelPlugin("Bayes: one bell a feature", "sklearn.naive_bayes:GaussianNB")
    entry = plugged_entry(Plugin(MODEL_GROUP, "bayes", "winnow-bayes", "2.1", declared, None), declared)
    learner = LearnerEntry(NAME, PluggedClassifier(declared.classifier), by_default=False)
    monkeypatch.setitem(MODEL_ENTRIES, NAME, entry)
    monkeypatch.setitem(settings.MODELS, NAME, entry.words)  # type: ignore[arg-type]
    monkeypatch.setitem(LEARNER_ENTRIES, NAME, learner)


def plug_in_strategy(monkeypatch: pytest.MonkeyPatch, function: str) -> None:
    strategy_plugged.plug_in(monkeypatch, function)
    monkeypatch.setitem(settings.NAMES, ORDER, f"{WORDS} (winnow-entropy 1.0)")


@pytest.fixture
def plugged(monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in(monkeypatch)


@pytest.fixture
def seat(home: Home, owner: int) -> Seat:
    return Seat(home, owner, small_project(home, owner))


@pytest.mark.usefixtures("plugged")
def test_plugin_model_is_chosen_in_server_and_trained_by_worker(seat: Seat) -> None:
    project = seat.project_id or 0
    with plugins.declarations_only():
        choosing.adopt(seat, NAME)
        (line,) = (one for one in showing.models_view(seat).lines if one.in_force)
        answer_next(seat.home, seat.person_id, project)
    assert (line.name, line.words) == (NAME, f"Bayes: one bell a feature ({SOURCE}), trained in the background")
    Worker(seat.home, "one").look()
    assert training_state(seat).fault is None
    assert newest_version(seat.home, project) == 2
    with plugins.declarations_only(), opened(seat.home, seat.person_id, project) as learner:
        assert learner.model_version == 2
        assert learner.progress().accuracy > 0.8


@pytest.mark.usefixtures("plugged")
def test_log_names_distribution_and_version(seat: Seat) -> None:
    choosing.adopt(seat, NAME)
    choosing.adopt(seat, "plknn")
    with seat.reading() as reading:
        to, back = (
            one for one in entries.about_project(reading.session, reading.project.id) if one.kind == EntryKind.MODEL
        )
        story = read_adoptions(reading.session, reading.project)
    assert (to.labels, to.before, to.after) == ((NAME,), ("plknn",), (NAME, SOURCE))
    assert (back.before, back.after) == ((NAME,), ("plknn",))
    assert [(one.before, one.model) for one in story] == [("plknn", NAME), (NAME, "plknn")]


@pytest.mark.usefixtures("plugged")
def test_comparison_measures_plugin_models_too(seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one model of ours, because all of them take 10 s."""
    monkeypatch.setattr(comparing, "read_learners", lambda _names: [LEARNER_ENTRIES["plknn"]])
    found = choosing.measure(seat)
    assert {one.model for one in found.figures} >= {"plknn", NAME}
    assert (found.of(NAME).kappa or 0) > 0.5


def test_project_opens_without_its_plugin(seat: Seat) -> None:
    project = seat.project_id or 0
    with pytest.MonkeyPatch.context() as patched:
        plug_in(patched)
        choosing.adopt(seat, NAME)
        Worker(seat.home, "one").look()
    answer_next(seat.home, seat.person_id, project)
    Worker(seat.home, "two").look()
    assert "a plug-in that is not installed" in (training_state(seat).fault or "")
    view = showing.models_view(seat)
    assert view.story.model == NAME
    assert NAME not in [line.name for line in view.lines]
    managing.change_learner(seat, train_every=7, model=NAME)  # a form sends all of its settings
    choosing.adopt(seat, "plknn")
    for change in ({"model": NAME}, {"adopted": NAME}):
        with pytest.raises(ValueError, match="must be one of"):
            managing.change_learner(seat, **change)
    with pytest.raises(ValueError, match="model must be one of"):
        choosing.adopt(seat, NAME)
    assert managing.learner_settings(seat)["model"] == "plknn"


@pytest.mark.usefixtures("plugged")
def test_server_does_not_train_a_plugin_model_for_an_earlier_state(seat: Seat) -> None:
    project = seat.project_id or 0
    choosing.adopt(seat, NAME)
    Worker(seat.home, "one").look()
    answer_next(seat.home, seat.person_id, project)
    with plugins.declarations_only(), pytest.raises(AsOfError, match=r"cannot be trained again.*use the command line"):
        file_of(seat, as_of=1)
    assert file_of(seat, as_of=1)


# A strategy of a plug-in: chosen, run by a worker only, logged with its version, and when it fails or is lost


def queue_of(seat: Seat) -> QueueView:
    found = queue.list_queue(seat)
    assert isinstance(found, QueueView)
    return found


def test_plugin_strategy_orders_the_questions_and_is_logged(seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in_strategy(monkeypatch, "by_number")
    project = seat.project_id or 0
    with plugins.declarations_only():
        managing.change_learner(seat, model="clpl", strategy=ORDER)
        before = queue_of(seat)
    assert before.strategies[ORDER] == f"{WORDS} (winnow-entropy 1.0)"
    assert before.order_note == (
        f"The question order is {settings.NAMES['margin']}, not {ORDER}: the next version of the model brings it."
    )
    Worker(seat.home, "one").look()
    with plugins.declarations_only():
        after = queue_of(seat)
        assert after.order_note is None
        rows = [one.row for one in after.rows]
        assert rows == sorted(rows, reverse=True), "by_number: the last row first"
        for _ in range(3):
            answer_next(seat.home, seat.person_id, project)
    answers = [one for one in log(seat.home, project) if one.kind == EntryKind.IS]
    assert [(one.row, one.strategy) for one in answers] == [(row, LOGGED) for row in rows[:3]]


@pytest.mark.parametrize("function", ["failing", "gone"])
def test_failing_plugin_strategy_is_named_on_the_page(
    seat: Seat, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, function: str
) -> None:
    plug_in_strategy(monkeypatch, function)
    managing.change_learner(seat, model="clpl", strategy=ORDER)
    Worker(seat.home, "one").look()
    assert training_state(seat).fault is None
    note = queue_of(seat).order_note or ""
    assert note.startswith(f"The question order is {settings.NAMES['margin']}, not {ORDER}: {HERE}:{function}")
    assert f"No plug-in orders the rows of project {seat.project_id}: {HERE}:{function}" in caplog.text


def test_plugin_strategy_needs_a_model_with_versions(seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in_strategy(monkeypatch, "by_number")
    assert ORDER not in settings.strategies_for("plknn")
    assert ORDER in settings.strategies_for("clpl")
    assert ORDER in settings.strategies_for("automatic")
    managing.change_learner(seat, strategy=ORDER)
    view = queue_of(seat)
    assert view.strategies[ORDER] == settings.NAMES[ORDER]
    assert view.order_note == (
        f"The question order is {settings.NAMES['apl']}, not {ORDER}: it needs a model that is trained in the "
        "background, and PL-KNN is not. Fix: choose another model."
    )


def test_project_is_asked_about_without_its_plugin_strategy(seat: Seat) -> None:
    with pytest.MonkeyPatch.context() as patched:
        plug_in_strategy(patched, "by_number")
        managing.change_learner(seat, model="clpl", strategy=ORDER)
    Worker(seat.home, "one").look()
    assert training_state(seat).fault is None
    view = queue_of(seat)
    assert view.strategies[ORDER] == f"{ORDER}: a plug-in that is not there"
    assert (view.order_note or "").endswith("left out. Fix: run `winnow plugins`, which says why.")
    assert answer_next(seat.home, seat.person_id, seat.project_id or 0)
    managing.change_learner(seat, train_every=7, strategy=ORDER)  # a form sends all of its settings
    managing.change_learner(seat, strategy="margin")
    with pytest.raises(ValueError, match="strategy must be one of"):
        managing.change_learner(seat, strategy=ORDER)


def test_left_out_plugins_are_named_with_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    assert plugins.list_plugins() == (*model_plugins(), *strategy_plugins(), *reader_plugins(), *encoder_plugins())
    broken = Plugin(MODEL_GROUP, "bayes", "winnow-bayes", "2.1", None, "x:y cannot be imported. Fix: z.")
    monkeypatch.setattr(plugins, "list_plugins", lambda: (broken,))
    assert plugins.left_out() == ["The plug-in bayes of winnow-bayes 2.1 is left out. x:y cannot be imported. Fix: z."]


def test_page_shows_the_template() -> None:
    page = ROOT / "docs" / "plug-ins.md"
    code = "".join(one.read_text() for one in sorted((TEMPLATE / "winnow_example").glob("*.py")))
    for shown in blocks(page, "python"):
        assert shown in code
    (points,) = blocks(page, "")
    assert points in (TEMPLATE / "pyproject.toml").read_text()


def test_code_of_the_template_works() -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(TEMPLATE))
        score = str(importlib.import_module("winnow_example").ENTROPY.score)
        shares = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.2, 0.3, 0.5]])
        order = order_rows(score, RowsKnown(shares, shares > 0, shares[:, 0] > 0, shares, 0))
    assert order.fault == ""
    assert np.argsort(-np.asarray(order.scores)).tolist() == [2, 0, 1]


def install_template(folder: Path) -> str:
    """Write its metadata into the folder, as an installer would, and a broken declaration. Returns the PYTHONPATH."""
    project = tomllib.loads((TEMPLATE / "pyproject.toml").read_text())["project"]
    points = [
        f"[{group}]\n{name} = {target}\n"
        for group, declared in project["entry-points"].items()
        for name, target in declared.items()
    ]
    made = folder / "winnow_example-1.0.dist-info"
    made.mkdir(parents=True)
    (made / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    (made / "entry_points.txt").write_text("".join(points).replace("\n[", "\nbroken = winnow_example:OLD\n[", 1))
    return os.pathsep.join([str(folder), str(TEMPLATE)])


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The template is installed, for this process and the next helper."""
    paths = install_template(tmp_path / "site")
    monkeypatch.setenv("PYTHONPATH", paths)
    for path in paths.split(os.pathsep):
        monkeypatch.syspath_prepend(path)
    encoder_plugins.cache_clear()
    asking._helper.end()
    yield
    monkeypatch.undo()
    encoder_plugins.cache_clear()
    asking._helper.end()


@pytest.mark.usefixtures("installed")
def test_file_of_a_plugin_format_is_read_in_the_limited_process() -> None:
    with plugins.declarations_only():
        upload = read_upload(b"| id | candidates | kg |\n|---|---|---|\n| a | fox; hare | 1 |\n| b | fox | |\n", "t.md")
        with pytest.raises(TableError, match=r"The plug-in markdown of winnow-example 1\.0 .* row 1 of 't\.md'"):
            read_upload(b"| id | set |\n|---|---|\n| a |\n", "t.md")
        plain = read_upload(b"id,set\na,fox;hare\n", "t.csv")
    assert upload.reading.format == "Markdown table (winnow-example 1.0)"
    assert upload.cells.to_dict("list") == {"id": ["a", "b"], "candidates": ["fox; hare", "fox"], "kg": ["1", ""]}
    assert upload.guess.candidates == "candidates"
    assert plain.reading.format == "CSV"
    assert "winnow_example.markdown" not in sys.modules


@pytest.mark.usefixtures("installed")
def test_worker_encodes_with_a_plugin_and_words_are_searched(home: Home, owner: int) -> None:
    seat = Seat(home, owner, text_project(home, owner))
    name = "plugin-trigrams"
    with plugins.declarations_only():
        assert encoding.names(home) == encoding_requests.encoders(seat).names == (name,)
        said = encoding.words_of(home, name)
        offers.ask(seat, name)
        with pytest.raises(EncoderError, match=r"'plugin-trigrams' is of a plug-in\. Fix: uninstall its package"):
            encoders_installed.remove(home, name)
    assert said == "Trigrams: hashed counts of three letters in a row (winnow-example 1.0)"
    EncodingWorker(home, "one").encode_asked()
    (made,) = table_of(seat).encoded
    assert (made.column, made.encoder, made.values.shape) == ("text", name, (60, 512))
    assert np.abs(made.values).max() > 0
    text = text_frame()["text"][7]
    with plugins.declarations_only():
        found = queue.list_nearest(seat, text)
    assert isinstance(found, QueueView)
    assert text_frame()["text"][found.rows[0].row] == text
    assert found.rows[0].near == pytest.approx(1.0, abs=1e-3)


@pytest.mark.proof
def test_template_is_listed_and_used_by_commands(tmp_path: Path) -> None:
    found = os.environ | {"PYTHONPATH": install_template(tmp_path / "site"), "WINNOW_HOME": str(tmp_path / "home")}
    (tmp_path / "birds.csv").write_text(small_frame(30).to_csv(index=False))

    def winnow(*words: str) -> str:
        command = [sys.executable, str(ROOT / "cli.py"), *words]
        return subprocess.run(command, cwd=tmp_path, env=found, capture_output=True, text=True, check=True).stdout

    boosted, broken, *others = json.loads(winnow("plugins", "--json"))["plugins"]
    assert (boosted["name"], boosted["distribution"], boosted["version"]) == ("boosted", "winnow-example", "1.0")
    assert {one["fault"] for one in (boosted, *others)} == {None}
    assert broken["fault"].startswith("winnow_example:OLD cannot be imported (AttributeError: ")
    listed = winnow("plugins").splitlines()
    assert listed[0] == "winnow.models\tboosted\twinnow-example 1.0\tin use"
    assert listed[2:] == [
        "winnow.strategies\tentropy\twinnow-example 1.0\tin use",
        "winnow.readers\tmarkdown\twinnow-example 1.0\tin use",
        "winnow.encoders\ttrigrams\twinnow-example 1.0\tin use",
    ]
    chosen = ("--setting", "model=plugin-boosted", "--setting", "strategy=plugin-entropy")
    assert "Project 1: 30 rows, 3 classes." in winnow("import", "birds.csv", *chosen)
