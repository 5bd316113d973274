"""Sound features of a segment: known answers, the noise floor, and words told apart where MFCCs are not enough."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.tables.media.sound import descriptor
from plcore.tables.media.sound.decoding import Sound, SoundError, opened
from plcore.tables.media.sound.descriptor import NAMES, describe_sound
from tests.plcore.tables.media.sound.recordings import FORMATS, calls, noise, tone, written

RATE = 32_000


def described(samples: np.ndarray, rate: int = RATE) -> np.ndarray:
    """(4, 32): level, spread, change, course."""
    return describe_sound(written(samples, rate, "WAV", "DOUBLE")).reshape(4, 32)


def band_of(hertz: float) -> int:
    middles = [float(name.split()[1]) for name in NAMES[:32]]
    return int(np.argmin(np.abs(np.array(middles) - hertz)))


def call(hertz: float, start: float, seconds: float = 0.3, whole: float = 2.0, loud: float = 0.5) -> np.ndarray:
    """A tone at a given time in faint noise."""
    samples = noise(whole, RATE, 1e-4)
    first = round(start * RATE)
    sound = tone(hertz, seconds, RATE, loud)
    samples[first : first + len(sound)] += sound
    return samples


def test_every_number_has_a_unique_name() -> None:
    assert len(NAMES) == len(set(NAMES)) == 128
    assert {name.split()[0] for name in NAMES} == {"level", "spread", "change", "course"}
    middles = [float(name.split()[1]) for name in NAMES[:32]]
    assert middles == sorted(middles)
    assert 80 < middles[0] < 250
    assert 12_000 < middles[-1] < 15_000


@pytest.mark.parametrize("hertz", [300, 1000, 2500, 6000, 12_000])
def test_call_is_in_the_band_of_its_pitch(hertz: float) -> None:
    found = described(call(hertz, 0.7))
    assert found[0].argmax() == band_of(hertz)
    assert found[0, band_of(hertz)] > 3 * np.median(found[0])


def test_position_of_a_call_in_the_segment_does_not_matter() -> None:
    np.testing.assert_allclose(described(call(2000, 0.3)), described(call(2000, 1.5)), atol=0.01)


def test_loudness_does_not_matter() -> None:
    samples = call(2000, 0.5) + call(900, 0.9)
    np.testing.assert_allclose(described(samples * 1e-3), described(samples), atol=1e-4)
    np.testing.assert_allclose(described(samples * 100), described(samples), atol=1e-4)


def test_constant_sound_is_the_noise_floor() -> None:
    hum = tone(400, 2, RATE, 0.3)
    with_hum = described(call(3000, 0.7) + hum)
    assert with_hum[0, band_of(400)] < 0.1 * with_hum[0, band_of(3000)]
    bare = described(call(3000, 0.7))
    other = described(call(1000, 0.7))
    assert np.linalg.norm(with_hum - bare) < np.linalg.norm(with_hum - other)


def test_course_shows_which_pitch_comes_first() -> None:
    rising = described(call(1000, 0.5) + call(4000, 0.9))[3]
    falling = described(call(4000, 0.5) + call(1000, 0.9))[3]
    assert rising[band_of(1000)] < 0 < rising[band_of(4000)]
    assert falling[band_of(4000)] < 0 < falling[band_of(1000)]


def test_change_shows_how_quickly_a_call_repeats() -> None:
    t = np.arange(2 * RATE) / RATE
    trill = tone(3000, 2, RATE) * (np.sin(2 * np.pi * 12 * t) > 0.5) + call(1000, 0.5)
    found = described(trill)
    assert found[2, band_of(3000)] > 3 * found[2, band_of(1000)]


def test_descriptor_matches_its_documented_formula() -> None:
    """A plain second implementation, one frame at a time."""
    samples = calls(2, RATE) + noise(2, RATE, 0.03)
    length, hop = 800, 320
    padded = np.concatenate([np.zeros(length // 2), samples, np.zeros(length // 2)])
    window = np.hanning(length + 1)[:-1]
    edges = np.linspace(*(2595 * np.log10(1 + np.array([80, 15_000]) / 700)), 34)
    edges = 700 * (10 ** (edges / 2595) - 1)
    hertz = np.arange(length // 2 + 1) * RATE / length
    moments = []
    for start in range(0, len(padded) - length + 1, hop):
        power = np.abs(np.fft.rfft(padded[start : start + length] * window)) ** 2
        row = []
        for low, middle, high in zip(edges, edges[1:], edges[2:], strict=False):
            share = np.interp(hertz, [low, middle, high], [0, 1, 0])
            row.append(power @ share if share.any() else power[np.abs(hertz - middle).argmin()])
        moments.append(row)
    powers = np.array(moments)
    levels = 10 * np.log10(powers / powers.max() + 1e-4)
    above = np.maximum(0, levels - np.median(levels, axis=0))
    weight = above.sum(axis=1) / above.sum()
    level = np.average(above, axis=0, weights=weight)
    spread = np.sqrt(np.average((above - level) ** 2, axis=0, weights=weight))
    change = np.abs(above[1:] - above[:-1]).mean(axis=0)
    over = np.array([weight[:n].sum() + weight[n] / 2 for n in range(len(weight))])
    course = np.average(above * (over - 0.5)[:, None], axis=0, weights=weight)
    expected = [part / np.linalg.norm(part) / 2 for part in (level, spread, change)]
    expected.append(course / np.linalg.norm(spread) * np.sqrt(12) / 2)
    np.testing.assert_allclose(described(samples), expected, atol=2e-4)


@pytest.mark.parametrize(("container", "subtype", "rate"), FORMATS)
def test_descriptor_hardly_depends_on_the_format(container: str, subtype: str, rate: int) -> None:
    samples = calls(3, rate)
    exact = describe_sound(written(samples, rate, "WAV", "DOUBLE"), 0.5, 2.5)
    found = describe_sound(written(samples, rate, container, subtype), 0.5, 2.5)
    other = describe_sound(written(samples[::-1], rate, container, subtype), 0.5, 2.5)
    assert np.linalg.norm(found - exact) < np.linalg.norm(found - other)
    assert found.dtype == np.float32
    assert np.sqrt(3 / 4) - 1e-6 <= np.linalg.norm(found) <= 1


def test_segment_is_described_like_a_recording_of_its_own() -> None:
    samples = calls(9, RATE)
    by_segment = describe_sound(written(samples, RATE, "WAV", "DOUBLE"), 3, 5.5)
    np.testing.assert_array_equal(by_segment, described(samples[3 * RATE : 11 * RATE // 2]).ravel())


def test_descriptor_does_not_depend_on_how_a_segment_is_read() -> None:
    for container, subtype in (("FLAC", "PCM_16"), ("OGG", "VORBIS")):
        file = written(calls(9, RATE), RATE, container, subtype)
        spans = [(0, 3), (5, 8), (2, 4), (2, 4), (8, 11)]
        alone = [describe_sound(file, *span) for span in spans]
        with opened(file) as sound:
            for span, numbers in sorted(zip(spans, alone, strict=True), reverse=True, key=lambda pair: pair[0]):
                np.testing.assert_array_equal(describe_sound(sound, *span), numbers)


def test_silence_and_steady_tones_have_nothing_above_the_floor() -> None:
    assert not described(np.zeros(RATE)).any()
    assert not describe_sound(written(np.array([0.5]))).any()


@pytest.mark.parametrize("rate", [100, 1000, 8000, 11_025, 192_000])
def test_bands_above_half_the_rate_are_zero(rate: int) -> None:
    found = describe_sound(written(calls(4, rate), rate)).reshape(4, 32)
    middles = np.array([float(name.split()[1]) for name in NAMES[:32]])
    assert not found[:, middles > rate / 2].any()
    assert np.isfinite(found).all()


def test_descriptor_hardly_depends_on_the_rate() -> None:
    at_44, at_16 = (
        describe_sound(written(samples, rate))
        for rate in (44_100, 16_000)
        for samples in [tone(2500, 0.4, rate).tolist() + [0] * rate + noise(1, rate, 0.001).tolist()]
        for samples in [np.array(samples)]
    )
    assert np.linalg.norm(at_44 - at_16) < 0.25


def test_only_the_first_minutes_of_a_long_segment_are_described(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descriptor, "LONGEST", 2.0)
    samples = calls(9, RATE)
    np.testing.assert_array_equal(described(samples), described(samples[: 2 * RATE]))


def test_undecodable_input_is_refused() -> None:
    with pytest.raises(SoundError):
        describe_sound(io.BytesIO(b"RIFF"))
    with Sound(written(noise(1))) as sound, pytest.raises(SoundError, match="ends at 1 s"):
        describe_sound(sound, 1, 2)


@given(
    st.lists(st.floats(allow_nan=True, allow_infinity=True, width=32), min_size=1, max_size=400),
    st.sampled_from([100, 8000, 48_000]),
)
def test_any_samples_give_finite_numbers(samples: list[float], rate: int) -> None:
    found = describe_sound(written(np.array(samples, dtype=np.float32), rate, "WAV", "FLOAT"))
    assert found.shape == (128,)
    assert np.isfinite(found).all()
    assert np.linalg.norm(found) <= 1 + 1e-6
