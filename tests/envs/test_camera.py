"""Pictures of MuJoCo models, on machines that can draw; and what happens on the others."""

import os
import subprocess
import sys

import numpy as np
import pytest

from skillplan import envs
from skillplan.envs import gl
from skillplan.errors import UserError


@pytest.fixture(scope="module")
def _draws():
    try:
        gl.working_backend()
    except UserError as error:
        pytest.skip(str(error))


@pytest.mark.usefixtures("_draws")
def test_pixels_survive_another_world_that_comes_and_goes():
    env = envs.make("walker-walk", pixels=True)
    assert env.spec.observation_keys == ("image",)
    first = env.reset(0).observation
    assert first.shape == (64, 64, 3)
    assert first.dtype == np.uint8
    assert first.std() > 5
    other = envs.make("cheetah-run", pixels=True)
    assert not np.array_equal(other.reset(0).observation, first)
    other.close()
    np.testing.assert_array_equal(env.reset(0).observation, first)
    assert env.render().shape == (240, 320, 3)
    np.testing.assert_array_equal(env.reset(0).observation, first)
    assert not np.array_equal(env.step(np.ones(6)).observation, first)
    env.close()


@pytest.mark.usefixtures("_draws")
def test_pixels_work_in_a_program_that_began_without_opengl():
    program = (
        "import os; os.environ['MUJOCO_GL'] = 'disable'\n"
        "from skillplan import envs\n"
        "envs.make('hopper-hop').reset(0)\n"
        "print(envs.make('hopper-hop', pixels=True).reset(0).observation.std() > 5)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"
    assert "Exception" not in done.stderr


_STOCK = """
import sys
from dm_control import suite
from skillplan import envs
for domain, task, camera in (("walker", "walk", 0), ("quadruped", "run", 2)):
    stock = suite.load(domain, task, task_kwargs={"random": 3})
    stock.reset()
    ours = envs.make(f"dm:{domain}-{task}", pixels=True, shadows=True).reset(3).observation
    print((stock.physics.render(64, 64, camera_id=camera) == ours).all())
"""


@pytest.mark.usefixtures("_draws")
def test_with_shadows_a_picture_is_dm_controls_own_to_the_bit():
    environment = {**os.environ, "MUJOCO_GL": gl.working_backend()}
    done = subprocess.run([sys.executable, "-c", _STOCK], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split() == ["True", "True"]


@pytest.mark.usefixtures("_draws")
def test_one_context_serves_all_pictures_of_an_environment(monkeypatch):
    from skillplan.envs import camera

    opened, drawn = [], []
    make_context, draw = camera.gl_context, camera.Camera.image
    monkeypatch.setattr(camera, "gl_context", lambda *size: opened.append(size) or make_context(*size))
    monkeypatch.setattr(camera.Camera, "image", lambda *what: drawn.append(what) or draw(*what))
    env = envs.make("quadruped-cove", pixels=True)
    for seed in range(2):
        image = env.reset(seed).observation
        env.step(np.zeros(12))
        env.render()
    env.close()
    assert len(drawn) == 2 * (1 + 1 + 1)  # one for an agent's step, though it has two frames
    assert image.shape == (64, 64, 3)
    assert image.std() > 5
    assert len(opened) == 1


@pytest.mark.parametrize("task", ["rover-field", "gym:Pendulum-v1"])
def test_what_mujoco_does_not_draw_has_no_shadows(task):
    with pytest.raises(UserError, match=f"{task} is drawn without shadows"):
        envs.make(task, shadows=True)


def test_without_a_library_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(gl, "_draws", lambda backend: False)
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    gl.working_backend.cache_clear()
    with pytest.raises(UserError, match="none of egl, osmesa draws here: .* install libegl1"):
        gl.working_backend()


def test_a_choice_of_the_user_is_the_only_candidate(monkeypatch):
    tried = []
    monkeypatch.setattr(gl, "_draws", lambda backend: bool(tried.append(backend)) or True)
    monkeypatch.setenv("MUJOCO_GL", "osmesa")
    gl.working_backend.cache_clear()
    assert gl.working_backend() == "osmesa"
    assert tried == ["osmesa"]
    gl.working_backend.cache_clear()


def test_imports_without_opengl_leave_no_trace(monkeypatch):
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    with gl.importing_without_gl():
        assert os.environ["MUJOCO_GL"] == "disable"
    assert "MUJOCO_GL" not in os.environ
    monkeypatch.setenv("MUJOCO_GL", "egl")
    with gl.importing_without_gl():
        assert os.environ["MUJOCO_GL"] == "egl"
