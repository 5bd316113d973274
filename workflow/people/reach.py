"""Whether others can reach the address that a sign-in link begins with, and what to do where they cannot."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workflow.settings import Settings

_PROXY = "or put a reverse proxy with HTTPS in front of Winnow and name its host in WINNOW_ALLOWED_HOSTS"


def why_out_of_reach(settings: Settings, host: str) -> str | None:
    """Why a link with this host, without its port, works for nobody on another machine; None where it does.

    Known from the name alone: whether a network lets them through is for others to say.
    """
    if is_this_machine(host):
        others = [name for name in settings.allowed_hosts if not is_this_machine(name) and "*" not in name]
        if others and not is_this_machine(settings.host):
            return (
                f"{host} is this machine for everybody who opens it, so that others cannot use the link. "
                f"Fix: open Winnow as {' or '.join(others)} and make the link there."
            )
        return (
            f"Others cannot use this link: {host} is this machine for everybody who opens it, and Winnow listens on "
            f"{settings.host}. Fix: set WINNOW_HOST=0.0.0.0 and WINNOW_ALLOWED_HOSTS to the name people use for this "
            f"machine, {_PROXY}; start Winnow again and open it by that name."
        )
    if not allows(settings.allowed_hosts, host):
        return (
            f"Winnow refuses browsers that ask for {host}. "
            "Fix: add it to WINNOW_ALLOWED_HOSTS and start Winnow again."
        )
    return None


def is_this_machine(host: str) -> bool:
    """Whether a host name is the machine itself, whoever asks."""
    bare = host.strip("[]").casefold()
    if bare == "localhost" or bare.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(bare).is_loopback
    except ValueError:
        return False


def allows(allowed: tuple[str, ...], host: str) -> bool:
    """Whether a host name is among those allowed, as the server goes by them: `*.example.org` is every host below."""
    wanted = host.casefold()
    return any(
        wanted.endswith(name[1:].casefold()) if name.startswith("*.") else wanted == name.casefold()
        for name in allowed
    )
