from __future__ import annotations

import json

import pytest

from workflow.server.running import Terminal


def test_a_person_reads_words_and_a_program_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal()
    link = "https://a.example/signin?link=x"
    for as_json, words in (
        (False, f"  Winnow is ready. Sign in (once, within an hour):\n\n  {link}\n\n"),
        (True, "  Winnow is ready.\n\n"),  # the link is a secret, which words beside the document have not
    ):
        terminal.as_json = as_json
        terminal.say("Compiling.")
        terminal.ready("https://a.example", link)
        said = capsys.readouterr()
        assert (said.err if as_json else said.out) == f"  Compiling.\n\n{words}"
    assert json.loads(said.out) == {"address": "https://a.example", "link": link}
