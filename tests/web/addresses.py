"""Every HTTP address of the server with the right that it needs. A new route needs a line here; a test says so."""

from __future__ import annotations

from collections.abc import Mapping

from workflow.access import Right

OPEN = ("/healthz", "/signin")
"""For everyone, signed in or not."""

OPEN_WITH_PROVIDER = ("/signin/openid", "/signin/openid/back")
"""For everyone where an OpenID provider is set up; elsewhere they are not there."""

SIGNED_IN = (
    "/",
    "/signout",
    "/scripts/{version}.js",
    "/app/manifest.webmanifest",
    "/app/icon-{size}.png",
    "/_stcore/stream",
)
"""For anyone who is signed in. Pages, which come by /_stcore/stream, ask use cases."""

AT_A_PROJECT: Mapping[str, Right] = {
    "/files/{name}": Right.SEE,
    "/files/{name}/small": Right.SEE,
    "/files/{name}/spectrogram": Right.SEE,
    "/exports/{project:int}/{key}": Right.OWN,
}
"""For members of a project that the address is about. Files belong to every project whose table names them."""

PRESSED: Mapping[str, Right] = {"/presses/{project:int}": Right.ANSWER}
"""For members of a project that the address is about, who send it something. Who is no member hears the same as of a
project that does not exist, as everywhere."""

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
    "GET /projects/{project}/settings": Right.OWN,
    "PATCH /projects/{project}/settings": Right.OWN,
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
"""Below /api/v1, for anyone who sends a token. None: what the person may see, of whatever project."""

OF_WINNOW = ("/backup-files/{name}",)
"""For owners of this Winnow alone, whatever role anyone has in a project."""

OF_ANY_PROJECT: Mapping[str, Right] = {"/uploads": Right.OWN}
"""For who has this right anywhere."""
