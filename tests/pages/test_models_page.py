"""The pages of models and your own encoder."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from db import trained
from pages.parts import state as page_state
from plcore import LabelTable, blocks
from plcore.arrays import Plugin
from plcore.blocks import RunnerError
from plcore.loop import MODEL_ENTRIES
from tests.pages.conftest import Open, by_label, press, sent_to, words
from tests.plcore.tables.encoders.models import encoder, mean_color
from tests.plcore.tables.encoders.small_catalogue import small_catalogue, words_entry
from tests.present import present
from tests.workflow.compared import Findings, findings
from tests.workflow.encoder_world import at_each_step, latest, stored, words_encoder
from tests.workflow.kinds.one_label.test_progress import answer_truly
from tests.workflow.models.test_plugins import plug_in_strategy
from tests.workflow.text_world import text_project
from tests.workflow.vector_world import vector_project
from tests.workflow.world import annotator, small_project
from workflow.backups.worker import BackupWorker
from workflow.importing import encoding, encoding_requests
from workflow.importing.encoding_worker import EncodingWorker
from workflow.importing.more_rows import NEW_ROWS
from workflow.importing.vector_memory import keep_speed
from workflow.models import choosing, leases, plugins, showing
from workflow.models.comparing import ComparingWorker
from workflow.models.encoders import installed, offers
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

# The Models page and what Progress says of the model, as their scripts draw them


__all__ = ["findings"]

PAGE = "models_page.py"


def labels(test: AppTest) -> list[str]:
    return [one.label for one in test.button]


def table(test: AppTest) -> dict[str, Any]:
    """Data sent to the table of models."""
    (data,) = sent_to(test, "winnow_models")
    return data


@pytest.fixture
def project(home: Home, owner: int) -> int:
    return small_project(home, owner, model="automatic")


@pytest.mark.parametrize("rows", [2, 4])
def test_table_too_small_to_compare_is_reported(
    home: Home, owner: int, show: Open, caplog: pytest.LogCaptureFixture, rows: int
) -> None:
    lines = "".join(f"r{k},{k * k},{('a|b', 'b')[k % 2]}\n" for k in range(rows))
    table = LabelTable.read_csv(f"id,x,candidates\n{lines}".encode())
    project = managing.create_project(Seat(home, owner), "small", table)
    with caplog.at_level("INFO"):
        BackupWorker(home, "worker").look()  # with all that a worker does
    assert f"Rows to learn from: {rows}." in caplog.text
    assert [record for record in caplog.records if record.exc_info] == []
    test = show(owner, PAGE, project=str(project))
    said = words(test).replace("\\", "")
    assert f"Rows to learn from: {rows}. That is too few to compare models, which takes at least 20." in said
    assert "Until then the project keeps its model. Fix: add rows, or choose a model by hand." in said
    assert "The first comparison starts by itself" not in said
    caplog.clear()
    BackupWorker(home, "worker").look()
    assert "too few" not in caplog.text, "it is not tried at every look"


def test_page_explains_comparison_before_first_one(home: Home, owner: int, project: int, show: Open) -> None:
    test = show(owner, PAGE, project=str(project))
    shown = words(test)
    assert "Automatic is on" in shown
    assert "It now uses **PL\\-KNN**." in shown
    assert "No comparison yet. The first comparison starts by itself" in shown
    assert "Compare now" in labels(test)
    listed = [*table(test)["models"], *table(test)["more"]]
    assert {one["name"]: (one["plain"], one["method"]) for one in listed} == {
        one.name: (one.plain, one.words.partition(":")[0]) for one in MODEL_ENTRIES.values()
    }
    assert [one["name"] for one in listed if one["inUse"]] == ["plknn"]
    assert all(one["measured"]["value"] is None and not one["best"] for one in listed)


def test_comparison_is_requested_and_cancelled(home: Home, owner: int, project: int, show: Open) -> None:
    test = press(show(owner, PAGE, project=str(project)), "Compare now")
    assert "The comparison is queued" in words(test)
    assert "Compare now" not in labels(test)
    press(test, "Cancel")
    assert "The latest comparison was cancelled." in words(test)
    assert "Compare now" in labels(test)
    assert "is queued" not in words(test)


def test_running_comparison_shows_progress(
    home: Home, owner: int, project: int, show: Open, findings: Findings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workflow.models.comparing.TOLD_EVERY", 0.0)
    texts: list[str] = []

    def look(done: int, _total: int, _name: str) -> None:
        for page in (PAGE, "progress.py"):
            test = show(owner, page, project=str(project))
            texts.append(" ".join(str(one.proto.text) for one in test.get("progress")))

    findings.before = look
    ComparingWorker(home, "one").look()
    assert texts[:2] == ["Comparing the models: reading the rows …"] * 2
    assert texts[2:] == ["Comparing the models: CLPL, 0% done"] * 2


def test_table_lists_every_model_and_one_click_switches(
    home: Home, owner: int, project: int, show: Open, findings: Findings
) -> None:
    ComparingWorker(home, "one").look()
    test = show(owner, PAGE, project=str(project))
    shown = words(test)
    assert "From the start: **CLPL**, 80% consistency with the candidates, beyond chance \\(PL\\-KNN 50%\\)." in shown
    assert "ago, after 0 answers" in shown
    data = table(test)
    assert data["title"] == "Consistency"
    first, second, *others = data["models"]
    assert (first["name"], first["best"], first["inUse"], first["seconds"]) == ("clpl", True, True, "0.2 s")
    assert first["measured"]["value"] == 0.8
    assert first["measured"]["low"] < 0.8 < first["measured"]["high"]
    assert (second["name"], second["measured"]["value"]) == ("plknn", 0.5)
    assert 0 <= data["axis"][0] <= second["measured"]["low"]
    assert {one["measured"]["value"] for one in [*others, *data["more"]]} == {None}
    choosing.adopt(Seat(home, owner, project), "plknn")
    test.run()
    assert [one["name"] for one in table(test)["models"] if one["inUse"]] == ["plknn"]
    assert managing.learner_settings(Seat(home, owner, project))["model"] == "plknn"
    shown = words(test)
    assert "Automatic is off" in shown
    assert "Winnow uses **PL\\-KNN** until you choose another model." in shown
    assert "**PL\\-KNN**, chosen by a person" in shown
    test.toggle[0].set_value(True).run()
    assert managing.learner_settings(Seat(home, owner, project))["model"] == "automatic"
    assert "Winnow chooses the model again" in words(test)
    test.toggle[0].set_value(False).run()
    assert managing.learner_settings(Seat(home, owner, project))["model"] == "plknn"
    assert "Automatic is off" in words(test)


def test_axis_has_length_if_all_models_are_perfect(
    home: Home, owner: int, project: int, show: Open, findings: Findings
) -> None:
    findings.kappas = {"clpl": 1.0, "plknn": 1.0}
    ComparingWorker(home, "one").look()
    data = table(show(owner, PAGE, project=str(project)))
    assert (data["axis"], data["ticks"]) == ([0.9, 1.0], [0.9, 1.0])


def test_lead_within_chance_is_reported(home: Home, owner: int, project: int, show: Open, findings: Findings) -> None:
    seat, worker = Seat(home, owner, project), ComparingWorker(home, "one")
    worker.look()
    assert "within chance" not in words(show(owner, PAGE, project=str(project)))
    findings.kappas = {"plsvc": 0.81, "clpl": 0.8, "plknn": 0.5}
    choosing.compare_now(seat)
    worker.look()
    shown = words(show(owner, PAGE, project=str(project)))
    assert "PL\\-SVM is best, but within chance: CLPL stays." in shown
    choosing.adopt(seat, "plknn")
    choosing.back_to_automatic(seat)
    assert "within chance" not in words(show(owner, PAGE, project=str(project))), "a person chose since"


def test_blind_check_accuracy_has_interval_and_warning(home: Home, owner: int, show: Open, findings: Findings) -> None:
    project = small_project(home, owner, model="automatic", control_share=0.5, test_share=0.0)
    answer_truly(home, owner, project, 45)
    findings.accuracies = {"clpl": 0.75}
    ComparingWorker(home, "one").look()
    for page in (PAGE, "progress.py"):
        shown = words(show(owner, page, project=str(project)))
        assert "From answer 45 on: **CLPL**, 75% by" in shown
        assert "The blind checks that chose a model also measure it" in shown
    view = showing.models_view(Seat(home, owner, project))
    assert view.lines[0].interval is not None
    low, high = view.lines[0].interval
    data = table(show(owner, PAGE, project=str(project)))
    assert data["title"] == "Accuracy"
    shown = data["models"][0]["measured"]
    assert (shown["value"], shown["low"], shown["high"]) == (0.75, round(low, 4), round(high, 4))


def test_progress_names_model_only_after_a_change(
    home: Home, owner: int, project: int, show: Open, findings: Findings
) -> None:
    assert "From" not in words(show(owner, "progress.py", project=str(project))).replace("From question", "")
    ComparingWorker(home, "one").look()
    test = show(owner, "progress.py", project=str(project))
    assert "From the start: **CLPL**" in words(test)
    assert "The blind checks that chose" not in words(test), "consistency chose it"
    ada = annotator(home, owner, "Ada")
    shown = show(ada, "progress.py", project=str(project))
    assert "From the start: **CLPL**" in words(shown)
    links = [one.proto.label for one in shown.get("page_link")]
    assert not [label for label in links if "Models" in label], "the page is the owner's"


def test_failed_or_unused_comparison_is_explained(home: Home, owner: int, project: int, show: Open) -> None:
    seat = Seat(home, owner, project)
    for state, fault in ((trained.FAILED, "too *few* rows"), (trained.DONE, "cannot be trained")):
        choosing.compare_now(seat)
        with home.database.write() as session:
            last = present(trained.COMPARISONS.latest(session, project))
            report = {"figures": [], "best": None, "rows": 9, "checks": 0}
            trained.COMPARISONS.end(session, last.id, state, last.asked_at, fault=fault, report=report, seconds=75.0)
        test = show(owner, PAGE, project=str(project))
        assert fault.replace("*", "\\*") in "\n".join(one.value for one in test.warning)


def test_comparison_that_waits_for_its_cluster_says_so(
    home: Home, owner: int, project: int, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody(*_: object) -> None:
        raise RunnerError("No Dask scheduler answers at tcp://10.0.0.1:8786. Fix: start one.")

    monkeypatch.setattr(blocks, "make_runner", nobody)
    settings = replace(home.settings, cluster="tcp://10.0.0.1:8786")
    ComparingWorker(replace(home, settings=settings), "one").look()
    (said,) = (one.value for one in show(owner, PAGE, project=str(project)).warning)
    assert said.startswith("No Dask scheduler answers at tcp")
    assert "The comparison waits for it" in said
    assert "It is tried again in 10 seconds" in said


def test_plugin_that_is_left_out_is_named_with_reason(
    home: Home, owner: int, project: int, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Plugin("winnow.models", "bayes", "winnow-bayes", "2.1", None, "x:y cannot be imported. Fix: *z*.")
    monkeypatch.setattr(plugins, "list_plugins", lambda: (broken,))
    test = show(owner, PAGE, project=str(project))
    (said,) = [one.value for one in test.warning]
    assert (
        said.replace("\\", "") == "The plug-in bayes of winnow-bayes 2.1 is left out. x:y cannot be imported. Fix: *z*."
    )
    assert r"Fix\: \*z\*" in said, "not as markup"


def test_queue_says_when_a_plugin_does_not_order_it(home: Home, owner: int, project: int, show: Open) -> None:
    with pytest.MonkeyPatch.context() as patched:
        plug_in_strategy(patched, "by_number")
        managing.change_learner(Seat(home, owner, project), strategy="plugin-entropy")
    test = show(owner, "queue_page.py", project=str(project))
    (said,) = [one.value.replace("\\", "") for one in test.warning]
    assert said.startswith(
        "The question order is APL: could change most predictions, not plugin-entropy: it is of a plug"
    )
    (box,) = [one for one in test.selectbox if one.label == "Question order"]
    assert box.options[1] == "plugin-entropy: a plug-in that is not there"
    box.set_value("random").run()
    assert managing.learner_settings(Seat(home, owner, project))["strategy"] == "random"
    assert not test.warning


def test_models_page_is_for_owners_only(home: Home, owner: int, project: int, show: Open) -> None:
    test = show(annotator(home, owner, "Ada"), PAGE, project=str(project))
    assert "Only owners can open this page." in words(test)
    assert not sent_to(test, "winnow_models")


def test_label_vectors_have_no_models_to_compare(home: Home, owner: int, show: Open) -> None:
    test = show(owner, PAGE, project=str(vector_project(home, owner)))
    assert "Projects of this kind have no models to compare" in words(test)
    assert "Compare now" not in labels(test)


def test_settings_offer_automatic_with_its_settings(home: Home, owner: int, project: int, show: Open) -> None:
    test = show(owner, "project_page.py", project=str(project))
    model = by_label(test.selectbox, "Model")
    assert model.value == "automatic"
    assert model.options[0].startswith("Automatic")
    numbers = {one.label for one in test.number_input}
    assert "Retrain after (answers)" in numbers
    assert "C" not in numbers, "a comparison finds it"


# The tab Learning of the project's settings: the owner's own encoder, from the click to the result


OWN_ENCODER_PAGE = "project_page.py"


@pytest.fixture
def seat(home: Home, owner: int) -> Seat:
    return Seat(home, owner, text_project(home, owner))


def opened(show: Open, seat: Seat) -> AppTest:
    return show(seat.person_id, OWN_ENCODER_PAGE, project=str(seat.project_id))


def bars(test: AppTest) -> list[str]:
    return [str(one.proto.text) for one in test.get("progress")]


def test_page_without_encoder_explains_how_to_add_one(seat: Seat, show: Open) -> None:
    test = opened(show, seat)
    shown = words(test).replace("\\", "")
    assert "To use an ONNX model of your own for texts, images or sounds" in shown
    assert str(seat.home.encoders_dir) in shown
    assert "docs/library.md" in shown
    assert not [one for one in test.selectbox if one.label == "Encoder"]
    assert not [label for label in labels(test) if label.startswith("Learn from words")]


def test_encoder_that_reads_no_column_is_not_offered(
    home: Home, owner: int, project: int, seat: Seat, show: Open
) -> None:
    encoder(home.encoders_dir / "eyes", {"kind": "image", "size": 4}, mean_color())
    (home.encoders_dir / words_encoder(home) / encoding.SOURCE).write_text("{}")
    assert "Learn from eyes" not in labels(opened(show, seat))
    assert "Learn from words" not in labels(opened(show, seat)), "Winnow has put it there"
    of_numbers = opened(show, Seat(home, owner, project))
    assert "Encoder of your own" not in words(of_numbers)


def test_encoding_is_requested_queued_and_cancelled(seat: Seat, show: Open) -> None:
    words_encoder(seat.home)
    words_encoder(seat.home, "alpha")
    test = opened(show, seat)
    assert "Learn from alpha" in labels(test), "the first by name"
    by_label(test.selectbox, "Encoder").select("words").run()
    press(test, "Learn from words")
    assert (latest(seat).encoder, latest(seat).asked_by) == ("words", seat.person_id)
    assert "words is queued" in words(test)
    assert not [label for label in labels(test) if label.startswith("Learn from")]
    press(test, "Cancel")
    assert latest(seat).state == trained.CANCELLED
    assert "The latest encoding was cancelled." in words(test)
    assert "is queued" not in words(test)
    assert "Cancel" not in labels(test)
    assert [label for label in labels(test) if label.startswith("Learn from")]


def test_encoding_shows_progress_and_then_result(seat: Seat, show: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workflow.importing.encoding_worker.TOLD_EVERY", 0.0)
    offers.ask(seat, words_encoder(seat.home))
    texts: list[str] = []
    at_each_step(monkeypatch, lambda *_: texts.extend(bars(opened(show, seat))))
    EncodingWorker(seat.home, "one").look()
    counts = [text.partition(", about ")[0] for text in texts]
    assert counts == ["words: reading the rows …", *(f"words: {done} of 60" for done in (16, 32, 48))]
    assert texts[-1].endswith("about 1 minute left"), "from the 32nd row on"
    test = opened(show, seat)
    assert bars(test) == []
    shown = words(test)
    assert "**words** encoded the rows" in shown
    assert "Its vectors replace the current ones." in shown
    assert "Rows that are added later are encoded, too." in shown
    assert "Cancel" not in labels(test)
    assert len(stored(seat)) == 1


def test_open_page_shows_end_of_encoding(seat: Seat, show: Open) -> None:
    offers.ask(seat, words_encoder(seat.home))
    test = opened(show, seat)
    assert "words is queued" in words(test)
    EncodingWorker(seat.home, "one").look()
    test.run()
    assert not test.exception
    assert "**words** encoded the rows" in words(test)


def test_failed_encoding_is_explained_with_fix(seat: Seat, show: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    offers.ask(seat, words_encoder(seat.home))
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "onnxruntime", None)
        EncodingWorker(seat.home, "one").look()
    test = opened(show, seat)
    assert "Learn from words" in labels(test), "it can be tried again"
    shown = words(test).replace("\\", "")
    assert "The rows could not be encoded: Encoders need ONNX Runtime, which is not installed." in shown
    assert "pip install 'plcore[onnx]'" in shown
    encoder(seat.home.encoders_dir / "words", {"kind": "image", "size": 4}, mean_color())
    offers.ask(seat, "words")
    EncodingWorker(seat.home, "one").look()
    assert "No row has an image to encode" in words(opened(show, seat))


def test_failed_encoding_of_new_rows_says_when_it_is_retried(seat: Seat, show: Open) -> None:
    words_encoder(seat.home)
    with seat.owning() as owning:
        now = datetime.now(UTC)
        project = owning.project.id
        one = trained.ENCODINGS.ask(owning.session, project, asked_by=seat.person_id, asked_at=now, encoder=NEW_ROWS)
        trained.ENCODINGS.end(owning.session, one, trained.FAILED, now, fault="It is gone.")
    shown = words(opened(show, seat)).replace("\\", "")
    assert "The rows could not be encoded: It is gone. These are rows that were added later." in shown
    assert "tries them again in an hour" in shown


def test_click_on_removed_encoder_starts_no_other(seat: Seat, show: Open) -> None:
    words_encoder(seat.home)
    test = opened(show, seat)
    for file in (seat.home.encoders_dir / "words").iterdir():
        file.unlink()
    (seat.home.encoders_dir / "words").rmdir()
    words_encoder(seat.home, "other")
    press(test, "Learn from words")
    assert encoding_requests.encoders(seat).running is None


# The same tab: a pretrained encoder, with the consent form


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two encoders of texts are available for download; one is not for commercial use."""
    limited = words_entry(title="Limited", licence="CC-BY-NC-SA-4.0", commercial=False)
    made = small_catalogue(tmp_path / "catalogue", words=words_entry(ms=2.0), limited=limited)
    monkeypatch.setattr(installed, "read_catalogue", lambda: made)
    monkeypatch.delenv("HF_ENDPOINT", raising=False)


