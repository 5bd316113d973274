from __future__ import annotations

import json

import pytest

from workflow.common.at_start import Terminal


def test_a_person_reads_words_and_a_program_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal()
    words = "  Compiling.\n\n  Winnow is ready. Sign in (once, within an hour):\n\n  https://a.example/signin?link=x\n\n"
    for as_json in (False, True):
        terminal.as_json = as_json
        terminal.say("Compiling.")
        terminal.ready("https://a.example", "https://a.example/signin?link=x")
        said = capsys.readouterr()
        assert (said.err if as_json else said.out) == words
    assert json.loads(said.out) == {"address": "https://a.example", "link": "https://a.example/signin?link=x"}
