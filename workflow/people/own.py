"""A person's own account: what everybody may change, if only of themselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from workflow import access
from workflow.common.opened import Reading
from workflow.saving import saving

if TYPE_CHECKING:
    from workflow.home import Home


@contextmanager
def own(home: Home, person_id: int) -> Iterator[Reading]:
    """A transaction that writes, for whoever is there. Raises NotAllowed, NotSaved."""
    with saving(home) as session:
        rights = access.role_here(session, person_id)
        yield Reading(rights.person, rights.role, session)
