import dataclasses
import json

import pytest

from skillplan.envs.interface import EnvSpec
from skillplan.errors import UserError
from skillplan.presets import AGENTS, SIZES, make_config
from skillplan.training.run_directory import RunDirectory, check_same_world, default_run, differences
from training.conftest import debug_config

SPEC = EnvSpec("rover-field", ("a", "b"), (2, 3), (5,), False, 2, 1, 300, False, {"position": (2,)})


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("size", SIZES)
def test_a_configuration_survives_the_disk(tmp_path, agent, size):
    config = make_config("rover-field", agent, size, {"training": {"frozen": ("policy", "predictor")}})
    RunDirectory(tmp_path / "run").create(config, SPEC)
    assert RunDirectory(tmp_path / "run").read() == (config, SPEC)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda content: content["config"].pop("policy") and content.pop("environment"), "KeyError"),
        (lambda content: content["config"].update(seed="one"), "expected int"),
        (lambda content: content["environment"].update(observation_sizes=[5]), "2 observations but 1 sizes"),
        (lambda content: content["config"].update(seed=True), "expected int"),
        (lambda content: content["config"].update(colour="red"), "unknown setting 'colour'"),
        (lambda content: content["config"]["planner"].update(starts="some"), "'some' is none of all, segment"),
        (lambda content: content["config"]["planner"].update(elites=99), "elites is 99"),
    ],
)
def test_a_damaged_configuration_is_explained(tmp_path, change, complaint):
    run = RunDirectory(tmp_path / "run")
    run.create(debug_config(), SPEC)
    content = json.loads(run.config_file.read_text())
    change(content)
    run.config_file.write_text(json.dumps(content))
    with pytest.raises(UserError, match=complaint) as error:
        run.read()
    assert str(run.config_file) in str(error.value)


@pytest.mark.parametrize("source", [3, {"run": "runs/other"}])
def test_a_damaged_source_is_explained(tmp_path, source):
    run = RunDirectory(tmp_path / "run")
    run.create(debug_config(), SPEC)
    run.config_file.write_text(json.dumps(json.loads(run.config_file.read_text()) | {"source": source}))
    with pytest.raises(
        UserError, match="does not say all of episodes, frames, options, parts, run, state_sha256, task"
    ):
        run.source()


def test_a_torn_configuration_is_explained(tmp_path):
    run = RunDirectory(tmp_path / "run")
    run.create(debug_config(), SPEC)
    run.config_file.write_text(run.config_file.read_text()[:100])
    with pytest.raises(UserError, match="damaged"):
        run.read()


def test_a_run_that_was_killed_while_it_began_can_begin_again(tmp_path):
    run = RunDirectory(tmp_path / "run")
    run.path.mkdir()
    (run.path / "config.json.partial").write_text("{")
    run.create(debug_config(), SPEC)
    assert [path.name for path in run.path.iterdir()] == ["config.json"]


def test_what_is_no_run(tmp_path):
    with pytest.raises(UserError, match="no run at"):
        RunDirectory(tmp_path / "nothing").read()
    with pytest.raises(UserError, match="no config.json"):
        RunDirectory(tmp_path).read()


def test_differences_are_named_with_both_values():
    assert differences(debug_config(), debug_config(seed=3, policy={"units": 9})) == [
        ("seed", 0, 3),
        ("policy.units", 8, 9),
    ]


def test_a_vanished_observation_is_named():
    with pytest.raises(UserError, match="no longer gives the observation 'b'"):
        check_same_world(SPEC, dataclasses.replace(SPEC, observation_keys=("a",), observation_sizes=(5,)))


def test_worlds_that_differ_in_actions_do_not_fit():
    with pytest.raises(UserError, match=r"rover-cove does not fit .* rover-field: it takes 3 actions, not 2\.$"):
        check_same_world(SPEC, dataclasses.replace(SPEC, task="rover-cove", action_size=3))


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        (
            {"observation_keys": ("a", "c", "d"), "observation_sizes": (2, 3, 1), "observation_shape": (6,)},
            "it lacks the observations 'b' (size 3); it adds the observations 'c' (size 3), 'd' (size 1).",
        ),
        ({"observation_sizes": (2, 4), "observation_shape": (6,)}, "'b' has 4 numbers, not 3."),
        ({"observation_keys": ("b", "a"), "observation_sizes": (3, 2)}, "its observations come in the order b, a."),
        (
            {
                "observation_keys": ("image",),
                "observation_sizes": (12288,),
                "observation_shape": (64, 64, 3),
                "pixels": True,
            },
            "it shows images, not features.",
        ),
    ],
)
def test_observations_that_differ_are_named_one_by_one(changes, complaint):
    with pytest.raises(UserError, match="does not fit") as error:
        check_same_world(SPEC, dataclasses.replace(SPEC, task="rover-cove", **changes))
    assert str(error.value).endswith(complaint)


def test_worlds_that_differ_in_reward_alone_fit():
    check_same_world(SPEC, dataclasses.replace(SPEC, task="rover-cove", episode_frames=900, record_shapes={}))


def test_default_names_are_file_names():
    assert default_run(make_config("gym:a/B-v0", "lsp", "debug")).as_posix() == "runs/gym-a-B-v0-lsp-0"