@pytest.mark.usefixtures("known")
def test_offer_states_size_licence_host_and_time(seat: Seat, show: Open) -> None:
    test = opened(show, seat)
    shown = words(test).replace("\\", "")
    assert "Winnow has read **text** word by word. *Words* also reads what it means." in shown
    assert "It is downloaded once from huggingface.co (0 MB, MIT, Copyright (c) Ada)." in shown
    assert "Your rows stay on this server; nothing about them is sent. About 1 minute for 60 rows." in shown
    press(test, "Learn from meaning")
    assert (latest(seat).encoder, latest(seat).asked_by) == ("words", seat.person_id)
    assert "words is queued" in words(test)
    assert "Learn from meaning" not in labels(test)


@pytest.mark.usefixtures("known")
def test_models_page_requests_encoder_in_dialog(seat: Seat, show: Open) -> None:
    test = show(seat.person_id, PAGE, project=str(seat.project_id))
    meaning = table(test)["meaning"]
    assert (meaning["on"], meaning["gain"], meaning["action"]) == (False, "", "Learn from meaning")
    assert meaning["sofar"] == "not measured"
    assert meaning["facts"] == ["Words", "0 MB download", "MIT", "Your rows stay on this server"]
    test.session_state[page_state.MEANING] = True
    test.run()
    assert "Not now" not in labels(test), "a dialog has a button that closes it"
    press(test, "Learn from meaning")
    assert (latest(seat).encoder, latest(seat).asked_by) == ("words", seat.person_id)


