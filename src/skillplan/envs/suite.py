"""Tasks of the DeepMind Control Suite as Gymnasium environments."""

import math
from typing import Any

import gymnasium
import numpy as np

from skillplan.envs.drawn import DrawnEnv
from skillplan.envs.gl import importing_without_gl
from skillplan.envs.suite_features import FEATURES, SuiteFeatures
from skillplan.errors import UserError, unknown_name

with importing_without_gl():
    import dm_env
    import mujoco
    from dm_control import suite
    from dm_control.rl import control

_CAMERAS = {"quadruped": 2}  # the one that follows; camera 0 of the other domains does
_ROOT_BODIES = ("torso", "root", "head")


class ControlEnv(DrawnEnv):
    """A dm_control environment through the Gymnasium interface, one control step per step.

    Observations are dm_control's own, float64, in its order (`observation_keys`); with `pixels` they
    are uint8 `[64, 64, 3]`. Actions keep their own, perhaps asymmetric, bounds. An episode depends
    on nothing but its seed. It terminates only where dm_control's discount is 0; its time limit is
    `episode_frames` (`None`: it has none), kept by whoever steps the environment.
    """

    has_open_start = False

    def __init__(
        self, environment: control.Environment, *, features: SuiteFeatures | None = None, **drawing: Any
    ) -> None:
        """Adapt `environment`, record the `features` of its rewards; `drawing` are the settings of `DrawnEnv`."""
        super().__init__(**drawing)
        self._environment = environment
        self._physics: Any = environment.physics
        self._task: Any = environment.task
        self._features = features
        self.metadata = {**self.metadata, "render_fps": round(1 / environment.control_timestep())}
        self.episode_frames = _frames(environment)
        self.terminates = type(self._task).get_termination is not control.Task.get_termination
        self._root, self._root_axes = _root_of(self._physics.model.ptr)
        self.record_shapes = {"position": (len(self._root_axes),)} if self._root_axes else {}
        self.position_axes = tuple("xyz"[axis] for axis in self._root_axes)
        if "y" not in self.position_axes:
            self.still_elevation = -10.0  # it moves in a plane that is seen from the side
        if features is not None:
            self.record_shapes |= features.shapes

        bounds = environment.action_spec()
        self.action_space = gymnasium.spaces.Box(bounds.minimum, bounds.maximum, bounds.shape, np.float64)
        pieces = [
            (key, gymnasium.spaces.Box(-np.inf, np.inf, spec.shape or (1,), np.float64))
            for key, spec in environment.observation_spec().items()
        ]
        if self._pixels:
            self.observation_space = self._image_space()
        else:
            self.observation_keys = tuple(key for key, _ in pieces)
            self.observation_space = gymnasium.spaces.Dict(pieces)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode; without a seed, with the next number of the environment's own generator."""
        super().reset(seed=seed)
        if seed is None:
            seed = int(self.np_random.integers(2**32))
        # The task's generator lives on from episode to episode: begin it anew. It takes 32 bits.
        self._task._random = np.random.RandomState(seed % 2**32)
        try:
            moment = self._environment.reset()
        except RuntimeError as error:
            if "No OpenGL" not in str(error):
                raise
            raise UserError(
                "This task of dm_control needs OpenGL even without pixels: set MUJOCO_GL=egl or MUJOCO_GL=osmesa."
            ) from error
        if self._camera is not None:
            self._camera.upload_heights()  # some tasks draw their terrain anew
        return self._observation(moment), {"record": self._record()}

    def step(self, action: np.ndarray) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Act for one control step."""
        return self._stepped(action, seen=True)

    def step_unseen(self, action: np.ndarray) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """As `step`, but without the observation, unless the episode ends."""
        return self._stepped(action, seen=False)

    def _stepped(self, action: np.ndarray, *, seen: bool) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        moment = self._environment.step(np.asarray(action, np.float64))
        return (
            self._observation(moment) if seen or moment.last() else None,
            float(moment.reward or 0.0),
            bool(moment.last() and moment.discount == 0),
            False,
            {"record": self._record()},
        )

    def _scene(self) -> tuple[Any, Any]:
        return self._physics.model.ptr, self._physics.data.ptr

    def _record(self) -> dict[str, np.ndarray]:
        record = {} if self._features is None else self._features.read(self._physics)
        if self._root_axes:
            record["position"] = self._physics.data.xpos[self._root][list(self._root_axes)].copy()
        return record

    def _observation(self, moment: dm_env.TimeStep) -> Any:
        if self._pixels:
            return self._image_observation()
        return {key: np.array(value, np.float64, ndmin=1) for key, value in moment.observation.items()}


class SuiteEnv(ControlEnv):
    """A stock task of the DeepMind Control Suite."""

    def __init__(self, domain: str, task: str, **settings: Any) -> None:
        """Load `task` of `domain`; `settings` are those of `ControlEnv`."""
        if domain not in suite.TASKS_BY_DOMAIN:
            raise unknown_name("dm_control domain", domain, suite.TASKS_BY_DOMAIN)
        if task not in suite.TASKS_BY_DOMAIN[domain]:
            raise unknown_name(f"{domain} task", task, suite.TASKS_BY_DOMAIN[domain])
        # A fixed seed, because some domains draw their very model with it: no two loads may differ.
        environment = suite.load(domain, task, task_kwargs={"random": 0})
        super().__init__(environment, features=FEATURES.get(domain), camera=_CAMERAS.get(domain, 0), **settings)


def _frames(environment: control.Environment) -> int | None:
    """The environment's time limit in control steps, handed over to whoever steps it."""
    limit = environment._step_limit
    environment._step_limit = math.inf
    return None if math.isinf(limit) else math.ceil(limit)


def _root_of(model: Any) -> tuple[int, tuple[int, ...]]:
    """The body that stands for the whole and the world axes along which it can move; no axes if there is none."""
    for name in _ROOT_BODIES:
        body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
        if body < 0:
            continue
        axes = set()
        for joint in np.flatnonzero(model.jnt_bodyid == body):
            if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE:
                axes.update((0, 1, 2))
            elif model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE:
                axes.update(np.flatnonzero(model.jnt_axis[joint]).tolist())
        if axes:
            return body, tuple(sorted(axes))
    return 0, ()
