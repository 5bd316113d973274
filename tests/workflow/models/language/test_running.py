"""Runs of a language model against a server on 127.0.0.1, with a clock that the waiting moves."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.fake_model import FakeModel, knows, labels, serving_model
from workflow import importing
from workflow.models.language.endpoint import BusyError, ChatEndpoint, EndpointError
from workflow.models.language.ledger import Ledger, LedgerError, OverCapError, TokenCap, TokenPrices
from workflow.models.language.replies import Shortlist
from workflow.models.language.requests import LabelTask, Tokens
from workflow.models.language.running import SuggestionRun, with_shortlists, write_shortlists

CLASSES = {"wren": "", "robin": "", "emu, the big one": ""}
TEXTS = [f"bird {number}" for number in range(12)]
TRUTH = {text: list(CLASSES)[number % 3 :] for number, text in enumerate(TEXTS)}
TASK = LabelTask(CLASSES)
KEY = "sk-very-secret"


class Clock:
    """A clock that waiting moves. waited : seconds      said : what was told"""

    def __init__(self) -> None:
        self.at = datetime(2026, 1, 5, 8, 30)
        self.waited: list[float] = []
        self.said: list[str] = []

    def wait(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.at += timedelta(seconds=seconds)

    def now(self) -> datetime:
        return self.at


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with serving_model(FakeModel(knows(TRUTH))) as made:
        yield made


@pytest.fixture
def clock() -> Clock:
    return Clock()


def complete(model: FakeModel, ledger: Ledger, texts: list[str], clock: Clock, at_once: int) -> SuggestionRun:
    with closing(ChatEndpoint(model.url, "m", KEY)) as endpoint:
        run = SuggestionRun(
            TASK, texts, endpoint, ledger, at_once=at_once, tell=clock.said.append, wait=clock.wait, now=clock.now
        )
        run.run(lambda _done, _total: None)
        return run


def finish(
    model: FakeModel, path: Path, clock: Clock, texts: list[str] = TEXTS, cap: TokenCap | None = None, at_once: int = 1
) -> tuple[SuggestionRun, Ledger]:
    with Ledger(path, {"model": "m"}, cap) as ledger:
        return complete(model, ledger, texts, clock, at_once), ledger


def test_run_asks_each_row_once_and_reads_the_replies(model: FakeModel, clock: Clock, tmp_path: Path) -> None:
    run, ledger = finish(model, tmp_path / "j", clock, at_once=3)
    assert model.counts() == dict.fromkeys(TEXTS, 1)
    assert ledger.spent == Tokens(1200, 240)
    shares = {3: {0: 0.6, 1: 0.3, 2: 0.1}, 2: {1: 2 / 3, 2: 1 / 3}, 1: {2: 1.0}}
    for text, one in zip(TEXTS, run.shortlists(), strict=True):
        assert one.shares == pytest.approx(shares[len(TRUTH[text])])
    lines = [json.loads(line) for line in (tmp_path / "j").read_text().splitlines()]
    replies = [line for line in lines if "row" in line]
    assert sorted(one["row"] for one in replies) == list(range(12))
    assert replies[0].keys() == {"row", "prompt", "model", "reply", "seconds", "at"}
    assert KEY not in (tmp_path / "j").read_text()


def test_finished_run_sends_nothing(model: FakeModel, clock: Clock, tmp_path: Path) -> None:
    first, _ = finish(model, tmp_path / "j", clock)
    again, ledger = finish(model, tmp_path / "j", clock)
    assert again.shortlists() == first.shortlists()
    assert len(model.bodies) == 12
    assert ledger.spent == Tokens(1200, 240)


def test_best_kind_of_score_is_used_that_the_server_sends(model: FakeModel, clock: Clock, tmp_path: Path) -> None:
    model.tops = lambda numbers, _text: {str(number): -1.0 for number in numbers.values()}
    run, _ = finish(model, tmp_path / "j", clock)
    assert {one.scores for one in run.shortlists()} == {"logprobs"}


def test_refused_options_are_left_out_from_the_first_request_on(model: FakeModel, clock: Clock, tmp_path: Path) -> None:
    model.takes = {"logprobs"}
    run, ledger = finish(model, tmp_path / "j", clock)
    assert len(model.bodies) == 12 + 2, "with both, with a schema, then with log-probabilities"
    assert {one.outcome for one in run.shortlists()} == {"listed"}
    assert ledger.spent == Tokens(1200, 240), "refused requests cost nothing"


@pytest.mark.parametrize("after", ["120", "Mon, 05 Jan 2099 08:32:00 GMT"])
def test_busy_server_is_waited_for_as_long_as_it_asks(
    model: FakeModel, clock: Clock, tmp_path: Path, after: str
) -> None:
    model.faults = [(429, {"Retry-After": after}, "slow down")]
    _, ledger = finish(model, tmp_path / "j", clock, at_once=2)
    (waited,) = clock.waited
    assert waited == (120.0 if after == "120" else 7 * 86_400.0), "a week at most"
    (said,) = clock.said
    assert "429: slow down The run continues at 08:3" in said
    assert model.counts() == dict.fromkeys(TEXTS, 1)
    assert ledger.spent == Tokens(1200, 240)


def test_pauses_double_and_a_dead_server_ends_the_run(model: FakeModel, clock: Clock, tmp_path: Path) -> None:
    model.faults = [None, *((503, {}, "") for _ in range(10))]
    with pytest.raises(EndpointError, match=r"It was tried 10 times\. Fix: run it again later"):
        finish(model, tmp_path / "j", clock)
    assert clock.waited == [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0]
    run, _ = finish(model, tmp_path / "j", clock)
    assert model.counts() == dict.fromkeys(TEXTS, 1), "failures are not stored"
    assert {one.outcome for one in run.shortlists()} == {"listed"}


def test_lost_replies_are_asked_again_and_count_as_spent(model: FakeModel, clock: Clock, tmp_path: Path) -> None:
    model.faults = [(200, {}, None), (200, {}, "<html>"), (200, {}, '{"choices": []}')]
    _, ledger = finish(model, tmp_path / "j", clock)
    assert len(clock.waited) == 3
    most = TASK.requests(TEXTS)[0].most
    assert ledger.spent == Tokens(1200 + 3 * most.read, 240 + 3 * most.written)


def test_slow_reply_is_given_up() -> None:
    model, ticks = FakeModel(knows(TRUTH)), iter(range(0, 10_000, 60))
    with (
        serving_model(model),
        closing(ChatEndpoint(model.url, "m", seconds=50.0, clock=lambda: next(ticks))) as endpoint,
        pytest.raises(BusyError, match="did not end its reply"),
    ):
        endpoint.complete(TASK.requests(TEXTS)[0].body("m", schema=True, logprobs=True))


def test_row_that_the_server_refuses_keeps_every_class(model: FakeModel, clock: Clock, tmp_path: Path) -> None:
    model.faults = [None, (400, {}, "too long")]
    run, _ = finish(model, tmp_path / "j", clock)
    assert run.refused == {1: "127.0.0.1 replied with status 400: too long"}
    assert run.shortlists()[1] == Shortlist("refused")
    again, _ = finish(model, tmp_path / "j", clock)
    assert again.shortlists()[1].outcome == "listed"
    assert model.counts() == dict.fromkeys(TEXTS, 1)


def test_server_that_refuses_every_request_ends_the_run(model: FakeModel, clock: Clock, tmp_path: Path) -> None:
    model.faults = [(400, {}, "no such model")] * 100
    with pytest.raises(EndpointError, match="no such model The last 10 requests were refused"):
        finish(model, tmp_path / "j", clock)
    model.faults = [(401, {}, f"bad key {KEY}")]
    with pytest.raises(EndpointError, match=r"bad key \*\*\*$"):
        finish(model, tmp_path / "j", clock)


def test_redirect_is_not_followed(model: FakeModel, clock: Clock, tmp_path: Path) -> None:
    model.faults = [(307, {"Location": "http://169.254.169.254/"}, "")]
    with pytest.raises(EndpointError, match="redirects to another address, which is not followed"):
        finish(model, tmp_path / "j", clock)
    assert len(model.bodies) == 1


def test_empty_texts_are_not_sent(model: FakeModel, clock: Clock, tmp_path: Path) -> None:
    run, _ = finish(model, tmp_path / "j", clock, ["bird 0", "  ", "bird 2"])
    assert model.asked == ["bird 0", "bird 2"]
    assert run.shortlists()[1] == Shortlist("empty")


def test_key_is_sent_but_in_no_message(
    model: FakeModel, clock: Clock, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    finish(model, tmp_path / "j", clock)
    assert {one["authorization"] for one in model.headers} == {f"Bearer {KEY}"}
    assert KEY not in repr(ChatEndpoint(model.url, "m", KEY)) + caplog.text


def test_cap_refuses_before_the_first_request(model: FakeModel, clock: Clock, tmp_path: Path) -> None:
    most = sum((one.most for one in TASK.requests(TEXTS)), Tokens())
    with pytest.raises(OverCapError, match="could cross its cap"):
        finish(model, tmp_path / "j", clock, cap=TokenCap(most.total - 1))
    assert model.bodies == []
    finish(model, tmp_path / "j", clock, cap=TokenCap(most.total))
    assert len(model.bodies) == 12


def test_cap_in_money_needs_prices_of_its_currency() -> None:
    prices = TokenPrices.parse("0.15/0.60 USD")
    assert prices.cost(Tokens(2_000_000, 1_000_000)) == pytest.approx(0.9)
    cap = TokenCap.parse("0.9 USD", prices)
    assert cap.allows(Tokens(1_900_000, 1_000_000))
    assert not cap.allows(Tokens(2_100_000, 1_000_000))
    assert TokenCap.parse("2,000_000", None) == TokenCap(2e6)
    for wrong, words in (("5 USD", "unknown is not free"), ("much", "A cap is a number of tokens")):
        with pytest.raises(LedgerError, match=words):
            TokenCap.parse(wrong, None)
    with pytest.raises(LedgerError, match="in EUR, the prices are in USD"):
        TokenCap.parse("5 EUR", prices)
    with pytest.raises(LedgerError, match="A price is"):
        TokenPrices.parse("0.15")


class KilledError(Exception):
    """The process was killed."""


class KilledLedger(Ledger):
    """A ledger that ends as that of a killed process does: nothing is written any more. dies_at : replies"""

    dies_at = 0

    def _write(self, event: Mapping[str, Any]) -> None:
        if self.dies_at and len(self.records) >= self.dies_at:
            raise KilledError
        super()._write(event)


@pytest.mark.parametrize("at_once", [1, 4])
def test_killed_runs_ask_200_rows_once_each_below_the_cap(
    model: FakeModel, clock: Clock, tmp_path: Path, at_once: int
) -> None:
    texts = [f"bird {number}" for number in range(200)]
    task = [one.most for one in TASK.requests(texts)]
    bound, model.usage = sum(task, Tokens()), (task[0].read, task[0].written)
    model.reply = lambda numbers, _text: labels((numbers["wren"], 1))
    kills = (37, 111, 150)
    cap = TokenCap(bound.total + len(kills) * at_once * max(one.total for one in task))
    path, killed = tmp_path / "j", 0
    for kill_after in kills:
        with KilledLedger(path, {}, cap) as ledger:
            ledger.dies_at = kill_after
            with pytest.raises(KilledError):
                complete(model, ledger, texts, clock, at_once)
        with path.open("ab") as file:
            file.write(b'{"row": 1')  # cut off
        killed += 1
    before = len(model.asked)
    with Ledger(path, {}, cap) as ledger:
        done = {texts[row] for row in ledger.records}
        run = complete(model, ledger, texts, clock, at_once)
        assert cap.allows(ledger.spent)
    assert not done & set(model.asked[before:]), "a row with a reply is never asked again"
    assert set(model.asked) == set(texts)
    again = sum(model.counts().values()) - 200
    assert again <= killed * at_once, "only requests under way when it was killed"
    assert {one.outcome for one in run.shortlists()} == {"listed"}


def test_lost_requests_never_carry_a_run_over_its_cap(model: FakeModel, clock: Clock, tmp_path: Path) -> None:
    most = sum((one.most for one in TASK.requests(TEXTS)), Tokens())
    request = TASK.requests(TEXTS)[0].most
    model.usage = (request.read, request.written)
    model.faults = [(200, {}, None)] * 3
    with pytest.raises(OverCapError):
        finish(model, tmp_path / "j", clock, cap=TokenCap(most.total))
    assert len(model.bodies) <= 12, "each may have cost its upper bound"


def test_journal_of_another_run_or_in_use_is_refused(model: FakeModel, clock: Clock, tmp_path: Path) -> None:
    finish(model, tmp_path / "j", clock)
    with pytest.raises(LedgerError, match="the journal of another run: model differ"):
        Ledger(tmp_path / "j", {"model": "other"})
    with Ledger(tmp_path / "j", {"model": "m"}), pytest.raises(LedgerError, match="Another run writes"):
        Ledger(tmp_path / "j", {"model": "m"})
    lines = (tmp_path / "j").read_text().splitlines(keepends=True)
    (tmp_path / "j").write_text("".join([lines[0], "oops\n", *lines[1:]]))
    with pytest.raises(LedgerError, match="Line 2 of"):
        Ledger(tmp_path / "j", {"model": "m"})


def resolved(*addresses: str) -> dict[str, object]:
    return {"resolve": lambda _host, _port: list(addresses)}


@pytest.mark.parametrize("address", ["169.254.169.254", "fe80::1%eth0", "::ffff:169.254.1.1", "0.0.0.0", "::"])  # noqa: S104
def test_link_local_addresses_are_refused_unless_the_operator_allows_them(address: str) -> None:
    with pytest.raises(EndpointError, match="link-local"):
        ChatEndpoint("http://x.example.org/v1", "m", **resolved("8.8.8.8", address))  # type: ignore[arg-type]
    hosts = ("*.example.org",)
    ChatEndpoint("http://x.example.org/v1", "m", hosts=hosts, **resolved(address)).close()  # type: ignore[arg-type]


def test_operator_limits_hosts() -> None:
    with pytest.raises(EndpointError, match="WINNOW_SUGGESTIONS=off"):
        ChatEndpoint("http://localhost/v1", "m", hosts=())
    with pytest.raises(EndpointError, match=r"does not allow localhost\. Fix: use one of a\.org"):
        ChatEndpoint("http://localhost/v1", "m", hosts=("a.org",))


def test_invalid_address_or_address_with_key_is_refused(subtests: pytest.Subtests) -> None:
    for url in ["localhost:80", "ftp://x", "http://", "http://me:pw@x/v1", "http://x/v1?key=1", "http://[x"]:
        with subtests.test(str(url)), pytest.raises(EndpointError, match="begins with http"):
            ChatEndpoint(url, "m", **resolved("127.0.0.1"))  # type: ignore[arg-type]


def test_key_travels_to_other_networks_only_encrypted() -> None:
    with pytest.raises(EndpointError, match="unencrypted"):
        ChatEndpoint("http://api.example.com/v1", "m", KEY, **resolved("8.8.8.8"))  # type: ignore[arg-type]
    for url, address in (("https://api.example.com/v1", "8.8.8.8"), ("http://gpu/v1", "10.0.0.7")):
        endpoint = ChatEndpoint(url, "m", KEY, **resolved(address))  # type: ignore[arg-type]
        assert not endpoint.is_own
        endpoint.close()


def test_written_file_is_read_back_as_the_same_candidates(tmp_path: Path) -> None:
    cells = pd.DataFrame(
        {"id": ["a", "b", "c"], "text": ["one, two", 'say "x"\nagain', "three words here"], "grams": ["1", "2.5", ""]},
        dtype="str",
    )
    names, out = [*CLASSES, "a|b"], tmp_path / "o.csv"
    lists = [
        Shortlist("listed", "weights", {0: 0.625, 2: 0.375}),
        Shortlist("none"),
        Shortlist("listed", "ranks", {3: 2 / 3, 1: 1 / 3}),
    ]
    assert write_shortlists(cells, names, lists, out) == "candidates"
    upload, table = importing.read_as_named(out, {"candidates": "candidates"})
    pd.testing.assert_frame_equal(upload.cells[list(cells.columns)].reset_index(drop=True), cells)
    assert upload.cells["winnow_suggestion"].tolist() == ["listed", "none", "listed"]
    assert upload.suggest_roles() == table.roles, "the guess is right"
    assert (table.roles.candidates, table.roles.text, table.roles.id) == ("candidates", "text", "id")
    weights = table.candidate_weights
    assert weights is not None
    place = {name: number for number, name in enumerate(table.classes)}
    for row, one in enumerate(lists):
        expected = {place[names[at]]: share for at, share in one.shares.items()}
        assert set(table.candidates[row].nonzero()[0]) == set(expected or range(4))
        if expected:
            found = weights[row] / weights[row].sum()
            assert {at: found[at] for at in expected} == pytest.approx(expected, abs=1e-5)


def test_columns_of_the_same_names_are_kept() -> None:
    cells = pd.DataFrame({"Candidates": ["x"], "winnow_suggestion": ["y"]}, dtype="str")
    made, column = with_shortlists(cells, ["a", "b"], [Shortlist("none")])
    assert column == "candidates_2"
    assert list(made) == ["Candidates", "winnow_suggestion", "candidates_2", "winnow_suggestion_2", "winnow_score"]
