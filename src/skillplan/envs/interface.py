"""What an agent sees of a world: one `Step` per agent step, described beforehand by an `EnvSpec`."""

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np


@dataclass(frozen=True)
class EnvSpec:
    """All that an agent is built from; saved with every run and compared when a run is used again."""

    task: str
    """Name as typed on the command line, e.g. `rover-field`."""
    observation_keys: tuple[str, ...]
    """Named pieces of the observation, in the order in which they are flattened; `("image",)` for pixels."""
    observation_sizes: tuple[int, ...]
    """Numbers in each piece."""
    observation_shape: tuple[int, ...]
    """`(total,)` for features, `(64, 64, 3)` for pixels."""
    pixels: bool
    """Whether observations are uint8 images; otherwise float32 features."""
    action_size: int
    """Actions are always in [-1, 1]; the environment rescales."""
    action_repeat: int
    """Frames per agent step."""
    episode_frames: int
    """Time limit in frames; an episode that reaches it is truncated, not terminated."""
    terminates: bool
    """Whether an episode can end before its time limit."""
    record_shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Record-only values per frame (`position`, …): written to disk, never shown to the agent."""

    def __post_init__(self) -> None:
        """Refuse pieces without a size, and sizes without a piece."""
        if len(self.observation_keys) != len(self.observation_sizes):
            raise ValueError(
                f"{self.task} has {len(self.observation_keys)} observations but {len(self.observation_sizes)} sizes"
            )


class Step(NamedTuple):
    """What one agent step (or a reset) brought."""

    observation: np.ndarray
    reward: float
    """Sum over the repeated frames; 0 at a reset."""
    frames: int
    """Frames that passed: `action_repeat`, fewer where the episode ended in between, 0 at a reset."""
    is_last: bool
    """The episode is over, for whatever reason."""
    is_terminal: bool
    """The episode is over because the world ended it: no return follows."""
    record: dict[str, np.ndarray]
    """Record-only values of every frame, `[action_repeat, …]` float32; a missing frame repeats the last one."""


@runtime_checkable
class Environment(Protocol):
    """A world stepped by an agent."""

    spec: EnvSpec

    def reset(self, seed: int, *, open_start: bool = False) -> Step:
        """Start an episode that depends on nothing but `seed`.

        `open_start` asks for the plain start from which skills are compared
        (rover: no obstacles, yaw 0); a world without one starts as usual.
        """
        ...

    def step(self, action: np.ndarray) -> Step:
        """Act for `action_repeat` frames; `action` has shape `[action_size]` in [-1, 1]."""
        ...

    def render(self) -> np.ndarray:
        """An image of the world for people, uint8 `[height, width, 3]`."""
        ...

    def close(self) -> None:
        """Free what the world holds; stepping it afterwards is an error."""
        ...
