"""Nothing is sent home: a first start, answers and commands while every way out is closed and monitored."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests import closed_network

pytestmark = pytest.mark.skipif(
    not closed_network.can_be_closed() and "WINNOW_REQUIRE_DATA" not in os.environ,
    reason="this system lets no one make a network of their own (unshare, ip)",
)


@pytest.mark.proof
def test_outgoing_packet_is_caught(tmp_path: Path) -> None:
    assert closed_network.run("tests.closed_day", "--knock", folder=tmp_path) == ["UDP to 192.0.2.1"]


@pytest.mark.proof
def test_winnow_works_offline_and_contacts_no_server(tmp_path: Path) -> None:
    assert closed_network.run("tests.closed_day", str(tmp_path), folder=tmp_path) == []
    assert (tmp_path / "out.csv").stat().st_size


@pytest.mark.parametrize(
    ("packet", "said"),
    [
        (bytes([0x45, *[0] * 8, 6, *[0] * 6, 192, 0, 2, 7]), "TCP to 192.0.2.7"),
        (bytes([0x60, *[0] * 5, 17, *[0] * 17, 0x20, 1, 0xD, 0xB8, *[0] * 11, 1]), "UDP to 2001:db8::1"),
        (bytes([0x60, *[0] * 5, 58, *[0] * 33]), None),
    ],
)
def test_packet_destinations_are_parsed(packet: bytes, said: str | None) -> None:
    assert closed_network.destination(packet) == said
