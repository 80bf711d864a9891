"""Tasks of the DeepMind Control Suite as Gymnasium environments."""

import math
from typing import Any

import gymnasium
import numpy as np

from skillplan.envs.gl import importing_without_gl
from skillplan.errors import UserError, unknown_name

with importing_without_gl():
    import dm_env
    import mujoco
    from dm_control import suite
    from dm_control.rl import control

IMAGE_SIZE = 64
RENDER_SIZE = (240, 320)  # height, width

_CAMERAS = {"quadruped": 2}  # the one that follows; camera 0 of the other domains does
_ROOT_BODIES = ("torso", "root", "head")


class ControlEnv(gymnasium.Env):
    """A dm_control environment through the Gymnasium interface, one control step per step.

    Observations are dm_control's own, float64, in its order (`observation_keys`); with `pixels` they
    are uint8 `[64, 64, 3]`. Actions keep their own, perhaps asymmetric, bounds. An episode depends
    on nothing but its seed. It terminates only where dm_control's discount is 0; its time limit is
    `episode_frames` (`None`: it has none), kept by whoever steps the environment.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}
    has_open_start = False

    def __init__(
        self,
        environment: control.Environment,
        *,
        camera: int = 0,
        pixels: bool = False,
        shadows: bool = False,
        multisampling: bool = False,
        render_mode: str | None = None,
    ) -> None:
        """Adapt `environment`; pictures come from its camera number `camera`."""
        self._environment = environment
        self._physics: Any = environment.physics
        self._task: Any = environment.task
        self._camera_number = camera
        self._camera_settings = {"shadows": shadows, "multisampling": multisampling}
        self._camera: Any = None
        self._pixels = pixels
        self.render_mode = render_mode
        self.metadata = {**self.metadata, "render_fps": round(1 / environment.control_timestep())}
        self.episode_frames = _frames(environment)
        self.terminates = type(self._task).get_termination is not control.Task.get_termination
        self._root, self._root_axes = _root_of(self._physics.model.ptr)
        self.record_shapes = {"position": (len(self._root_axes),)} if self._root_axes else {}

        bounds = environment.action_spec()
        self.action_space = gymnasium.spaces.Box(bounds.minimum, bounds.maximum, bounds.shape, np.float64)
        pieces = [
            (key, gymnasium.spaces.Box(-np.inf, np.inf, spec.shape or (1,), np.float64))
            for key, spec in environment.observation_spec().items()
        ]
        if pixels:
            self._open_camera()  # at once, so that a machine that cannot draw says so at the start
            self.observation_space = gymnasium.spaces.Box(0, 255, (IMAGE_SIZE, IMAGE_SIZE, 3), np.uint8)
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
        moment = self._environment.step(np.asarray(action, np.float64))
        return (
            self._observation(moment),
            float(moment.reward or 0.0),
            bool(moment.last() and moment.discount == 0),
            False,
            {"record": self._record()},
        )

    def render(self) -> np.ndarray:
        """The scene, uint8 `[240, 320, 3]`."""
        return self._image(*RENDER_SIZE)

    def close(self) -> None:
        """Free the drawing context."""
        if self._camera is not None:
            self._camera.close()
            self._camera = None

    def _record(self) -> dict[str, np.ndarray]:
        if not self._root_axes:
            return {}
        return {"position": self._physics.data.xpos[self._root][list(self._root_axes)].copy()}

    def _observation(self, moment: dm_env.TimeStep) -> Any:
        if self._pixels:
            return self._image(IMAGE_SIZE, IMAGE_SIZE)
        return {key: np.array(value, np.float64, ndmin=1) for key, value in moment.observation.items()}

    def _image(self, height: int, width: int) -> np.ndarray:
        self._open_camera()
        return self._camera.image(self._physics.data.ptr, self._camera_number, width, height)

    def _open_camera(self) -> None:
        """One context serves observations and people: a second one that is freed can spoil the first."""
        if self._camera is None:
            from skillplan.envs.camera import Camera

            height, width = RENDER_SIZE
            self._camera = Camera(self._physics.model.ptr, width=width, height=height, **self._camera_settings)


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
        super().__init__(environment, camera=_CAMERAS.get(domain, 0), **settings)


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
