"""Tables as sound detectors write them, and the stored form of their rows."""

from __future__ import annotations

import json
from typing import Any

from plcore.tables.readers.reading import TableReading
from plcore.tables.readers.recognise import read_table
from plcore.tables.readers.registry import shaped

BIRDNET = (
    "Start (s),End (s),Scientific name,Common name,Confidence,File\n"
    "0.0,3.0,Parus major,Great tit,0.8125,C:\\rec\\Wald, früh.wav\n"
    "0.0,3.0,Periparus ater,Coal tit,0.125,C:\\rec\\Wald, früh.wav\n"
    "3.0,6.0,Parus major,Great tit,0.5,C:\\rec\\Wald, früh.wav\n"
    "0.0,3.0,Turdus merula,Eurasian Blackbird,0.25,C:\\rec\\b.wav\n"
).encode()
RAVEN = (
    b"Selection\tView\tChannel\tBegin Time (s)\tEnd Time (s)\tLow Freq (Hz)\tHigh Freq (Hz)\tCommon Name\t"
    b"Species Code\tConfidence\tBegin Path\tFile Offset (s)\n"
    b"1\tSpectrogram 1\t1\t60.0\t63.0\t0\t12000\tGreat Tit\tgretit1\t0.75\t/a/b.wav\t0\n"
    b"2\tSpectrogram 1\t1\t60.0\t63.0\t0\t12000\tCoal Tit\tcoatit2\t0.25\t/a/b.wav\t0\n"
    b"3\tSpectrogram 1\t1\t0\t3.0\t0\t12000\tnocall\tnocall\t1.0\t/a/c.wav\t0\n"
)
KALEIDOSCOPE = (
    b"INDIR,FOLDER,IN FILE,OFFSET,DURATION,scientific_name,common_name,confidence,lat,lon,week,overlap,sensitivity\n"
    b"/data,site1,a.wav,3.0,3.0,Parus major,Great Tit,0.5,47.5,8.25,20,0.0,1.0\n"
)
R_FORM = (
    b"filepath,start,end,scientific_name,common_name,confidence,lat,lon,week,overlap,sensitivity,min_conf,"
    b"species_list,model,recordingID,verify\n"
    b"C:/a/x.wav,0,3,Parus major,Great Tit,0.5,47.5,8.25,20,0,1,0.1,,BirdNET_V2.4.tflite,x.wav,\n"
)
AUDACITY = b"0.0\t3.0\tParus major, Great Tit\t0.5\n3.0\t6.0\tnocall\t1.0\n"
GO_RAVEN = (
    b"Selection\tView\tChannel\tBegin File\tBegin Time (s)\tEnd Time (s)\tLow Freq (Hz)\tHigh Freq (Hz)\tSpecies Code\t"
    b"Common Name\tConfidence\n1\tSpectrogram 1\t1\tb.wav\t3.0\t6.0\t0\t15000\tgretit1\tGreat Tit\t0.5\n"
)


def read_detections(data: bytes, name: str = "table.csv") -> TableReading:
    """Read detections as an import does."""
    return shaped(read_table(data, name))


def items(reading: TableReading) -> list[tuple[str, str, str]]:
    """Recording, start and end of each row."""
    return list(zip(*(reading.cells[name].tolist() for name in ("recording", "start", "end")), strict=True))


def originals(reading: TableReading) -> list[list[dict[str, Any]]]:
    return [json.loads(cell) for cell in reading.cells["original_rows"]]
