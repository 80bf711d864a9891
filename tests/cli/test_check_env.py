import json
import os
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete

from skillplan.cli.main import main
from skillplan.envs import gl

NAMES = ["spec", "finite", "determinism", "start", "constant", "memory", "actions", "speed"]


class Settled(gymnasium.Env):
    """Always starts at the same place, and observes one number that never changes."""

    def __init__(self, action_space=None, observation_space=None, broken=None):
        self.action_space = action_space or Box(-1.0, 1.0, (1,), np.float32)
        self.observation_space = observation_space or Box(-np.inf, np.inf, (2,), np.float32)
        self.broken = broken

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = np.zeros(2, np.float32)
        return self.place.copy(), {}

    def step(self, action):
        if isinstance(self.broken, str):
            raise ZeroDivisionError("the wheel came off")
        self.place = self.place + np.array([action[0], 0], np.float32)
        return self.place.copy() if self.broken is None else self.broken, 0.0, False, False, {}


def unbounded(size):
    return Box(-np.inf, np.inf, (size,), np.float32)


SPACES = {
    "discrete actions": ({"action_space": Discrete(3)}, "its action space is a Discrete"),
    "unbounded actions": ({"action_space": unbounded(1)}, "its actions are not bounded"),
    "a dictionary of actions": ({"action_space": Dict({"a": unbounded(1)})}, "its action space is a Dict"),
    "discrete observations": ({"observation_space": Discrete(3)}, "is a Discrete space"),
}
IN_PLAY = {
    "not a number": (np.array([0, np.nan], np.float32), "observation 'observation' is not finite at frame 1"),
    "another shape": (np.zeros(3, np.float32), "has shape (3,) at frame 1 of the episode, but its space says (2,)"),
}


@pytest.fixture
def registered():
    """Registers a settled world with some arguments, and says its name."""

    def register(**arguments):
        gymnasium.register("probe/Settled-v0", entry_point=Settled, max_episode_steps=30, kwargs=arguments)
        return "gym:probe/Settled-v0"

    yield register
    gymnasium.registry.pop("probe/Settled-v0", None)


def run(capsys, *arguments):
    status = main(arguments)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_a_sound_task_is_shown_check_by_check(capsys):
    status, out, _ = run(capsys, "check-env", "rover-cove", "--steps", "60")
    lines = out.splitlines()
    assert status == 0
    assert [line.split()[1] for line in lines[2:10]] == NAMES
    assert all(line.startswith("ok") for line in lines[2:10])
    assert lines[-1] == "Ready. Next: skillplan train rover-cove"


def test_the_json_has_every_check(capsys):
    status, out, _ = run(capsys, "check-env", "gym:Pendulum-v1", "--steps", "20", "--json")
    report = json.loads(out)
    assert (status, report["task"], report["ok"]) == (0, "gym:Pendulum-v1", True)
    assert list(report["checks"]) == NAMES


def test_broken_promises_end_with_status_1_unless_allowed(capsys, registered):
    task = registered()
    status, out, _ = run(capsys, "check-env", task, "--json")
    checks = json.loads(out)["checks"]
    assert status == 1
    assert [name for name, check in checks.items() if not check["ok"]] == ["start", "constant"]
    assert "observation[1]" in checks["constant"]["found"]
    status, out, _ = run(capsys, "check-env", task)
    assert status == 1
    assert out.count("→") == 2
    assert run(capsys, "check-env", task, "--allow", "start")[0] == 1
    assert run(capsys, "check-env", task, "--allow", "start", "--allow", "constant")[0] == 0


@pytest.mark.parametrize(("arguments", "sentence"), SPACES.values(), ids=SPACES)
@pytest.mark.parametrize("command", [["check-env"], ["train", "--size", "debug"], ["view"]], ids=lambda c: c[0])
def test_spaces_that_cannot_be_used_are_named(capsys, registered, tmp_path, monkeypatch, command, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, *command, registered(**arguments))
    assert (status, out) == (2, "")
    assert err.startswith("skillplan: gym:probe/Settled-v0: ")
    assert sentence in err
    assert len(err.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("broken", "sentence"), IN_PLAY.values(), ids=IN_PLAY)
def test_observations_that_break_in_play_are_named(capsys, registered, tmp_path, monkeypatch, broken, sentence):
    task = registered(broken=broken)
    status, out, _ = run(capsys, "check-env", task, "--json")
    assert status == 1
    assert any(sentence in check["found"] for check in json.loads(out)["checks"].values())
    monkeypatch.chdir(tmp_path)
    status, _, err = run(capsys, "train", task, "--size", "debug", "--frames", "60")
    assert status == 2
    assert err.strip().splitlines()[-1].startswith(f"skillplan: {task}: observation 'observation' ")
    assert sentence in err
    assert "Traceback" not in err


def test_an_environment_that_fails_shows_where(capsys, registered):
    status, _, err = run(capsys, "check-env", registered(broken="crash"))
    assert status == 1
    assert "ZeroDivisionError: the wheel came off" in err
    assert err.strip().splitlines()[-1] == "skillplan: gym:probe/Settled-v0 itself failed, as shown above."


def test_a_module_beside_the_shell_is_found(tmp_path):
    (tmp_path / "mine.py").write_text(
        Path(__file__).read_text() + "\ngymnasium.register('Mine-v0', entry_point=Settled, max_episode_steps=9)\n"
    )
    command = [
        sys.executable,
        "-c",
        "import sys; sys.path.pop(0); from skillplan.cli.main import main; sys.exit(main())",
    ]
    command += ["check-env", "gym:mine:Mine-v0", "--allow", "start", "--allow", "constant", "--steps", "8"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["check-env", "rover-feild"], "Unknown task 'rover-feild': did you mean 'rover-field'?"),
        (["check-env", "rover-field", "--steps", "2"], "--steps is 2"),
        (["check-env", "rover-field", "--allow", "speed"], "speed"),
        (["check-env", "rover-field", "--environment.action-repeat", "0"], "--environment.action-repeat is 0"),
        (["check-env"], "`skillplan check-env` needs TASK."),
        (["check-env", "gym:Pendulum-v1", "--pixels"], "gym:Pendulum-v1 has no pixels"),
    ],
)
def test_mistakes_get_one_sentence(capsys, arguments, complaint):
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert complaint in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize("task", ["quadruped-cove", "walker-walk"])
@pytest.mark.parametrize(
    "command",
    [["train", "--size", "debug", "--pixels"], ["check-env", "--pixels"], ["view"]],
    ids=lambda c: c[0],
)
def test_without_opengl_pixels_say_what_to_install(capsys, tmp_path, monkeypatch, task, command):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(gl, "_draws", lambda backend: False)
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    gl.working_backend.cache_clear()
    status, out, err = run(capsys, *command, task)
    gl.working_backend.cache_clear()
    assert (status, out) == (2, "")
    assert "none of egl, osmesa draws here" in err
    assert "install libegl1" in err
    assert len(err.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_without_opengl_features_and_the_rovers_pixels_work():
    program = (
        "import sys; sys.modules['OpenGL'] = sys.modules['glfw'] = None\n"  # as where neither is installed
        "from skillplan.cli.main import main\n"
        "tasks = ['quadruped-cove', 'walker-walk', 'rover-field --pixels', 'dm:cheetah-run']\n"
        "print([main(['check-env', *task.split(), '--steps', '8', '--json']) for task in tasks])"
    )
    environment = {name: value for name, value in os.environ.items() if name != "MUJOCO_GL"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environment)
    assert done.stdout.splitlines()[-1:] == ["[0, 0, 0, 0]"], done.stdout + done.stderr
