"""Building an episode while it is played, one agent step at a time."""

import numpy as np

from skillplan.envs.interface import Step
from skillplan.replay.episode import Episode


class EpisodeBuilder:
    """Collects the steps of one episode, beginning with its reset.

    Values that the player wants on disk beside the environment's (`skill`, …) are given by name at every step.
    Like the action, they belong to the step they led to, so index 0 holds zeros.
    """

    def __init__(self, reset: Step) -> None:
        """Begin with what `Environment.reset` returned."""
        self._steps = [_copied(reset)]
        self._actions: list[np.ndarray] = []
        self._extras: list[dict[str, np.ndarray]] = []

    @property
    def frames(self) -> int:
        """Frames that passed so far."""
        return sum(step.frames for step in self._steps)

    def add(self, action: np.ndarray, step: Step, **extra: np.ndarray) -> None:
        """Append the step that `action` `[action_size]` led to; `extra` is for the record alone."""
        if self._steps[-1].is_last:
            raise ValueError(f"The episode ended after {len(self._actions)} steps; reset before stepping on.")
        for what, names, known in (
            ("recorded", step.record.keys(), self._steps[0].record.keys()),
            ("extra", extra.keys(), self._extras[0].keys() if self._extras else extra.keys() - step.record.keys()),
        ):
            if set(names) != set(known):
                raise ValueError(f"Step {len(self._steps)} brings {what} values {sorted(names)}, not {sorted(known)}.")
        self._steps.append(_copied(step))
        self._actions.append(np.array(action, np.float32))
        self._extras.append({name: np.array(value) for name, value in extra.items()})

    def build(self) -> Episode:
        """The episode so far, validated; one that is not over looks like one that a time limit ended."""
        if not self._actions:
            raise ValueError("An episode needs at least one step after its reset.")
        length = len(self._steps)
        record = {name: np.stack([step.record[name] for step in self._steps]) for name in self._steps[0].record}
        for name, first in self._extras[0].items():
            record[name] = np.stack([np.zeros_like(first), *(extra[name] for extra in self._extras)])
        return Episode(
            observation=np.stack([step.observation for step in self._steps]),
            action=np.stack([np.zeros_like(self._actions[0]), *self._actions]),
            reward=np.array([step.reward for step in self._steps], np.float32),
            is_first=np.arange(length) == 0,
            is_terminal=np.array([step.is_terminal for step in self._steps], bool),
            frames=self.frames,
            record=record,
        )


def _copied(step: Step) -> Step:
    # An environment may write its next observation into the same array.
    return step._replace(
        observation=np.array(step.observation),
        record={name: np.array(value) for name, value in step.record.items()},
    )
