import dataclasses

import pytest

from skillplan.envs.interface import EnvSpec
from skillplan.replay.memory import format_bytes, memory_estimate, step_nbytes, steps_for
from skillplan.replay.store import ReplayStore


def test_the_estimate_is_what_a_store_reserves(spec: EnvSpec, pixel_spec: EnvSpec) -> None:
    for chosen in (spec, pixel_spec):
        assert ReplayStore(chosen, steps_for(chosen, 110)).nbytes == memory_estimate(chosen, 110)


def test_a_step_is_counted_by_hand(spec: EnvSpec, pixel_spec: EnvSpec) -> None:
    # Observation, 3 actions, reward, two flags.
    assert step_nbytes(spec) == 2 * 4 + 3 * 4 + 4 + 2
    assert step_nbytes(pixel_spec) == 4 * 4 * 3 + 3 * 4 + 4 + 2


@pytest.mark.parametrize(
    ("repeat", "frames", "steps"),
    [(2, 20, 11), (2, 40, 22), (2, 21, 11 + 2), (3, 20, 8), (3, 25, 8 + 3), (1, 1, 2)],
)
def test_every_episode_takes_one_step_more_for_its_reset(spec: EnvSpec, repeat: int, frames: int, steps: int) -> None:
    assert steps_for(dataclasses.replace(spec, action_repeat=repeat), frames) == steps


def test_frames_must_be_positive(spec: EnvSpec) -> None:
    with pytest.raises(ValueError, match="not 0"):
        memory_estimate(spec, 0)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_960, "1.0 MB"),
        (6_144_000_000, "6.1 GB"),
        (2 * 10**16, "20000.0 TB"),
    ],
)
def test_bytes_for_people(count: int, text: str) -> None:
    assert format_bytes(count) == text
