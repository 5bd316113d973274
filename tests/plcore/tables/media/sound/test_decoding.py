"""Decoding: segments compared with the whole, every format, and false, broken or huge files."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from plcore.tables.media.file_tree import MediaError
from plcore.tables.media.sound import decoding
from plcore.tables.media.sound.decoding import MAX_FRAMES, Samples, Sound, SoundError, SoundFacts, Source, opened
from tests.plcore.tables.media.sound.recordings import FORMATS, calls, flac_saying, noise, raw_wav, tone, written


def sound_facts(source: Source) -> SoundFacts:
    with Sound(source) as sound:
        return sound.facts


def read_segment(source: Source | Sound, start: float | None = None, end: float | None = None) -> tuple[Samples, int]:
    """The samples of a segment, and their rate."""
    with opened(source) as sound:
        return sound.read(start, end), sound.facts.rate


def refusal(source: io.BytesIO, start: float | None = None, end: float | None = None) -> str:
    """The message about a file or a segment that cannot be read."""
    with pytest.raises(SoundError) as caught:
        read_segment(source, start, end)
    message, fix = caught.value.args
    assert message.endswith(".")
    assert fix.endswith(".")
    return str(message)


def close_to(subtype: str) -> float:
    return 1e-6 if subtype in ("MPEG_LAYER_III",) else 0.0


@pytest.mark.parametrize(("container", "subtype", "rate"), FORMATS)
def test_segments_equal_slices_of_the_whole(container: str, subtype: str, rate: int) -> None:
    file = written(calls(5, rate), rate, container, subtype)
    whole, _ = soundfile.read(io.BytesIO(file.getvalue()), dtype="float32")
    rng = np.random.default_rng(1)
    with Sound(file) as sound:
        for _ in range(25):  # in any order: the previous position must not matter
            start = rng.uniform(0, 4.5)
            end = start + rng.uniform(0.01, 2)
            first, last = round(start * rate), min(round(min(end, len(whole) / rate) * rate), len(whole))
            once = sound.read(start, end)
            np.testing.assert_allclose(once, whole[first:last], atol=close_to(subtype), rtol=0)
            assert once.dtype == np.float32
        np.testing.assert_allclose(sound.read(), whole, atol=close_to(subtype), rtol=0)
    again, said = read_segment(file, start, end)
    np.testing.assert_allclose(again, once, atol=close_to(subtype), rtol=0)
    assert said == rate


@pytest.mark.parametrize(("container", "subtype", "rate"), FORMATS)
def test_facts_match_the_file(container: str, subtype: str, rate: int) -> None:
    facts = sound_facts(written(noise(2, rate), rate, container, subtype))
    assert (facts.rate, facts.channels, facts.subtype) == (rate, 1, subtype)
    assert facts.format.upper() == container.removesuffix("EX")
    assert facts.seconds == pytest.approx(2, abs=0.15)


def test_path_and_bytes_give_the_same_samples(tmp_path: Path) -> None:
    file = written(noise(1))
    path = tmp_path / "Größe – 鳥.wav"
    path.write_bytes(file.getvalue())
    by_bytes, rate = read_segment(file, 0.2, 0.7)
    for source in (path, str(path)):
        np.testing.assert_array_equal(read_segment(source, 0.2, 0.7)[0], by_bytes)
    assert not file.closed
    assert len(by_bytes) == rate / 2
    with pytest.raises(FileNotFoundError):
        sound_facts(tmp_path / "none.wav")


def test_given_file_stays_open_and_opened_file_is_closed() -> None:
    file = written(noise(1))
    with Sound(file) as sound:
        with opened(sound) as same:
            assert same is sound
        assert len(sound.read(0, 0.5)) == 4000
    with opened(file) as other:
        assert other.facts.frames == 8000
    with pytest.raises(SoundError):
        other.read()


@pytest.mark.parametrize("channels", [2, 5, decoding.MAX_CHANNELS])
def test_channels_are_averaged(channels: int) -> None:
    wide = np.random.default_rng(0).uniform(-0.5, 0.5, (30_000, channels))
    samples, _ = read_segment(written(wide, 8000, "WAVEX", "FLOAT"))
    np.testing.assert_allclose(samples, wide.mean(axis=1), atol=1e-6)


def test_pieces_are_short_and_make_up_the_segment() -> None:
    wide = np.random.default_rng(0).uniform(-0.5, 0.5, (200_000, 2))
    with Sound(written(wide, 8000, "WAV", "FLOAT")) as sound:
        pieces = list(sound.pieces(1000, 190_000))
        assert max(map(len, pieces)) * 2 <= 2**16
        np.testing.assert_allclose(np.concatenate(pieces), wide[1000:190_000].mean(axis=1), atol=1e-6)


def test_two_readers_of_one_recording_are_independent() -> None:
    samples = noise(20)
    with Sound(written(samples, 8000, "WAV", "DOUBLE")) as sound:
        early, late = sound.pieces(0, 160_000), sound.pieces(40_000, 160_000)
        pairs = list(zip(early, late, strict=False))
        np.testing.assert_allclose(np.concatenate([one for one, _ in pairs]), samples[: 2**17], atol=1e-6)
        np.testing.assert_allclose(np.concatenate([two for _, two in pairs]), samples[40_000:], atol=1e-6)


def test_segment_can_extend_beyond_the_end() -> None:
    file = written(noise(2.5))
    assert len(read_segment(file, 0, 3)[0]) == len(read_segment(file, None, None)[0]) == 20_000
    assert len(read_segment(file, 2, 1e300)[0]) == 4000
    assert len(read_segment(file, 1, 1.00001)[0]) == 1, "a segment has a frame at least"
    assert len(read_segment(file, 2.49999, 9)[0]) == 1


@pytest.mark.parametrize(
    ("start", "end", "said"),
    [
        (2.5, 3, "starts at 2.5 s, but the recording ends at 2.5 s"),
        (1e300, None, "the recording ends at 2.5 s"),
        (-0.1, 1, "from -0.1 to 1 seconds is none"),
        (1, 1, "from 1 to 1 seconds is none"),
        (2, 1, "from 2 to 1 seconds is none"),
        (float("nan"), 1, "from nan to 1 seconds is none"),
        (0, float("nan"), "from 0 to nan seconds is none"),
        (float("inf"), None, "from inf to its own seconds is none"),
        (None, 0, "from its own to 0 seconds is none"),
    ],
)
def test_invalid_segment_is_refused_with_a_message(start: float | None, end: float | None, said: str) -> None:
    assert said in refusal(written(noise(2.5)), start, end)


def test_undecodable_input_is_reported() -> None:
    m4a = io.BytesIO(struct.pack(">I", 24) + b"ftypM4A " + bytes(100))
    assert refusal(m4a) == "M4A is played, but neither drawn nor learnt from."
    assert "no bytes" in refusal(io.BytesIO())
    assert "not a recording" in refusal(io.BytesIO(b"<svg onload='alert(1)'>"))
    assert "not a recording" in refusal(written(noise(1), 8000, "AIFF")), "other readers of libsndfile stay shut"
    behind_tags = b"ID3\x04\0\0\0\0\0\0" + written(noise(1), 8000, "AIFF").getvalue()
    assert refusal(io.BytesIO(behind_tags))
    assert refusal(written(noise(1), 8000, "WAV", "GSM610")) == "recordings written as WAV GSM610 are not decoded."
    assert "damaged" in refusal(io.BytesIO(b"RIFF\x10\0\0\0WAVE" + bytes(50)))
    assert issubclass(SoundError, MediaError), "a table's reader adds row and column"


def test_format_is_detected_from_bytes_not_the_name(tmp_path: Path) -> None:
    path = tmp_path / "really_flac.wav"
    path.write_bytes(written(noise(1), 8000, "FLAC", "PCM_16").getvalue())
    assert sound_facts(path).format == "FLAC"


def test_header_values_out_of_bounds_are_reported() -> None:
    assert "40 points of sound a second" in refusal(raw_wav(rate=40))
    assert "2,000,000 points of sound a second" in refusal(raw_wav(rate=2_000_000))
    assert refusal(raw_wav(rate=0))
    assert refusal(raw_wav(rate=2**32 - 1))
    assert "33 channels; at most 32" in refusal(raw_wav(channels=33, data=bytes(660)))
    assert refusal(raw_wav(channels=2000, data=bytes(40_000)))
    assert "no sound is in the file" in refusal(raw_wav(data=b""))
    assert "no sound is in the file" in refusal(raw_wav(declared=0))


def test_wav_length_comes_from_its_bytes_not_its_header() -> None:
    for declared in (2**32 - 1, 2**31, 1000):
        assert sound_facts(raw_wav(declared=declared)).frames == 100


@pytest.mark.parametrize("name", [b"LIST", b"bext", b"cue ", b"smpl", b"id3 ", b"cart", b"PEAK", b"fact"])
def test_hostile_chunks_cost_no_memory(name: bytes) -> None:
    for size in (2**32 - 1, 2**31, 2**31 - 1, 60):
        extra = name + struct.pack("<I", size) + b"\xff" * 60
        try:
            assert len(read_segment(raw_wav(extra=extra))[0]) <= 130
        except SoundError:
            continue


def test_non_finite_samples_become_silence_and_values_are_clipped() -> None:
    odd = np.array([0.5, np.nan, np.inf, -np.inf, 1e30, -1e300, -0.5])
    samples, _ = read_segment(written(odd, 8000, "WAV", "DOUBLE"))
    np.testing.assert_array_equal(samples, np.float32([0.5, 0, 0, 0, 1e6, 0, -0.5]))
    assert read_segment(written(np.full((9, 2), 3e38), 8000, "WAV", "FLOAT"))[0].max() == 1e6


def test_flac_with_a_false_length_is_handled() -> None:
    honest = written(noise(20), 8000, "FLAC", "PCM_16")
    assert "how long" in refusal(flac_saying(honest, frames=0))
    endless = flac_saying(honest, frames=2**36 - 1)
    assert sound_facts(endless).frames == 2**36 - 1
    with Sound(endless) as sound:
        with pytest.raises(SoundError, match=r"cut off"):
            sound.read(1e6, 1e6 + 3)
        np.testing.assert_array_equal(sound.read(2, 3), read_segment(honest, 2, 3)[0])
        with pytest.raises(SoundError, match="at most"):
            sound.read()


def test_one_broken_place_does_not_affect_the_rest() -> None:
    data = written(noise(20), 8000, "FLAC", "PCM_16").getvalue()
    whole = read_segment(io.BytesIO(data))[0]
    with Sound(io.BytesIO(data[: len(data) // 2])) as sound:
        for _ in range(2):
            with pytest.raises(SoundError, match="at 15 s"):
                sound.read(15, 16)
            np.testing.assert_array_equal(sound.read(3, 4), whole[24_000:32_000])


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
@pytest.mark.parametrize(("container", "subtype"), [("OGG", "VORBIS"), ("MP3", "MPEG_LAYER_III"), ("WAV", "PCM_16")])
def test_truncated_file_is_read_up_to_its_end(container: str, subtype: str, share: float) -> None:
    data = written(calls(10, 16_000), 16_000, container, subtype).getvalue()
    whole = read_segment(io.BytesIO(data))[0]
    part = read_segment(io.BytesIO(data[: int(len(data) * share)]), 0, 1)[0]
    np.testing.assert_allclose(part, whole[: len(part)], atol=1e-6)
    assert len(part) == 16_000


@pytest.mark.parametrize(
    ("container", "subtype", "rate"),
    [("FLAC", "PCM_16", 8000), ("OGG", "VORBIS", 8000), ("MP3", "MPEG_LAYER_III", 8000)],
)
def test_decompression_bomb_costs_only_the_requested_segment(
    container: str, subtype: str, rate: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded = []
    read = soundfile.SoundFile.read
    monkeypatch.setattr(soundfile.SoundFile, "read", lambda self, *a, **k: decoded.append(a[0]) or read(self, *a, **k))
    silence = written(np.zeros(300 * rate), rate, container, subtype)
    assert len(silence.getvalue()) < 325_000
    assert not read_segment(silence, 250, 253)[0].any()
    assert sum(decoded) <= 3 * rate + 2304
    assert max(decoded) <= 2**16
    if container == "FLAC":
        hours = flac_saying(silence, rate=200)
        assert sound_facts(hours).seconds == 12_000
        assert len(read_segment(hours, 10_000, 10_010)[0]) == 2000


def test_segment_too_long_for_memory_is_refused() -> None:
    silent = written(np.zeros(8000), 8000, "FLAC", "PCM_16")
    long = flac_saying(silent, frames=MAX_FRAMES + 1)
    assert f"{MAX_FRAMES + 1:,} points of sound; at most {MAX_FRAMES:,}" in refusal(long)


SEEDS = [
    written(tone(700, 1, rate) if channels == 1 else np.tile(tone(700, 1, rate)[:, None], channels), rate, *how)
    for rate, channels, how in (
        (8000, 1, ("WAV", "PCM_16")),
        (8000, 5, ("WAVEX", "PCM_24")),
        (8000, 1, ("WAV", "FLOAT")),
        (8000, 2, ("WAV", "MS_ADPCM")),
        (8000, 2, ("FLAC", "PCM_16")),
        (8000, 1, ("OGG", "VORBIS")),
        (16_000, 1, ("OGG", "OPUS")),
        (16_000, 2, ("MP3", "MPEG_LAYER_III")),
    )
]


def decoded_or_refused(data: bytes) -> None:
    for start, end in ((None, 0.2), (0.5, 0.7)):
        try:
            samples, rate = read_segment(io.BytesIO(data), start, end)
        except SoundError:
            continue
        assert 1 <= len(samples) <= 0.2 * rate + 1
        assert np.isfinite(samples).all()


@given(
    file=st.sampled_from(SEEDS),
    flips=st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255)), max_size=8),
    kept=st.floats(0, 1),
)
def test_damaged_files_are_decoded_or_refused(file: io.BytesIO, flips: list[tuple[int, int]], kept: float) -> None:
    data = bytearray(file.getvalue())
    for place, value in flips:
        data[place] = value
    decoded_or_refused(bytes(data[: int(len(data) * kept)]))
    decoded_or_refused(bytes(data))


@given(
    head=st.sampled_from([b"", b"RIFF\x00\x01\0\0WAVEfmt ", b"fLaC", b"OggS", b"ID3", b"\xff\xfb"]),
    rest=st.binary(max_size=300),
)
def test_any_bytes_are_decoded_or_refused(head: bytes, rest: bytes) -> None:
    decoded_or_refused(head + rest)
