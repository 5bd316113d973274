"""What the server says on its terminal until it is ready: words, or for programs one document on standard output."""

from __future__ import annotations

import json
import sys


class Terminal:
    """as_json : whether standard output has a document, and words go to standard error"""

    def __init__(self) -> None:
        self.as_json = False

    def say(self, text: str) -> None:
        """A line for whoever waits."""
        self._words(f"  {text}")

    def ready(self, address: str, link: str) -> None:
        """The server is ready. address : at which people reach it      link : by which the owner signs in, once"""
        self._words(f"\n  Winnow is ready. Sign in (once, within an hour):\n\n  {link}\n")
        if self.as_json:
            print(json.dumps({"address": address, "link": link}), flush=True)  # noqa: T201 - for the program that waits

    def _words(self, text: str) -> None:
        print(text, file=sys.stderr if self.as_json else sys.stdout, flush=True)


terminal = Terminal()
"""Of this process."""