@pytest.mark.usefixtures("known")
def test_encoder_not_for_commercial_use_needs_consent(seat: Seat, show: Open) -> None:
    test = opened(show, seat)
    press(test, "Other encoders")
    chosen = by_label(test.selectbox, "Other encoders")
    chosen.select_index(1).run()
    assert by_label(test.button, "Learn from meaning").disabled
    next(one for one in test.checkbox if one.label.startswith("My use is non-commercial")).check().run()
    press(test, "Learn from meaning")
    assert latest(seat).encoder == "limited"


@pytest.mark.usefixtures("known")
def test_not_now_hides_offer(seat: Seat, show: Open) -> None:
    test = opened(show, seat)
    press(test, "Not now")
    assert "Learn from meaning" not in labels(test)
    assert encoding_requests.encoders(seat).running is None


def test_encoder_package_for_operator_is_named(
    seat: Seat, show: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packaged = words_entry(revision=None, wheel="wordllama==1.0")
    made = small_catalogue(tmp_path / "catalogue", words=packaged)
    monkeypatch.setattr(installed, "read_catalogue", lambda: made)
    test = opened(show, seat)
    shown = words(test).replace("\\", "")
    assert "The operator can add it (0 MB, MIT, Copyright (c) Ada)" in shown
    assert "`pip download --no-deps wordllama==1.0`, then `winnow encoders add FILE.whl`" in shown
    assert "Learn from meaning" not in labels(test)


def test_unverified_encoder_is_shown_on_request_only(
    seat: Seat, show: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = small_catalogue(tmp_path / "catalogue", bare=words_entry(files=[{"name": "m", "what": "model"}]))
    monkeypatch.setattr(installed, "read_catalogue", lambda: made)
    test = opened(show, seat)
    assert "have verified no encoder for **text** yet" in words(test)
    assert "It is not verified" not in words(test)
    press(test, "Other encoders")
    assert by_label(test.selectbox, "Other encoders").options == ["Words: for tests (not verified)"]
    assert "It is not verified (0 MB" in words(test)
    assert "Learn from meaning" not in labels(test)


def test_verified_encoder_is_offered_next_to_unverified_ones(
    seat: Seat, show: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = words_entry(files=[{"name": "m", "what": "model"}])
    made = small_catalogue(tmp_path / "catalogue", words=words_entry(), bare=bare)
    monkeypatch.setattr(installed, "read_catalogue", lambda: made)
    offers.ask(seat, words_encoder(seat.home))
    EncodingWorker(seat.home, "one").look()
    test = opened(show, seat)
    assert "Other encoders" in labels(test)
    assert "have verified no encoder" not in words(test)


def test_cancelled_encoding_is_resumed_by_button(seat: Seat, show: Open) -> None:
    offers.ask(seat, words_encoder(seat.home))
    encoding_requests.cancel(seat)
    press(opened(show, seat), "Resume")
    running = present(encoding_requests.encoders(seat).running)
    assert running.encoder == "words"


def test_column_names_its_encoder_and_who_asked_for_it(seat: Seat, show: Open) -> None:
    words_encoder(seat.home)
    offers.ask(seat, "words")
    EncodingWorker(seat.home, "one").look()
    shown = words(opened(show, seat)).replace("\\", "")
    assert f"asked for by owner on {datetime.now(UTC):%Y-%m-%d} (your own encoder)." in shown


@pytest.mark.usefixtures("known")
def test_downloaded_encoder_is_removed_by_button(seat: Seat, show: Open) -> None:
    folder = seat.home.encoders_dir / words_encoder(seat.home)
    assert "Remove it" not in labels(opened(show, seat)), "it is the owner's own, which the operator removes"
    (folder / encoding.SOURCE).write_text("{}")
    press(opened(show, seat), "Remove it")
    assert encoding.names(seat.home) == ()


def note_running(seat: Seat, done: int, total: int) -> None:
    """Report this progress of a worker on the requested encoding."""
    now = datetime.now(UTC)
    with seat.home.database.write() as session:
        one = present(trained.ENCODINGS.latest(session, seat.project_id or 0))
        until = now + 2 * leases.LEASE
        trained.take_lease(session, one.project_id, "one", str(one.id), now, until, "encode")
        trained.ENCODINGS.begin(session, one.id)
        trained.ENCODINGS.note(session, one.id, done, total)


@pytest.mark.usefixtures("known")
def test_running_encoding_shows_minutes_left_and_slowness(seat: Seat, show: Open) -> None:
    words_encoder(seat.home)
    keep_speed(encoding.vectors_dir(seat.home), "words", 8_000.0)
    offers.ask(seat, "words")
    note_running(seat, 32, 60)
    test = opened(show, seat)
    progress = [one.proto.text for one in test.get("progress")]  # type: ignore[union-attr]
    assert progress == ["words: 32 of 60, about 4 minutes left"]
    assert "It takes about 4,000 times as long as estimated. You can answer meanwhile." in words(test)


@pytest.mark.usefixtures("known")
def test_download_shows_its_megabytes(seat: Seat, show: Open) -> None:
    press(opened(show, seat), "Learn from meaning")
    note_running(seat, 12_300_000, 91_300_000)
    assert bars(opened(show, seat)) == ["Downloading: 12.3 of 91.3 MB"]


def test_back_to_words_removes_vectors(seat: Seat, show: Open) -> None:
    offers.ask(seat, words_encoder(seat.home))
    EncodingWorker(seat.home, "one").look()
    test = opened(show, seat)
    assert "**text** is read by **words** (" in words(test)
    press(test, "Back to words")
    assert encoding_requests.encoders(seat).columns == ()
    assert "is read by" not in words(test)
    assert "encoded the rows" not in words(test)
    assert "Back to words" not in labels(test)


@pytest.mark.usefixtures("known")
def test_encoded_column_is_offered_other_encoders_only_when_asked(seat: Seat, show: Open) -> None:
    offers.ask(seat, words_encoder(seat.home))
    EncodingWorker(seat.home, "one").look()
    test = opened(show, seat)
    assert "word by word" not in words(test)
    assert "Learn from meaning" not in labels(test)
    press(test, "Other encoders")
    assert "*Limited* can read **text** in place of its encoder. It is downloaded" in words(test)
    meaning = table(show(seat.person_id, PAGE, project=str(seat.project_id)))["meaning"]
    assert (meaning["on"], meaning["sofar"]) == (True, "measured after 40 answers")
