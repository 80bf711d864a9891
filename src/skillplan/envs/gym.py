"""Any Gymnasium environment with continuous actions, by its ID."""

import importlib
import os
import sys
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec, load_env_creator

from skillplan.envs.gl import drawing_off_screen
from skillplan.errors import UserError, unknown_name


def make_gym(gym_id: str, episode_length: int | None) -> tuple[gymnasium.Env, int]:
    """The environment `gym_id` (`ID`, or `module:ID` to import its module first), and its time limit in frames.

    `episode_length` replaces the environment's own time limit, and is needed where it has none.
    """
    task = f"gym:{gym_id}"
    try:
        spec = _find(gym_id)
        frames = spec.max_episode_steps if episode_length is None else episode_length
        if frames is None:
            raise UserError(f"{task} has no time limit: pass --environment.episode-length (in frames).")
        drawing = {"render_mode": "rgb_array"} if _draws(spec) else {}  # not all take the argument
        # What the checker would warn of ends the program here, in our words.
        env = gymnasium.make(spec, max_episode_steps=frames, disable_env_checker=True, **drawing)
    except gymnasium.error.DependencyNotInstalled as error:
        raise UserError(f"{task} needs a package that is not installed: {error}") from error
    except ModuleNotFoundError as error:
        raise UserError(f"{task} needs the module {error.name!r}, which is not installed.") from error
    except gymnasium.error.Error as error:
        raise UserError(f"Gymnasium cannot make {gym_id!r}: {error}") from error
    return OffScreen(env), frames


class OffScreen(gymnasium.Wrapper):
    """Draws without a screen, where the environment draws with MuJoCo."""

    def render(self) -> Any:
        """What the environment's own `render` returns."""
        try:
            if "mujoco" not in sys.modules:
                return self.env.render()
            with drawing_off_screen():
                return self.env.render()
        except gymnasium.error.DependencyNotInstalled as error:
            raise UserError(f"Drawing needs a package that is not installed: {error}") from error


def _find(gym_id: str) -> EnvSpec:
    """What is registered under the ID."""
    module, _, name = gym_id.rpartition(":")
    if module:
        if os.getcwd() not in sys.path:
            sys.path.append(os.getcwd())  # a user's own module lies where the command is typed
        importlib.import_module(module)
    if name not in gymnasium.registry:
        raise unknown_name("Gymnasium environment", name, gymnasium.registry)
    return gymnasium.registry[name]


def _draws(spec: EnvSpec) -> bool:
    """Whether the environment can return its picture as an array."""
    creator = load_env_creator(spec.entry_point) if isinstance(spec.entry_point, str) else spec.entry_point
    return "rgb_array" in getattr(creator, "metadata", {}).get("render_modes", ())
