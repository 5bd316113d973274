"""Sign-ins that were refused, as the audit keeps them: so many an hour and no more."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from workflow.people import audit
from workflow.people.audit import EventKind
from workflow.saving import NotSaved, saving

if TYPE_CHECKING:
    from workflow.home import Home
    from workflow.people.browsers import Visit


def note_refused(home: Home, why: str, visit: Visit, about_id: int | None = None) -> None:
    """Note that nobody was let in. why : in a few words of ours, never what was typed      about_id : whose name it was

    Strangers cause these lines, so that there are at most 20 an hour from one address and 500 from all. Where nothing
    can be written none is: who was refused is refused all the same.
    """
    if not home.attempts.may_note(visit.address):
        return
    with suppress(NotSaved), saving(home) as session:
        audit.note(
            session,
            EventKind.SIGN_IN_REFUSED,
            person_id=None,
            about_id=about_id,
            address=visit.address,
            why=why,
            browser=visit.browser,
        )
