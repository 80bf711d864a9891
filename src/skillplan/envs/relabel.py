"""What another task would have paid for an episode that was played: the paper's relabelling of replay, exactly."""

import importlib

import numpy as np

from skillplan.envs.registry import Task, find
from skillplan.errors import UserError
from skillplan.replay.episode import Episode

# Where rewards are computed from the features of a record: by the name under which tasks share them.
_REWARDS = {
    "rover": "skillplan.envs.rover.tasks",
    "quadruped": "skillplan.envs.quadruped.tasks",
    "walker": "skillplan.envs.suite_features",
    "hopper": "skillplan.envs.suite_features",
}


def check_relabel(source: str, target: str) -> None:
    """Raise UserError, saying why, unless episodes of `source` can be paid as `target` pays."""
    _pair(source, target)


def relabel(episode: Episode, *, source: str, target: str) -> np.ndarray:
    """Rewards `[T+1]` float32 that the task `target` would have paid for an episode of the task `source`.

    Computed from the features of every frame in the episode's record and summed over the frames of each agent step, as
    they were when the episode was played; where that step was the last and shorter than others, over those it had.
    Targets stand where they stood in the episode, as the stored observations say. For `target` equal to `source` these
    are the stored rewards, but for the rounding of the record to float32.
    """
    row = _pair(source, target)
    frame_rewards = importlib.import_module(_REWARDS[row.features]).frame_rewards
    try:
        rewards = frame_rewards(episode.record, **row.arguments)
    except KeyError as error:
        raise UserError(
            f"This episode of {source} has no record of {error.args[0]!r}, on which the reward of {target} depends: "
            "it was played by an older version; collect it anew."
        ) from error
    return _summed(np.asarray(rewards), episode.frames)


def _summed(rewards: np.ndarray, frames: int) -> np.ndarray:
    """Rewards of agent steps `[T+1]` from those of their frames `[T+1, repeat]`, of which `frames` were played."""
    steps, repeat = len(rewards) - 1, rewards.shape[1]
    played = np.full(steps + 1, repeat)
    played[0] = 0  # the reset, which pays nothing
    played[-1] = frames - repeat * (steps - 1)  # the record repeats a last frame that was not the last of its step
    total = np.zeros(steps + 1)
    for i in range(repeat):  # one by one and in double precision, as the environment's wrapper adds them
        total += np.where(i < played, rewards[:, i], 0.0)
    return total.astype(np.float32)


def _pair(source: str, target: str) -> Task:
    """The row of the target task, if its rewards are functions of what the source task records."""
    rows = {name: find(name) for name in (source, target)}
    for name, row in rows.items():
        if not row.features:
            raise UserError(
                f"Rewards of {name} cannot be recomputed: its episodes do not keep what its reward depends on."
            )
    if rows[source].features != rows[target].features:
        raise UserError(
            f"Episodes of {source} cannot be paid as {target} pays: they keep the features of the "
            f"{rows[source].features}, not of the {rows[target].features}."
        )
    return rows[target]
