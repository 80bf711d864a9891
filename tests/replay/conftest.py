from collections.abc import Callable

import numpy as np
import pytest

from skillplan.envs.interface import EnvSpec
from skillplan.replay.episode import Episode

MakeEpisode = Callable[..., Episode]


@pytest.fixture
def spec() -> EnvSpec:
    return EnvSpec(
        task="counter",
        observation_keys=("number",),
        observation_sizes=(2,),
        observation_shape=(2,),
        pixels=False,
        action_size=3,
        action_repeat=2,
        episode_frames=20,
        terminates=True,
        record_shapes={"position": (2,)},
    )


@pytest.fixture
def pixel_spec(spec: EnvSpec) -> EnvSpec:
    fields = {**vars(spec), "observation_keys": ("image",), "observation_sizes": (48,), "observation_shape": (4, 4, 3)}
    return EnvSpec(**{**fields, "pixels": True})


@pytest.fixture
def make_episode() -> MakeEpisode:
    """Episodes in which every step's observation and reward tell its number in the run."""

    def make(length: int, begin: int = 0, *, pixels: bool = False, terminal: bool = False) -> Episode:
        number = np.arange(begin, begin + length)
        rng = np.random.default_rng([begin, length])
        action = rng.uniform(-1, 1, (length, 3)).astype(np.float32)
        action[0] = 0
        reward = (-1.0 - number).astype(np.float32)
        reward[0] = 0
        image = rng.integers(0, 256, (length, 4, 4, 3), dtype=np.uint8)
        # The step's number in base 256, where images can be told apart by it.
        image[:, 0, 0, 0], image[:, 0, 0, 1] = number // 256, number % 256
        return Episode(
            observation=image if pixels else np.stack([number, -number], -1).astype(np.float32),
            action=action,
            reward=reward,
            is_first=np.arange(length) == 0,
            is_terminal=(np.arange(length) == length - 1) & terminal,
            frames=2 * (length - 1),
            record={"position": rng.normal(size=(length, 2, 2)).astype(np.float32)},
        )

    return make
