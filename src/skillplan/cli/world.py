"""Options of commands that make a world without a run."""

from dataclasses import dataclass

from skillplan.envs import make
from skillplan.envs.wrapper import RepeatedEnvironment
from skillplan.errors import UserError


@dataclass(frozen=True)
class WorldOptions:
    """The world as the agent meets it."""

    action_repeat: int | None = None
    """Frames for which an action is held (the task's own)."""
    pixels: bool = False
    """Observe 64x64 images instead of features."""
    shadows: bool = False
    """Draw with shadows, reflections and smooth edges, as dm_control does."""
    episode_length: int | None = None
    """Time limit in frames; needed only by Gymnasium environments that have none."""

    def make(self, task: str, *, pixels: bool = False) -> RepeatedEnvironment:
        """The world of `task`."""
        for name in ("action_repeat", "episode_length"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UserError(f"--environment.{name.replace('_', '-')} is {value}: give a number above zero.")
        return make(
            task,
            action_repeat=self.action_repeat,
            pixels=self.pixels or pixels,
            shadows=self.shadows,
            episode_length=self.episode_length,
        )
