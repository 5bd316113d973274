"""Small recordings that would cost gigabytes, minutes or the process."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterator

import numpy as np
import soundfile

from tests.workflow.importing.picture_bombs import MediaBomb

RATE = 8_000


def noise(kind: str, seconds: float = 1) -> bytes:
    out = io.BytesIO()
    rng = np.random.default_rng(0)
    soundfile.write(out, 0.1 * rng.standard_normal(round(seconds * RATE)), RATE, format=kind)
    return out.getvalue()


def wav(*chunks: bytes, said: int = 2**32 - 1) -> bytes:
    return b"RIFF" + struct.pack("<I", said) + b"WAVE" + b"".join(chunks)


def part(kind: bytes, data: bytes, said: int | None = None) -> bytes:
    return kind + struct.pack("<I", len(data) if said is None else said) + data


def form(
    code: int = 1, channels: int = 1, rate: int = RATE, block: int = 2, bits: int = 16, more: bytes = b""
) -> bytes:
    body = struct.pack("<HHIIHH", code, channels, rate, rate * block & 0xFFFFFFFF, block, bits)
    return part(b"fmt ", body + more)


def _wavs() -> Iterator[tuple[str, Callable[[], bytes], bool]]:
    data = part(b"data", bytes(2 * RATE))
    yield ("data of four gigabytes that are not there", lambda: wav(form(), part(b"data", b"", 2**32 - 1)), False)
    yield ("four gigabytes said of a second", lambda: wav(form(), part(b"data", bytes(16_000), 2**32 - 2)), False)
    yield "data of nothing", lambda: wav(form(), part(b"data", b"")), False
    yield "a whole of nothing", lambda: wav(form(), data, said=0), False
    yield "65,535 channels", lambda: wav(form(channels=65_535, block=65_534), data), False
    yield "no channel", lambda: wav(form(channels=0), data), False
    yield "four thousand million a second", lambda: wav(form(rate=2**32 - 1), data), False
    yield "none a second", lambda: wav(form(rate=0), data), False
    yield "no bits", lambda: wav(form(bits=0), data), False
    yield "blocks of nothing", lambda: wav(form(block=0), data), False
    yield "a form that says it is huge", lambda: wav(part(b"fmt ", form()[8:], 2**31 - 1), data), False
    yield "a hundred thousand empty parts", lambda: wav(form(), part(b"LIST", b"") * 10**5, data), False
    yield "lists in lists", lambda: wav(form(), *[part(b"LIST", b"adtl", 2**31 - 1)] * 10_000, data), False
    yield "cues without end", lambda: wav(form(), part(b"cue ", struct.pack("<I", 2**32 - 1)), data), False
    adpcm = struct.pack("<HHH", 4, 65_535, 65_535)
    yield "ADPCM of lying blocks", lambda: wav(form(2, block=65_535, bits=4, more=adpcm), data), False
    yield "GSM of lying blocks", lambda: wav(form(0x31, block=65_535, bits=0, more=adpcm), data), False
    yield "numbers that are none", lambda: _floats(b"\xff"), False
    yield "a head alone", lambda: wav(), False


def _floats(byte: bytes) -> bytes:
    return wav(form(3, block=4, bits=32), part(b"data", byte * 4 * RATE))


def _flacs() -> Iterator[tuple[str, Callable[[], bytes], bool]]:
    whole = noise("FLAC")

    def told(rate: int, channels: int, frames: int) -> bytes:
        """A recording with other numbers in the header."""
        bits = rate << 44 | (channels - 1) << 41 | 15 << 36 | frames
        return whole[:18] + struct.pack(">Q", bits) + whole[26:]

    def with_block(kind: int, data: bytes, said: int | None = None, n: int = 1) -> bytes:
        head = struct.pack(">I", kind << 24 | (len(data) if said is None else said))
        return whole[:42] + (head + data) * n + whole[42:]

    yield "a length of a month", lambda: told(RATE, 1, 2**36 - 1), False
    yield "a rate that is too high", lambda: told(2**20 - 1, 8, 2**36 - 1), False
    yield "no rate", lambda: told(0, 1, RATE), False
    yield "other channels than there are", lambda: told(RATE, 8, RATE), False
    yield "a picture of 16 MB that is not there", lambda: with_block(6, bytes(32), 2**24 - 1), False
    yield "comments by the thousand million", lambda: with_block(4, b"\0\0\0\0" + b"\xff" * 4), False
    yield "fifty thousand empty blocks", lambda: with_block(1, b"", n=50_000), False
    yield "places to jump to, far out", lambda: with_block(3, b"\xfe" * 18 * 10_000), False
    yield "cut off", lambda: whole[:60], False


def _mp3s() -> Iterator[tuple[str, Callable[[], bytes], bool]]:
    def id3(data: bytes, said: int) -> bytes:
        return b"ID3\x03\0\0" + bytes(said >> shift & 127 for shift in (21, 14, 7, 0)) + data

    def picture(n: int) -> bytes:
        return b"APIC" + struct.pack(">I", n + 13) + b"\0\0\0image/png\0\0\0" + bytes(n)

    yield "a picture of 3 MB", lambda: id3(picture(3 * 10**6), 3 * 10**6 + 23) + noise("MP3"), False
    yield "a tag of 256 MB that is not there", lambda: id3(b"", 2**28 - 1) + noise("MP3"), False
    yield "ten thousand tags", lambda: id3(b"", 0) * 10_000 + noise("MP3"), False
    yield "no frame", lambda: b"\xff\xfb" + bytes(10**6), False


def _oggs() -> Iterator[tuple[str, Callable[[], bytes], bool]]:
    def page(data: bytes, serial: int = 1, flags: int = 2, place: int = 0) -> bytes:
        return b"OggS\0" + struct.pack("<BqIIIBB", flags, place, serial, 0, 0, 1, len(data)) + data

    vorbis = b"\x01vorbis" + struct.pack("<IBIiiiBB", 0, 255, 2**31 - 1, 0, 0, 0, 0xB8, 1)
    yield "255 channels of Vorbis", lambda: page(vorbis), False
    yield "twenty thousand empty pages", lambda: page(b"", flags=0) * 20_000, False
    yield "ten thousand streams", lambda: b"".join(page(vorbis, k) for k in range(10_000)), False
    yield "a length that is far out", lambda: noise("OGG") + page(b"", place=2**63 - 1, flags=4), False
    yield "cut off", lambda: noise("OGG")[:200], False


def _others() -> Iterator[tuple[str, Callable[[], bytes], bool]]:
    yield "no sound", lambda: b"", False
    yield "AIFF of huge sides", lambda: b"FORM\xff\xff\xff\xffAIFFCOMM\0\0\0\x12\xff\xff" + bytes(40), False
    yield "M4A that is its head alone", lambda: b"\0\0\0\x18ftypM4A " + bytes(12), False
    yield "another of libsndfile's formats", lambda: b"Extended Instrument: " + bytes(400), False


SOUNDS = [
    MediaBomb(f"{kind}: {name}", make, kind if kind != "other" else "wav", heavy)
    for kind, bombs in (("wav", _wavs), ("flac", _flacs), ("mp3", _mp3s), ("ogg", _oggs), ("other", _others))
    for name, make, heavy in bombs()
]
