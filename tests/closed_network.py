"""A network without a way out, and what a program still tried to send there.

`run` starts a Python module in its own namespaces (Linux; no rights are needed if users may create user namespaces).
Its network has the loopback, and one more device, to which every other address is routed. What is sent there, including
DNS queries, comes to this program and goes nowhere.
"""

from __future__ import annotations

import fcntl
import json
import os
import runpy
import socket
import struct
import subprocess
import sys
import threading
from ipaddress import ip_address
from pathlib import Path

from tests.conftest import ROOT

_TUNSETIFF = 0x400454CA
_TUN, _NO_HEADER = 0x0001, 0x1000
_DEVICE = "out"
_ALONE = ("unshare", "--user", "--map-root-user", "--net")
_LAST = "192.0.2.255"
"""Receiver of the last packet: what came before it is everything."""
_OF_THE_SYSTEM = {0, 58}
"""Hop-by-hop and ICMPv6: what Linux itself sends to the neighbours of a new device."""


def can_be_closed() -> bool:
    """Whether this system lets users create such a network."""
    try:
        return subprocess.run([*_ALONE, "ip", "link"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def run(module: str, *arguments: str, folder: Path) -> list[str]:
    """Run `python -m module arguments` with the network closed.

    folder : where caught packets are noted      Returns each outgoing packet: "UDP to 192.0.2.1".
    Raises CalledProcessError if the module fails.
    """
    caught = folder / "caught.json"
    command = [*_ALONE, sys.executable, "-m", "tests.closed_network", str(caught), module, *arguments]
    subprocess.run(command, cwd=ROOT, check=True, timeout=600)
    return list(json.loads(caught.read_text()))


def destination(packet: bytes) -> str | None:
    """The destination and protocol of an IP packet; None for what Linux itself sends on a new device."""
    if packet[0] >> 4 == 4:
        protocol, address = packet[9], packet[16:20]
    else:
        protocol, address = packet[6], packet[24:40]
        if protocol in _OF_THE_SYSTEM:
            return None
    return f"{ {6: 'TCP', 17: 'UDP'}.get(protocol, protocol) } to {ip_address(address)}"


def _open_device() -> int:
    device = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH", _DEVICE.encode(), _TUN | _NO_HEADER))
    for words in (
        "link set lo up",
        f"addr add 10.255.0.1/24 dev {_DEVICE}",
        f"addr add fd00::1/64 dev {_DEVICE} nodad",
        f"link set {_DEVICE} up",
        f"route add default dev {_DEVICE}",
        f"-6 route add default dev {_DEVICE}",
    ):
        subprocess.run(["ip", *words.split()], check=True)
    return device


def main() -> None:
    caught, module, *arguments = sys.argv[1:]
    device, found = _open_device(), []

    def listen() -> None:
        while (where := destination(os.read(device, 65_536))) != f"UDP to {_LAST}":
            if where is not None:
                found.append(where)

    listening = threading.Thread(target=listen)
    listening.start()
    sys.argv = [module, *arguments]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"", (_LAST, 9))
        listening.join()
    Path(caught).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
