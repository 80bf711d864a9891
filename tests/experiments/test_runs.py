"""An experiment is done run by run, resumed where it stopped, and never mixes two of its kind."""

import shlex

import pytest

from skillplan.cli.train import read
from skillplan.errors import UserError
from skillplan.experiments.figures import Arm, Experiment
from skillplan.experiments.runs import planned_runs
from skillplan.training.checkpoint import state_sha256
from skillplan.training.restore import load_run

MOVE = Experiment(
    "The rover's field to its cove.",
    "rover-cove",
    (Arm("lsp"), Arm("lsp", "lsp-fixed-policy", fix_policy=True), Arm("dreamer")),
    frames=300,
    source="rover-field",
    source_frames=600,
    skill_duration=20,
    horizon=30,
)
STAY = Experiment(
    "Two arms that differ in a setting.",
    "rover-field",
    (
        Arm("lsp", "noisy", overrides={"discovery": {"predictor_noise": 0.3}}),
        Arm("lsp", "seen", overrides={"replay": {"memory_map": True}}),
    ),
    frames=600,
)


def plan(experiment, out, **changes):
    options = {"size": "debug", "seeds": 1, "frames": None, "source_frames": None, **changes}
    return list(planned_runs(experiment, out, **options))


def test_arms_of_one_agent_share_a_source(tmp_path):
    runs = plan(MOVE, tmp_path, seeds=2)
    assert [run.path.relative_to(tmp_path).as_posix() for run in runs[:5]] == [
        "source/lsp-0",
        "lsp-0",
        "lsp-fixed-policy-0",
        "source/dreamer-0",
        "dreamer-0",
    ]
    assert [run.frames for run in runs[:5]] == [600, 300, 300, 600, 300]
    assert len(runs) == 10
    dreamer = runs[4].options
    assert (dreamer.skill_duration, dreamer.horizon) == (None, None)
    assert (runs[2].options.fix_policy, runs[2].options.skill_duration, runs[2].options.horizon) == (True, 20, 30)


def test_frames_can_be_given_for_both_tasks(tmp_path):
    runs = plan(MOVE, tmp_path, frames=50, source_frames=70)
    assert [run.frames for run in runs] == [70, 50, 50, 70, 50]


def test_runs_are_done_once_and_can_be_told_apart(tmp_path):
    first = plan(MOVE, tmp_path)[:3]
    assert [run.done() for run in first] == [0, 0, 0]
    for run in first:
        run.run()
    assert [run.done() for run in first] == [600, 300, 300]
    free, fixed = (load_run(run.path) for run in first[1:])
    assert fixed.config.training.frozen == ("policy", "predictor")
    assert free.config.training.frozen == ()
    before = state_sha256(free.state)
    first[1].run()
    assert state_sha256(load_run(first[1].path).state) == before
    # More frames go on with the same run.
    longer = plan(MOVE, tmp_path, frames=600)[1]
    assert (longer.done(), longer.frames) == (300, 600)
    # Another transfer in its place is refused, and so is another source.
    other = Experiment(**{**vars(MOVE), "horizon": 40})
    with pytest.raises(UserError, match=r"--horizon \(30 → 40\).*Another --out"):
        plan(other, tmp_path)[1].done()
    with pytest.raises(UserError, match=r"size \(debug → tiny\).*Another --out"):
        plan(MOVE, tmp_path, size="tiny")[0].done()
    with pytest.raises(UserError, match=r"size \(debug → tiny\)"):
        plan(MOVE, tmp_path, size="tiny")[1].done()


def test_a_foreign_directory_is_left_alone(tmp_path):
    (tmp_path / "noisy-0").mkdir()
    (tmp_path / "noisy-0" / "thesis.txt").write_text("mine")
    with pytest.raises(UserError, match="noisy-0 already exists"):
        plan(STAY, tmp_path)[0].done()


def test_the_command_of_a_run_gives_its_configuration(tmp_path):
    for run in plan(STAY, tmp_path, seeds=2):
        program, name, *arguments = shlex.split(run.command())
        assert (program, name) == ("skillplan", "train")
        options = read(arguments)
        assert (options.config, options.run) == (run.config, run.path)


def test_the_command_of_a_transfer(tmp_path):
    fixed = plan(MOVE, tmp_path)[2]
    assert shlex.split(fixed.command()) == [
        *("skillplan", "transfer", str(tmp_path / "source" / "lsp-0"), "rover-cove", "--fix-policy"),
        *("--skill-duration", "20", "--horizon", "30", "--frames", "300", "--seed", "0"),
        *("--run", str(tmp_path / "lsp-fixed-policy-0")),
    ]


def test_only_agents_that_search_are_told_to_search_harder(tmp_path):
    arms = tuple(map(Arm, ("lsp", "random-skills", "dreamer", "hiro")))
    harder = Experiment(**{**vars(MOVE), "arms": arms, "population": 64, "elites": 8, "explore_fraction": 0.25})
    told = [run.options for run in plan(harder, tmp_path) if run.options]
    assert [(o.population, o.elites, o.iterations) for o in told] == [(64, 8, None), *[(None, None, None)] * 3]
    assert [o.explore_fraction for o in told] == [0.25, 0.25, None, 0.25]
    command = plan(harder, tmp_path)[1].command()
    assert "--horizon 30 --population 64 --elites 8 --explore-fraction 0.25 --frames 300" in command
