"""The first question of a table that is no project yet."""

from __future__ import annotations

import base64
import io

import numpy as np
from PIL import Image

from plcore import LabelTable
from tests.plcore.tables.media.sound.recordings import tone, written
from tests.plcore.tables.zips import make_zip
from tests.workflow.files.test_finding import FILES, ZIP
from workflow.importing import check, read_upload
from workflow.importing.first_look import SHOWN, first_look


def table_of(data: bytes) -> LabelTable:
    upload = read_upload(data)
    table = check(upload, upload.suggest_roles()).table
    assert table is not None
    return table


def test_the_first_row_that_leaves_a_choice_heaviest_label_first() -> None:
    table = table_of(b"id,labels,w\nx,owl:1,3\ny,wren:0.2|robin:0.6|tit:0.2,4\nz,owl:1,5\n")
    look = first_look(table)
    assert look is not None
    assert (look.view.row_id, look.view.features) == ("y", (("w", "4"),))
    assert look.choices == (("robin", "0.6"), ("tit", "0.2"), ("wren", "0.2"))
    assert look.hidden == 0


def test_labels_that_weigh_the_same_have_no_weight_and_many_are_counted() -> None:
    names = "|".join(f"n{k:02}" for k in range(SHOWN + 3))
    look = first_look(table_of(f"labels,w\n{names},1\nn00,2\n".encode()))
    assert look is not None
    assert look.choices == tuple((f"n{k:02}", "") for k in range(SHOWN))
    assert look.hidden == 3


def test_label_vectors_show_what_was_not_asked() -> None:
    look = first_look(table_of(b"w,ant,bee,cat\n10,1,0,1\n20,,1,\n30,1,1,0\n"))
    assert look is not None
    assert (look.view.row, look.choices) == (1, (("ant", ""), ("cat", "")))


def test_nothing_to_ask_has_no_first_question() -> None:
    assert first_look(table_of(b"labels,w\na,1\nb,2\n")) is None
    assert first_look(table_of(b"w,ant,bee\n10,1,0\n20,0,1\n30,0,0\n")) is None


def test_a_recording_is_drawn_as_its_segment_looks() -> None:
    sound = written(np.concatenate([tone(500, 3), tone(3000, 3)])).getvalue()
    looks = []
    for start in (0, 3):
        csv = f"candidates,file,start,end\nwren|robin,a.wav,{start},{start + 1}\n".encode()
        look = first_look(table_of(make_zip({"t.csv": csv, "a.wav": sound})))
        assert look is not None
        assert look.view.audio is None
        looks.append(str(look.view.image))
    assert all(image.startswith("data:image/png;base64,") for image in looks)
    assert looks[0] != looks[1]
    grey = np.asarray(Image.open(io.BytesIO(base64.b64decode(looks[0].partition(",")[2]))))
    low = grey[-len(grey) // 4 :, : grey.shape[1] // 3]  # 500 Hz of 4 kHz
    assert low.min() < 60 < grey[: len(grey) // 8].mean(), "what sounds is dark"


def test_pictures_are_shown_before_they_are_kept_and_recordings_are_not() -> None:
    table = table_of(ZIP)
    look = first_look(table)
    assert look is not None
    assert look.view.image is not None
    kind, _, data = look.view.image.partition(",")
    assert kind == "data:image/png;base64"
    assert base64.b64decode(data) in FILES.values()
    assert look.view.audio is None
