"""The paper's figures as data: all are there, and each can be made into runs."""

import pytest

from skillplan.envs.relabel import check_relabel
from skillplan.experiments.figures import EXPERIMENTS, Arm
from skillplan.experiments.runs import planned_runs
from skillplan.presets import AGENTS

SINGLE = {
    *(f"quadruped-{task}" for task in ("getup-walk", "walk", "run", "reach")),
    *("walker-walk", "walker-run", "cheetah-run", "hopper-hop"),
}
PAPERS = ["lsp", "dreamer", "hiro", "random-skills", "rand-skills-init"]


def agents(name):
    return [arm.agent for arm in EXPERIMENTS[name].arms]


@pytest.mark.parametrize("name", EXPERIMENTS)
@pytest.mark.parametrize("size", ["paper", None])
def test_every_experiment_can_be_planned(tmp_path, name, size):
    runs = list(planned_runs(EXPERIMENTS[name], tmp_path, size=size, seeds=2, frames=None, source_frames=None))
    paths = [run.path for run in runs]
    assert len(set(paths)) == len(paths)
    assert {run.config.seed for run in runs} == {0, 1}
    for number, run in enumerate(runs):
        # What a run goes on from is done before it.
        assert run.source is None or run.source in paths[:number]
        assert run.done() == 0
    assert list(tmp_path.iterdir()) == []


def test_single_tasks():
    names = {name for name in EXPERIMENTS if name.startswith("single-")}
    pixels = {"single-cheetah-run-pixels", "single-quadruped-run-pixels", "single-walker-run-pixels"}
    assert names == {f"single-{task}" for task in SINGLE} | pixels
    for name in names:
        experiment = EXPERIMENTS[name]
        assert experiment.source is None
        assert experiment.pixels == (name in pixels)
        # HIRO learns from features alone.
        expected = [agent for agent in PAPERS if agent in AGENTS and not (experiment.pixels and agent == "hiro")]
        assert agents(name) == expected


def test_transfers():
    reach, relabelled = EXPERIMENTS["getup-walk-to-reach"], EXPERIMENTS["walk-to-reach"]
    assert (reach.source, reach.task, reach.relabel) == ("quadruped-getup-walk", "quadruped-getup-reach", False)
    assert (relabelled.source, relabelled.task, relabelled.relabel) == ("quadruped-walk", "quadruped-reach", True)
    for name in ("getup-walk-to-reach", "walk-to-reach"):
        assert [arm.name for arm in EXPERIMENTS[name].arms] == [
            agent for agent in ("lsp", "lsp-fixed-policy", "dreamer", "hiro") if agent in (*AGENTS, "lsp-fixed-policy")
        ]
    for experiment in EXPERIMENTS.values():
        if experiment.relabel:
            assert experiment.source is not None
            check_relabel(experiment.source, experiment.task)


def test_obstacles():
    for name, target, longer in (("cove", "cove", (30, 120)), ("pillar", "pillar", (None, None))):
        experiment = EXPERIMENTS[f"obstacles-to-{name}"]
        assert (experiment.source, experiment.task) == ("quadruped-obstacles", f"quadruped-{target}")
        assert experiment.source_frames == 500_000
        assert (experiment.skill_duration, experiment.horizon) == longer
        assert {"lsp-fixed-policy", "dreamer"} <= {arm.name for arm in experiment.arms}


def test_ablations():
    assert agents("mi-ablation") == ["lsp", "no-mi", "dreamer"]
    assert EXPERIMENTS["mi-ablation"].task == EXPERIMENTS["predictor-noise"].task == "quadruped-getup-walk"
    noise = [arm.overrides["discovery"]["predictor_noise"] for arm in EXPERIMENTS["predictor-noise"].arms]
    assert noise[0] > noise[1] == 0


def test_the_rover():
    assert [(arm.agent, arm.fix_policy) for arm in EXPERIMENTS["rover"].arms] == [
        ("lsp", False),
        ("lsp", True),
        ("dreamer", False),
        ("random-skills", True),
        ("no-mi", True),
    ]
    rover = EXPERIMENTS["rover"]
    assert (rover.population, rover.elites, rover.iterations, rover.explore_fraction) == (256, 16, 6, None)


def test_every_agent_is_compared_on_the_rover(tmp_path):
    rover, every = EXPERIMENTS["rover"], EXPERIMENTS["rover-agents"]
    assert agents("rover-agents") == list(AGENTS)
    assert (every.source, every.task, every.frames) == (rover.source, rover.task, rover.frames)
    assert not any(arm.fix_policy or arm.overrides for arm in every.arms)
    moved = list(planned_runs(every, tmp_path, size=None, seeds=1, frames=None, source_frames=None))
    assert all(run.options.population is None for run in moved if run.options)
    horizons = {run.config.agent: run.options.horizon for run in moved if run.options}
    assert {agent for agent, horizon in horizons.items() if horizon is None} == {"dreamer", "online", "hiro"}


def test_an_arm_is_called_like_its_agent():
    assert (Arm("lsp").name, Arm("lsp", "other").name) == ("lsp", "other")
