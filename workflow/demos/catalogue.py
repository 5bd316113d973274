"""What demos there are: what each is called, the file it comes in, and what people are told who answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from workflow.demos import calls, digits, remarks
from workflow.room import RoomSettings

MakeFile = Callable[[Callable[[float], None]], bytes]
"""Makes the file of a demo, and tells the share that is made."""


@dataclass(frozen=True)
class Demo:
    """key : names it      title, about : what it is, in a few words      name, description : of its project
    file, make_file : the file it comes in, as somebody could have brought it; the digits come in none
    room : what people are told who answer
    """

    key: str
    title: str
    name: str
    about: str
    description: str
    file: str = ""
    make_file: MakeFile | None = None
    room: RoomSettings = field(default_factory=RoomSettings)


DIGITS = Demo(
    "digits", "Handwritten digits", digits.NAME, "1,797 scans: press the digit you see", digits.DESCRIPTION
)
CALLS = Demo(
    "calls",
    "Bird-like calls",
    "Demo: bird-like calls",
    f"{calls.CLIPS} made-up clips with a scored shortlist",
    f"{calls.CLIPS} clips of bird-like calls, made by Winnow itself: no bird is in them. Up to three species sing over "
    "each other, and a made-up detector lists what it hears, with scores; you say which one is loudest. True labels "
    "are hidden, and a third of the clips is held out to measure accuracy.",
    calls.FILE,
    calls.make_file,
    RoomSettings(
        "Which species sings **loudest**? Look for the strongest trace in the picture; **P** plays the clip. The calls "
        "are made by Winnow itself:\n\n" + "\n".join(f"- *{one.name}*: {one.look}" for one in calls.SPECIES),
        descriptions={one.name: one.look for one in calls.SPECIES},
    ),
)
REMARKS = Demo(
    "remarks",
    "Messages sorted by a crowd",
    "Demo: messages sorted by a crowd",
    f"{remarks.MESSAGES} texts with the votes of six people",
    f"{remarks.MESSAGES} messages to a shop, written by templates of Winnow's own, with the votes of six made-up "
    "people of whom some are good and one mostly guesses. The candidates of a row are what was voted; you say what the "
    "message is about first of all. True labels are hidden, and a third of the rows is held out to measure accuracy.",
    remarks.FILE,
    remarks.make_file,
    RoomSettings(
        "What is the message about **first of all**? Some speak of a second thing as well; it does not count.",
        descriptions=remarks.ABOUT,
    ),
)
ALL = (DIGITS, CALLS, REMARKS)
BY_NAME = {one.name: one for one in ALL}
