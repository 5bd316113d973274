"""Every HTTP address of the server with the right that it needs. A new route needs a line here, which a test
enforces."""

from __future__ import annotations

from collections.abc import Mapping

from workflow.access import Action, Right

OPEN = ("/healthz", "/readyz", "/signin")
"""Open to everyone, signed in or not."""

OPEN_WITH_PROVIDER = ("/signin/openid", "/signin/openid/back")
"""Open to everyone if an OpenID provider is set up; otherwise they do not exist."""

SIGNED_IN = (
    "/",
    "/signout",
    "/scripts/{version}.js",
    "/app/manifest.webmanifest",
    "/app/icon-{size}.png",
    "/_stcore/stream",
)
"""For anyone signed in. Pages, which use /_stcore/stream, call use cases."""

AT_A_PROJECT: Mapping[str, Right] = {
    "/files/{name}": Right.SEE,
    "/files/{name}/small": Right.SEE,
    "/files/{name}/spectrogram": Right.SEE,
    "/exports/{project:int}/{key}": Right.OWN,
}
"""For members of the project in the address. Files belong to every project whose table names them."""

PRESSED: Mapping[str, Right] = {"/presses/{project:int}": Right.ANSWER}
"""For members of the project in the address, who send data to it. Others get the same reply as for a missing
project."""

API: Mapping[str, Right | None] = {
    "GET /projects": None,
    "GET /projects/{project}": Right.SEE,
    "GET /projects/{project}/figures": Right.SEE,
    "GET /projects/{project}/rows": Right.SEE,
    "GET /projects/{project}/log": Right.OWN,
    "GET /projects/{project}/predictions": Right.OWN,
    "GET /projects/{project}/predictions/lines": Right.OWN,
    "GET /projects/{project}/export": Right.OWN,
    "POST /projects/{project}/exports": Right.OWN,
    "GET /projects/{project}/exports": Right.OWN,
    "GET /projects/{project}/exports/{key}": Right.OWN,
    "GET /projects/{project}/exports/{key}/file": Right.OWN,
    "DELETE /projects/{project}/exports/{key}": Right.OWN,
    "GET /files/{name}": None,
    "POST /uploads": Right.OWN,
    "POST /readings": Right.OWN,
    "POST /projects": Right.OWN,
    "POST /projects/{project}/question": Right.ANSWER,
    "POST /projects/{project}/questions": Right.ANSWER,
    "POST /projects/{project}/answers": Right.ANSWER,
    "POST /projects/{project}/answers/batch": Right.ANSWER,
    "PUT /projects/{project}/rows/{row}/answer": Right.ANSWER,
    "POST /projects/{project}/rows": Right.OWN,
    "POST /projects/{project}/predictions": Right.OWN,
    "GET /encoders": Right.OWN,
    "DELETE /encoders/{encoder}": Right.OWN,
    "GET /projects/{project}/encoders": Right.OWN,
    "POST /projects/{project}/encoders": Right.OWN,
    "POST /projects/{project}/encoders/cancel": Right.OWN,
    "POST /projects/{project}/encoders/resume": Right.OWN,
    "POST /projects/{project}/back-to-words": Right.OWN,
    "POST /projects/{project}/suggestions": Right.OWN,
    "GET /projects/{project}/suggestions": Right.OWN,
    "POST /projects/{project}/suggestions/cancel": Right.OWN,
    "GET /projects/{project}/settings": Right.OWN,
    "PATCH /projects/{project}/settings": Right.OWN,
    "GET /projects/{project}/further": Right.OWN,
    "PUT /projects/{project}/further": Right.OWN,
    "GET /projects/{project}/members": Right.OWN,
    "PUT /projects/{project}/members/{person}": Right.OWN,
    "DELETE /projects/{project}/members/{person}": Right.OWN,
    "GET /projects/{project}/classes": Right.OWN,
    "POST /projects/{project}/classes": Right.OWN,
    "GET /projects/{project}/models": Right.OWN,
    "POST /projects/{project}/models/compare": Right.OWN,
    "POST /projects/{project}/models/cancel": Right.OWN,
    "POST /projects/{project}/archive": Right.OWN,
    "POST /projects/{project}/restore": Right.OWN,
    "DELETE /projects/{project}": Right.OWN,
}
"""Below /api/v1, for anyone with a token. None: whatever the person may see, in any project."""

_READ_BY_POST = ("POST /projects/{project}/exports", "DELETE /projects/{project}/exports/{key}")


def action_of(line: str) -> Action:
    """Return what a token must be able to do for a call of API."""
    if line.startswith("GET ") or line in _READ_BY_POST:
        return Action.READ
    return Action.ANSWER if API[line] is Right.ANSWER else Action.OWN


OF_NO_PROJECT = ("GET /projects", "GET /files/{name}")
"""Calls of API without a project that a token narrowed to projects can make: they give what belongs to these."""

OF_WINNOW = ("/backup-files/{name}",)
"""Only for owners of this Winnow, whatever their role in a project."""

OF_OPERATORS = ("/metrics",)
"""For programs with the metrics token of the settings, or on the machine of the server: for no one by a sign-in."""

OF_ANY_PROJECT: Mapping[str, Right] = {"/uploads": Right.OWN}
"""For people with this right in any project."""
