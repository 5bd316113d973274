"""Small forms that strangers may post: read up to a few kilobytes, whatever comes."""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.requests import Request

MOST_BYTES = 8_192
_TYPE = "application/x-www-form-urlencoded"


class FormError(ValueError):
    """What was posted is no form of ours, or too large to be one. status : of the answer"""

    def __init__(self, words: str, status: int) -> None:
        super().__init__(words)
        self.status = status


async def read_form(request: Request) -> dict[str, str]:
    """The fields by name; of two of one name the first. No more than 8 KiB are read.

    Raises FormError where it is larger, or of another type than a browser's plain forms.
    """
    if request.headers.get("content-type", _TYPE).partition(";")[0].strip().lower() != _TYPE:
        raise FormError("This is not the form of this page. Fix: load the page again.", 415)
    read = bytearray()
    async for chunk in request.stream():
        read += chunk
        if len(read) > MOST_BYTES:
            raise FormError("The form is too large. Fix: load the page again.", 413)
    try:
        pairs = parse_qsl(read.decode(), keep_blank_values=True, max_num_fields=20)
    except ValueError as error:  # no UTF-8, or too many fields
        raise FormError("The form cannot be read. Fix: load the page again.", 400) from error
    return dict(reversed(pairs))
