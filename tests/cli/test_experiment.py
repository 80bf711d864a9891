"""The command `experiment`: listing, showing, doing what is missing."""

import pytest

from cli.test_cli import run
from skillplan.experiments import figures
from skillplan.experiments.figures import EXPERIMENTS, Arm, Experiment
from skillplan.training.loop import NonFiniteError

PROBE = Experiment("For this test.", "rover-field", (Arm("lsp"), Arm("dreamer")), frames=300)
MOVED = Experiment("For this test.", "rover-cove", (Arm("dreamer"),), frames=300, source="rover-field")
SMALL = ("--size", "debug", "--seeds", "1")


@pytest.fixture(autouse=True)
def small_experiments(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(figures.EXPERIMENTS, "probe", PROBE)
    monkeypatch.setitem(figures.EXPERIMENTS, "moved", MOVED)


def test_without_a_name_it_lists_all(capsys):
    status, out, _ = run(capsys, "experiment")
    assert status == 0
    for name in EXPERIMENTS:
        assert f"\n{name} " in f"\n{out}"
    assert out.splitlines()[-1] == "Next: skillplan experiment rover --dry-run"


@pytest.mark.parametrize("name", [*EXPERIMENTS])
def test_every_experiment_can_be_looked_at(capsys, tmp_path, name):
    status, out, _ = run(capsys, "experiment", name, "--dry-run", "--seeds", "1")
    assert status == 0
    assert "  skillplan train " in out
    assert out.splitlines()[-1].startswith("Next: leave out --dry-run")
    assert list(tmp_path.iterdir()) == []


def test_it_does_what_is_missing_and_goes_on_where_it_stopped(capsys, tmp_path, monkeypatch):
    from skillplan.experiments import runs

    train = runs.train

    def stopped(config, path, *, resume=False):
        if config.agent == "dreamer":
            raise KeyboardInterrupt
        return train(config, path, resume=resume)

    with monkeypatch.context() as patch:
        patch.setattr(runs, "train", stopped)
        status, out, err = run(capsys, "experiment", "probe", *SMALL)
    assert (status, out) == (130, "")
    assert err.splitlines()[-1] == "skillplan: stopped; the same command goes on from there."
    status, out, _ = run(capsys, "experiment", "probe", "--dry-run", *SMALL)
    lines = out.splitlines()
    assert lines[0] == "runs/experiments/probe/lsp-0: done"
    assert lines[2] == "runs/experiments/probe/dreamer-0: 0 of 300 frames"
    status, out, err = run(capsys, "experiment", "probe", *SMALL)
    assert status == 0
    assert err.startswith("Run 2 of 2: runs/experiments/probe/dreamer-0 (0 of 300 frames)")
    assert "lsp-0" not in err
    assert out.startswith("All 2 runs are in runs/experiments/probe. Next: ")


def test_a_run_that_fails_does_not_keep_the_others_waiting(capsys, monkeypatch):
    from skillplan.experiments import runs

    done = []

    def train(config, path, *, resume=False):
        if config.agent == "lsp":
            raise NonFiniteError("value/loss stopped being finite.")
        done.append(config.agent)

    monkeypatch.setattr(runs, "train", train)
    status, out, err = run(capsys, "experiment", "probe", *SMALL)
    assert (status, out, done) == (1, "", ["dreamer"])
    assert "skillplan: value/loss stopped being finite.\n" in err
    assert err.splitlines()[-1] == "skillplan: 1 of 2 runs failed: runs/experiments/probe/lsp-0."


def test_what_would_follow_from_a_failed_run_is_left_out(capsys, monkeypatch):
    from skillplan.experiments import runs

    def train(config, path, *, resume=False):
        raise NonFiniteError("value/loss stopped being finite.")

    monkeypatch.setattr(runs, "train", train)
    status, _, err = run(capsys, "experiment", "moved", *SMALL)
    assert status == 1
    assert "runs/experiments/moved/dreamer-0 is left out, for its source failed." in err
    assert "2 of 2 runs failed" in err


MISTAKES = {
    "name": (["rovre"], "Unknown experiment 'rovre': did you mean 'rover'?"),
    "size": (["rover", "--size", "tinny"], "Unknown size 'tinny': did you mean 'tiny'?"),
    "seeds": (["rover", "--seeds", "0"], "--seeds is 0"),
    "frames": (["rover", "--frames", "-5"], "--frames is -5"),
    "source frames": (["rover", "--source-frames", "0"], "--source-frames is 0"),
    "no source": (["mi-ablation", "--source-frames", "9"], "mi-ablation has no source task"),
    "option": (["rover", "--dryrun"], "Unknown option '--dryrun': did you mean '--dry-run'?"),
    "no number": (["rover", "--seeds", "few"], "'few'"),
}


@pytest.mark.parametrize(("arguments", "complaint"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes_get_one_sentence_and_leave_nothing(capsys, tmp_path, arguments, complaint):
    status, out, err = run(capsys, "experiment", *arguments)
    assert status == 2
    assert complaint in err
    assert out == ""
    assert len(err.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
