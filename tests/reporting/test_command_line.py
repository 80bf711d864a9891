import json
import shlex

import pytest

from reporting.made import make_run
from skillplan.cli.train import read
from skillplan.presets import AGENTS, make_config
from skillplan.reporting.command_line import commands, option
from skillplan.reporting.runs import find_runs
from skillplan.reporting.table import export


def the_run(path):
    (run,) = find_runs([path]).runs
    return run


@pytest.mark.parametrize(
    "overrides",
    [
        {},
        {"environment": {"pixels": True}, "replay": {"memory_map": True}},
        {"training": {"frozen": ("policy", "predictor"), "updates_per_frame": 0.025}, "envs": 2},
        {"behavior": {"start_sequences": None}, "skill": {"segment_length": 7, "duration": 5}, "frames": 7},
        {"world_model": {"kl_balance": None}, "discovery": {"intrinsic_path": "loss"}},
    ],
)
def test_the_command_that_is_shown_gives_the_same_configuration(tmp_path, overrides):
    run = the_run(make_run(tmp_path / "a run", seed=4, overrides=overrides))
    (command,) = commands(run)
    program, verb, *arguments = shlex.split(command)
    assert (program, verb) == ("skillplan", "train")
    options = read(arguments)
    assert options.config == run.config
    assert options.run == tmp_path / "a run"


@pytest.mark.parametrize("agent", AGENTS)
def test_what_an_agent_and_size_imply_is_not_repeated(tmp_path, agent):
    (command,) = commands(the_run(make_run(tmp_path / "run", agent=agent)))
    frames = make_config("rover-field", agent, "debug").frames
    assert command == (
        f"skillplan train rover-field --agent {agent} --size debug --frames {frames} --seed 0 --run {tmp_path / 'run'}"
    )


def test_a_run_that_was_carried_over_begins_with_its_source(tmp_path):
    source = make_run(tmp_path / "field", seed=2)
    config = json.loads((source / "config.json").read_text())["config"]
    options = {"frames": 900, "seed": 2, "fix_policy": True, "relabel": False, "skill_duration": 30, "horizon": None}
    moved = make_run(
        tmp_path / "cove",
        task="rover-cove",
        seed=2,
        source={"run": str(source), "task": "rover-field", "config": config, "options": options},
    )
    first, second = commands(the_run(moved))
    assert first.startswith("skillplan train rover-field --agent lsp --size debug")
    assert first.endswith(f"--run {source}")
    assert second == (
        f"skillplan transfer {source} rover-cove --frames 900 --seed 2 --fix-policy --skill-duration 30 --run {moved}"
    )
    # What was stored with the run is enough where the source is gone.
    (source / "config.json").unlink()
    assert commands(the_run(moved)) == [first, second]


def test_of_a_source_that_nothing_tells_of_nothing_is_made_up(tmp_path):
    moved = make_run(tmp_path / "cove", task="rover-cove", source={"run": "gone", "options": {"frames": 9}})
    assert commands(the_run(moved)) == [f"skillplan transfer gone rover-cove --frames 9 --run {moved}"]


def test_a_table_tells_the_presets_only(tmp_path):
    export(tmp_path / "t.csv", [make_run(tmp_path / "lsp-0", [1.0])])
    assert commands(the_run(tmp_path / "t.csv")) == ["skillplan train rover-field --agent lsp --size debug --seed 0"]


def test_options_are_written_as_they_are_typed():
    assert option("replay.memory_map", True) == "--replay.memory-map"
    assert option("replay.memory_map", False) == "--replay.no-memory-map"
    assert option("training.frozen", ("policy", "value")) == "--training.frozen policy value"
    assert option("behavior.start_sequences", None) == "--behavior.start-sequences None"
