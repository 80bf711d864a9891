import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from skillplan.cli import agents
from skillplan.cli.figure_options import destination
from skillplan.cli.main import COMMANDS, main
from skillplan.cli.options import _one_sentence, table
from skillplan.cli.train import read
from skillplan.errors import UserError
from skillplan.presets import AGENTS

TRAIN = ["train", "rover-field", "--size", "debug", "--frames", "600"]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit status, output and complaints of one command."""
    try:
        status = main(arguments)
    except SystemExit as stop:
        status = int(stop.code or 0)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "run"
    assert main([*TRAIN, "--run", str(path)]) == 0
    return path


def test_training_ends_by_saying_what_to_type_next(capsys, tmp_path):
    path = tmp_path / "run"
    status, out, err = run(capsys, *TRAIN, "--agent", "dreamer", "--seed", "3", "--run", str(path))
    assert status == 0
    assert out.splitlines()[-1] == f"The run is in {path}. Next: skillplan evaluate {path}"
    assert "600 of 600 frames" in err
    assert "updates/s" in err
    assert "left" in err
    status, out, _ = run(capsys, "describe", str(path), "--json")
    description = json.loads(out)
    assert (description["config"]["agent"], description["config"]["seed"]) == ("dreamer", 3)
    assert description["parameters"]["skill_predictor"] == 0


def test_evaluate_is_noise_free_and_repeats_itself(capsys, trained):
    status, out, _ = run(capsys, "evaluate", str(trained), "--episodes", "2", "--json")
    assert status == 0
    result = json.loads(out)
    assert len(result["returns"]) == result["episodes"] == 2
    assert result["frames"] == 600
    # The same two reset seeds that training evaluated on, with the same state: the same returns.
    lines = [json.loads(line) for line in (trained / "metrics.jsonl").read_text().splitlines()]
    assert result["return_mean"] == pytest.approx(lines[-1]["evaluation/return"], rel=1e-5)


def test_evaluate_in_another_world_of_the_family(capsys, trained):
    status, out, _ = run(capsys, "evaluate", str(trained), "--task", "rover-cove", "--episodes", "1")
    assert status == 0
    assert out.startswith("rover-cove after 600 frames: return ")


def test_describe_a_run(capsys, trained):
    status, out, _ = run(capsys, "describe", str(trained), "--json")
    description = json.loads(out)
    assert status == 0
    assert len(description["state_sha256"]) == 64
    assert description["frames"] == 600
    assert description["shapes"]["plan"] == [1, 3]
    status, out, _ = run(capsys, "describe", str(trained))
    assert description["state_sha256"] in out
    assert f"Next: skillplan evaluate {trained}" in out


def test_describe_counts_dreamers_parameters(capsys):
    status, out, _ = run(capsys, "describe", "walker-walk", "--agent", "dreamer", "--size", "paper", "--json")
    assert status == 0
    parameters = json.loads(out)["parameters"]
    assert parameters["policy"] == 578_412
    assert parameters["value"] == 413_601


def test_lists(capsys):
    status, out, _ = run(capsys, "tasks", "--json")
    assert status == 0
    assert {"rover-field", "rover-cove", "walker-walk"} <= {row["name"] for row in json.loads(out)}
    status, out, _ = run(capsys, "agents", "--json")
    assert status == 0
    tables = json.loads(out)
    names = [row["name"] for row in tables["agents"]]
    assert names == list(AGENTS)
    assert {"lsp", "no-mi", "random-skills", "rand-skills-init", "dreamer", "amortized-skills"} <= set(names)
    assert [row["name"] for row in tables["sizes"]] == ["paper", "compact", "tiny", "debug"]


def test_doctor_finds_this_installation_sound(capsys):
    status, out, _ = run(capsys, "doctor", "--json")
    report = json.loads(out)
    assert status == 0, report
    assert report["checks"]["packages"]["ok"]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_ends_in_an_example_that_starts_with_the_command(capsys, name):
    status, out, _ = run(capsys, name, "--help")
    assert status == 0
    assert out.rstrip().splitlines()[-1].strip().startswith(f"skillplan {name}")


def test_help_shows_the_defaults_of_the_chosen_size(capsys):
    _, out, _ = run(capsys, "train", "walker-walk", "--size", "debug", "--help")
    assert "Size of the deterministic part of s_t. (default: 8)" in " ".join(out.replace("│", " ").split())


@pytest.mark.parametrize(
    ("given", "read_as"),
    [
        (["--intrinsic", "forward"], lambda config: config.discovery.intrinsic == "forward"),
        (["--agent", "hiro", "--hiro.goal", "state"], lambda config: config.hiro.goal == "state"),
        (["--agent", "hiro", "--hiro.goal-keys", "rays", "heading"], lambda c: c.hiro.goal_keys == ("rays", "heading")),
        (["--agent", "mppi", "--planner.temperature", "0.1"], lambda config: config.planner.temperature == 0.1),
        (["--agent", "cem-gradient", "--planner.gradient-steps", "5"], lambda c: c.planner.gradient_steps == 5),
    ],
)
def test_the_options_of_the_agents_are_read(given, read_as):
    assert read_as(read(["rover-field", "--size", "debug", *given]).config)


MISTAKES = {
    "command": (["trian"], "Unknown command 'trian': did you mean 'train'?"),
    "task": (["train", "rover-feild"], "Unknown task 'rover-feild': did you mean 'rover-field'?"),
    "agent": (["train", "rover-field", "--agent", "lps"], "Unknown agent 'lps': did you mean 'lsp'?"),
    "size": (["train", "rover-field", "--size", "compcat"], "Unknown size 'compcat': did you mean 'compact'?"),
    "option": (["train", "rover-field", "--polcy.units", "3"], "Unknown option '--polcy.units': did you mean"),
    "no task": (["train"], "Name a task"),
    "two tasks": (["train", "rover-field", "rover-cove"], "rover-cove"),
    "no number": ([*TRAIN, "--policy.units", "many"], "--policy.units is 'many': give a whole number."),
    "no rate": ([*TRAIN, "--policy.learning-rate", "fast"], "--policy.learning-rate is 'fast': give a number."),
    "negative": ([*TRAIN, "--policy.units", "-3"], "--policy.units is -3"),
    "zero": ([*TRAIN, "--world-model.deter", "0"], "--world-model.deter is 0"),
    "zero frames": ([*TRAIN, "--frames", "0"], "--frames is 0"),
    "seed": ([*TRAIN, "--seed", "-1"], "--seed is -1"),
    "K > H": ([*TRAIN, "--skill.duration", "20"], "--skill.duration (K) is 20, longer than --planner.horizon (H) 10"),
    "elites": ([*TRAIN, "--planner.elites", "9"], "--planner.elites is 9, more than --planner.population 4"),
    "choice": ([*TRAIN, "--planner.starts", "some"], "--planner.starts is 'some': choose from 'all', 'segment'."),
    "plans of one state": ([*TRAIN, "--planner.horizon", "1", "--skill.duration", "1"], "--planner.horizon is 1"),
    "temperature": ([*TRAIN, "--agent", "mppi", "--planner.temperature", "0"], "--planner.temperature is 0"),
    "no gradient": (
        [*TRAIN, "--agent", "cem-gradient", "--planner.gradient-steps", "0"],
        "gradient-steps is 0: give",
    ),
    "no step": (
        [*TRAIN, "--planner.gradient-step-size", "-0.1"],
        "--planner.gradient-step-size is -0.1: give",
    ),
    "lambda": ([*TRAIN, "--planner.plan-lambda", "2"], "--planner.plan-lambda is 2.0: give a number between 0 and 1"),
    "no fellows": (
        [*TRAIN, "--discovery.compared-skills", "1"],
        "--discovery.compared-skills is 1: compare at",
    ),
    "sideways": ([*TRAIN, "--intrinsic", "sideways"], "'sideways'"),
    "held actions": ([*TRAIN, "--agent", "online", "--skill.duration", "2"], "an action is held for 1"),
    "skills for Dreamer": ([*TRAIN, "--agent", "dreamer", "--skill.size", "3"], "'none': give size 0"),
    "goals for LSP": ([*TRAIN, "--hiro.goal", "state"], "--hiro.goal is 'state', but --agent is 'lsp'"),
    "goals": ([*TRAIN, "--agent", "hiro", "--hiro.goal", "place"], "'place'"),
    "resume": ([*TRAIN, "--resume"], "nothing to resume"),
    "discrete": (["train", "gym:CartPole-v1", "--size", "debug"], "CartPole-v1"),
    "no such gym": (["train", "gym:Nowhere-v0", "--size", "debug"], "Nowhere-v0"),
    "no such domain": (["train", "dm:wlaker-walk", "--size", "debug"], "walker"),
    "no run": (["evaluate", "nowhere"], "no run at nowhere"),
    "no episodes": (["evaluate", "nowhere", "--episodes", "0"], "--episodes is 0"),
    "run missing": (["evaluate"], "`skillplan evaluate` needs RUN."),
    "large seed": ([*TRAIN, "--seed", "99999999999"], "--seed is 99999999999: give zero or more, below 2^32"),
    "infinite": ([*TRAIN, "--policy.learning-rate", "inf"], "--policy.learning-rate is inf"),
    "not a number": ([*TRAIN, "--world-model.learning-rate", "nan"], "--world-model.learning-rate is nan"),
    "small replay": ([*TRAIN, "--replay.max-frames", "10"], "--replay.max-frames is 10, less than one episode"),
    "long sequences": ([*TRAIN, "--training.sequence-length", "5000"], "--training.sequence-length is 5000, but"),
    "no directory": ([*TRAIN, "--run", "/dev/null/run"], "Cannot make the directory /dev/null/run (Not a directory)"),
    "imagination": ([*TRAIN, "--behavior.imagination-length", "5"], "--behavior.imagination-length is 5"),
    "a value too many": ([*TRAIN, "--environment.pixels", "yes"], "Unrecognized options: yes."),
    "no value": ([*TRAIN, "--seed"], "--seed needs a value."),
    "a list": (["tasks", "rover"], "Unrecognized options: rover."),
    "describe": (["describe", "nowhere"], "Unknown task 'nowhere'"),
}


@pytest.mark.parametrize(("arguments", "complaint"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes_get_one_sentence_and_leave_nothing(capsys, tmp_path, monkeypatch, arguments, complaint):
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, *arguments)
    assert status == 2
    assert complaint in err
    assert out == ""
    assert len(err.strip().splitlines()) == 1
    assert not any(frame in err for frame in ("──", "---", "│", "Error parsing config"))
    assert list(tmp_path.iterdir()) == []


REFUSED = "Error parsing config.world-model: --world-model.deter is 0: give more."
MISSING = "Missing from skillplan transfer:\n    RUN\n        Directory of ONE run. (required)\n    TARGET\n"


@pytest.mark.parametrize(
    ("heading", "body", "sentence"),
    [
        ("Parsing error", REFUSED, "--world-model.deter is 0: give more."),
        ("Required options", MISSING, "`skillplan transfer` needs RUN and TARGET."),
        ("Unrecognized options", "Unrecognized options: yes", "Unrecognized options: yes."),
        (
            "Value error",
            'Error parsing --seed: invalid literal for int() with base 10: "it\'s"',
            "--seed is 'it's': give",
        ),
    ],
)
@pytest.mark.parametrize(
    "frame", ["╭─ {} ──╮\n{}\n│ ──── │\n╰───╯", "+- {} --+\n{}\n| ---- |\n+---+", " {}\n ----\n{}\n ----\n"]
)
def test_a_complaint_loses_its_frame(frame, heading, body, sentence):
    side = {"╭": "│", "+": "|"}.get(frame[0], " ")
    lines = [f"{side} {line:<70} {side}" for line in (body + "\nFor full helptext, run it").splitlines()]
    assert _one_sentence(frame.format(heading, "\n".join(lines))).startswith(sentence)


def test_the_longest_name_of_a_table_keeps_its_distance():
    assert table({"policy": "kept", "high-level critics": "start anew"}) == (
        "  policy              kept\n  high-level critics  start anew"
    )


def test_a_world_that_cannot_be_played_in_leaves_nothing(capsys, tmp_path, monkeypatch):
    from skillplan.envs.wrapper import RepeatedEnvironment

    def broken(self, seed, *, open_start=False):
        raise UserError("This world gives numbers that are not finite.")

    monkeypatch.setattr(RepeatedEnvironment, "reset", broken)
    monkeypatch.chdir(tmp_path)
    status, _, err = run(capsys, *TRAIN)
    assert status == 2
    assert err.splitlines()[-1] == "skillplan: This world gives numbers that are not finite."
    assert [path.name for path in tmp_path.rglob("*")] == ["runs"]


def test_an_existing_run_is_kept(capsys, trained):
    before = {path: path.stat().st_mtime_ns for path in trained.rglob("*")}
    status, _, err = run(capsys, *TRAIN, "--run", str(trained))
    assert status == 2
    assert "--resume" in err
    assert {path: path.stat().st_mtime_ns for path in trained.rglob("*")} == before


def test_evaluating_in_a_foreign_world_names_the_difference(capsys, trained):
    status, _, err = run(capsys, "evaluate", str(trained), "--task", "walker-walk")
    assert status == 2
    assert "it lacks the observations 'rays' (size 12)" in err


@pytest.mark.parametrize(
    ("error", "status", "told"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "films"), 2, "Permission denied (films): give a path that"),
        (OSError(errno.ENOSPC, "No space left on device"), 1, "No space left on device: files that were written are"),
    ],
)
def test_a_disk_that_refuses_is_told_in_one_sentence(capsys, monkeypatch, error, status, told):
    def refuse(arguments):
        raise error

    monkeypatch.setattr(agents, "command", refuse)
    found, out, err = run(capsys, "agents")
    assert (found, out) == (status, "")
    assert err.startswith(f"skillplan: {told}")
    assert len(err.splitlines()) == 1


def test_where_nothing_can_be_written_is_refused_before_the_work(tmp_path, monkeypatch):
    (tmp_path / "taken").write_text("")
    with pytest.raises(UserError, match=f"Cannot write to .*taken/new, for {tmp_path}/taken is a file: give another"):
        destination(tmp_path, tmp_path / "taken" / "new")
    assert destination(tmp_path, None) == tmp_path / "figures"
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
    with pytest.raises(UserError, match=f"Cannot write to .*figures, for {tmp_path} may not be written to"):
        destination(tmp_path, None)
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_a_reader_may_leave_early():
    command = f"{sys.executable} -m skillplan.cli.main agents | true"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_a_mistake_shows_no_traceback_from_the_shell(tmp_path):
    command = [sys.executable, "-m", "skillplan.cli.main", "train", "rover-field", "--size", "huge"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("skillplan: Unknown size 'huge'")
    assert "Traceback" not in done.stderr
