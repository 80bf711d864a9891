"""The table of tasks."""

import json
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from skillplan import envs
from skillplan.envs import gl
from skillplan.envs.registry import PATTERNS, TASKS
from skillplan.errors import UserError


def test_importing_loads_no_simulator():
    program = (
        "import sys, skillplan.envs, gymnasium; "
        "print([m for m in ('mujoco', 'dm_control', 'jax') if m in sys.modules], "
        "'skillplan/walker-walk-v0' in gymnasium.registry)"
    )
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert output.strip() == "[] True"


@pytest.mark.parametrize("name", TASKS)
def test_every_task_is_registered_and_can_be_played(name):
    assert gymnasium.spec(f"skillplan/{name}-v0").max_episode_steps == TASKS[name].episode_frames
    env = envs.make(name, action_repeat=2)
    assert env.spec.task == name
    assert env.spec.episode_frames == TASKS[name].episode_frames
    assert not env.spec.terminates
    step = env.reset(0)
    assert step.observation.shape == env.spec.observation_shape
    step = env.step(np.zeros(env.spec.action_size))
    assert (step.frames, step.is_last) == (2, False)
    assert {key: value.shape for key, value in step.record.items()} == {
        key: (2, *shape) for key, shape in env.spec.record_shapes.items()
    }
    assert "position" in step.record
    env.close()


@pytest.fixture(scope="module")
def render_mode():
    """What a machine can draw: nothing, if it has no OpenGL."""
    try:
        gl.working_backend()
    except UserError:
        return None
    return "rgb_array"


# Features have no bounds that anyone knows, and the quadruped's actions are asymmetric.
_ADVICE = r"ignore:.*(infinity|symmetric and normalized space):UserWarning"


@pytest.mark.filterwarnings(_ADVICE)
@pytest.mark.parametrize("name", TASKS)
def test_every_task_passes_gymnasiums_checker(name, render_mode):
    drawn = render_mode if TASKS[name].family != "rover" else "rgb_array"  # the rover needs no OpenGL
    env = gymnasium.make(f"skillplan/{name}-v0", render_mode=drawn)
    check_env(env.unwrapped, skip_render_check=drawn is None)
    if drawn:
        env.reset(seed=0)
        assert env.render().std() > 5
    env.close()


@pytest.mark.filterwarnings(_ADVICE)
@pytest.mark.parametrize("name", ["quadruped-cove", "cheetah-run", "rover-cove"])
def test_pixels_of_every_family_pass_gymnasiums_checker(name, render_mode):
    if render_mode is None and not name.startswith("rover"):
        pytest.skip("This machine cannot draw.")
    env = gymnasium.make(f"skillplan/{name}-v0", pixels=True, render_mode="rgb_array")
    check_env(env.unwrapped)
    observation, _ = env.reset(seed=0)
    assert (observation.shape, observation.dtype) == ((64, 64, 3), np.uint8)
    assert observation.std() > 5
    env.close()


def test_the_listing_is_json_with_a_line_for_every_task():
    rows = json.loads(json.dumps(envs.tasks()))
    assert [row["name"] for row in rows] == [*TASKS, *(row.name for row in PATTERNS.values())]
    assert all(row["description"] and "\n" not in row["description"] for row in rows)


@pytest.mark.parametrize(
    ("task", "family", "repeat"),
    [
        ("rover-cove", "rover", 1),
        ("cheetah-run", "suite", 2),
        ("dm:reacher-easy", "suite", 2),
        ("gym:Pendulum-v1", "gym", 1),
    ],
)
def test_families_and_action_repeats(task, family, repeat):
    assert envs.family(task) == family
    assert envs.default_action_repeat(task) == repeat


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ("rover-feild", "Unknown task 'rover-feild': did you mean 'rover-field'"),
        ("zzz", "choose from cheetah-run"),
        ("gym:", "Unknown task 'gym:'"),
        ("dm:walker", "write dm:DOMAIN-TASK"),
        ("dm:wlaker-walk", "Unknown dm_control domain 'wlaker': did you mean 'walker'"),
        ("dm:walker-wlak", "Unknown walker task 'wlak': did you mean 'walk'"),
        ("dm:lqr-lqr_2_1", "has no time limit: pass --environment.episode-length"),
    ],
)
def test_names_that_lead_nowhere(task, message):
    with pytest.raises(UserError, match=message):
        envs.make(task)


def test_episode_length_shortens_and_extends():
    env = envs.make("rover-field", episode_length=3)
    env.reset(0)
    assert [env.step(np.zeros(2)).is_last for _ in range(3)] == [False, False, True]
    assert envs.make("hopper-hop", episode_length=1500).spec.episode_frames == 1500
