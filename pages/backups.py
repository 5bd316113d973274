"""Backups: list them with age and size, make one, download one, restore one at the next start."""

from __future__ import annotations

import html
from datetime import UTC, datetime

import streamlit as st

from pages.parts import frame
from pages.parts.words import counted, percent, size
from workflow.access import NotFound
from workflow.backups import owners
from workflow.backups.keeping import KeptBackup

page = frame.begin_owner()
frame.toast_from_last_page()
st.title("Backups")
view = owners.overview(page.seat)
EVERY = {3600.0: "an hour", 24 * 3600.0: "a day", 7 * 24 * 3600.0: "a week"}


def schedule() -> str:
    """Describe how backups are made."""
    if view.every is None:
        return (
            "Backups are not automatic. To schedule them, set `WINNOW_BACKUPS=daily:7` for one every day, "
            "of which the latest seven are stored."
        )
    return f"One {EVERY[view.every]} is made automatically, and the latest {view.count} are kept."


def age(one: KeptBackup) -> str:
    """Describe the age of a backup."""
    hours = int((datetime.now(UTC) - one.made_at).total_seconds() // 3600)
    if hours < 48:
        return "less than an hour old" if hours < 1 else f"{counted(hours, 'hour')} old"
    return f"{counted(hours // 24, 'day')} old"


def verified(one: KeptBackup) -> str:
    """Return whether and when its bytes were verified."""
    if one.fault:
        return ":red[damaged]"
    if one.checked_at is None:
        return "not verified here yet"
    return f"every byte read again {one.checked_at:%Y-%m-%d %H:%M} UTC"


def back_up() -> None:
    with frame.refusals_said_later():
        owners.back_up_now(page.seat)


def stage(name: str) -> None:
    with frame.refusals_said_later(NotFound):
        owners.stage_restore(page.seat, name)


def unstage() -> None:
    with frame.refusals_said_later():
        owners.unstage_restore(page.seat)


def draw(one: KeptBackup) -> None:
    """Draw one line of the list."""
    name = one.path.name
    with st.container(border=True):
        st.markdown(f"**{one.made_at:%Y-%m-%d %H:%M} UTC** · {age(one)} · {size(one.size)} · {verified(one)}")
        if one.fault:
            st.caption(frame.escape(one.fault))
        with st.container(horizontal=True, vertical_alignment="center"):
            address = html.escape(f"{owners.PATH.removeprefix('/')}/{name}")
            st.html(f'<a class="winnow-download" href="{address}" download="{html.escape(name)}">Download</a>')
            if not one.fault:
                with st.popover("Restore", key=f"restore-{name}", icon=":material/settings_backup_restore:"):
                    st.markdown(
                        "At its next start Winnow returns to the state of this backup: later answers, "
                        "people and projects are gone."
                        " The current database is saved in the data folder, under `backups`."
                        " Until then everything works as before, and you can cancel.\n\n"
                        "Afterwards everyone must sign in again, you with the link that Winnow prints at "
                        "the start. Sign-in links sent earlier stop working."
                        " **People disabled since this backup are enabled again**: "
                        "disable them again."
                    )
                    st.button(
                        "Restore it at the next start",
                        key=f"stage-{name}",
                        type="primary",
                        on_click=stage,
                        args=(name,),
                    )


def draw_work() -> None:
    """Show the progress of the running backup; this fragment reruns every second."""
    unfinished = view.work is not None and view.work.unfinished

    @st.fragment(run_every=1.0 if unfinished else None)
    def work() -> None:
        now = owners.overview(page.seat).work
        if unfinished and (now is None or not now.unfinished):
            st.rerun()
        if now is not None and now.unfinished:
            share = min(1.0, now.done / max(1, now.total))
            st.progress(
                share, "A backup waits for a worker." if not now.total else f"Making a backup: {percent(share)}"
            )

    work()


st.markdown(
    "A backup is one file with everything that cannot be made again: answers, people, tables, images and recordings. "
    f"{schedule()} They are saved in `{view.folder}`; keep a copy on another machine. The file holds "
    "everything, so protect it like a password."
)
frame.say_refusal()
if view.staged:
    with st.container(border=True):
        st.warning(
            f"At its next start Winnow restores {frame.escape(view.staged)}. Answers given until then are not in it.",
            icon=":material/settings_backup_restore:",
        )
        st.button("Cancel the restore", key="unstage", on_click=unstage)
elif view.restored:
    st.info(frame.escape(view.restored), icon=":material/settings_backup_restore:")
if view.worried:
    st.error(frame.escape(view.worried), icon=":material/error:")
st.button(
    "Back up now",
    key="back-up",
    type="primary",
    icon=":material/backup:",
    on_click=back_up,
    disabled=view.work is not None and view.work.unfinished,
)
draw_work()
for backup in view.kept:
    draw(backup)
if not view.kept:
    st.info("There is no backup yet.", icon=":material/inbox:")
