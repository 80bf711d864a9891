"""Every experiment of the paper as a list of runs, and one of our own that a laptop can do."""

from dataclasses import dataclass, field, replace
from typing import Any

from skillplan.presets import AGENTS, Overrides


@dataclass(frozen=True)
class Arm:
    """One curve of a figure: an agent and how it is moved, if the experiment moves it."""

    agent: str
    label: str = ""
    """Name of the curve where the agent's own would not tell it from another."""
    fix_policy: bool = False
    """Freeze policy and predictor on the target task."""
    overrides: Overrides = field(default_factory=dict)
    """Settings in which this arm differs."""

    @property
    def name(self) -> str:
        """The label, or else the agent."""
        return self.label or self.agent


@dataclass(frozen=True)
class Experiment:
    """Agents on one task, or moved from a source task to a target task."""

    description: str
    task: str
    """Where the curves are drawn."""
    arms: tuple[Arm, ...]
    frames: int = 1_000_000
    source: str | None = None
    """The task on which the agents learn before they are moved."""
    source_frames: int = 500_000
    pixels: bool = False
    relabel: bool = False
    skill_duration: int | None = None
    """K on the target task, for agents with skills."""
    horizon: int | None = None
    """H on the target task, for agents with skills."""
    population: int | None = None
    """G of acting on the target task, for agents that search for skills."""
    elites: int | None = None
    """M of acting there."""
    iterations: int | None = None
    """MaxCEMiter of acting there."""
    explore_fraction: float | None = None
    """Share of the skills held while collecting there that come from N(0, I), for agents with skills."""

    def overrides(self, arm: Arm) -> dict[str, Any]:
        """Settings of an arm's runs beyond its agent's."""
        return {**arm.overrides, **({"environment": {"pixels": True}} if self.pixels else {})}


def _present(*arms: Arm) -> tuple[Arm, ...]:
    """Those whose agent there is."""
    return tuple(arm for arm in arms if arm.agent in AGENTS)


ALL = _present(*map(Arm, ("lsp", "dreamer", "hiro", "random-skills", "rand-skills-init")))
NOT_FROM_IMAGES = {"hiro"}
MOVED = _present(Arm("lsp"), Arm("lsp", "lsp-fixed-policy", fix_policy=True), Arm("dreamer"), Arm("hiro"))

_SINGLE_TASKS = (
    "quadruped-getup-walk",
    "quadruped-walk",
    "quadruped-run",
    "quadruped-reach",
    "walker-walk",
    "walker-run",
    "cheetah-run",
    "hopper-hop",
)
_PIXEL_TASKS = ("cheetah-run", "quadruped-run", "walker-run")


def _single(task: str, *, pixels: bool = False) -> Experiment:
    arms = tuple(arm for arm in ALL if not (pixels and arm.agent in NOT_FROM_IMAGES))
    seen = " from images" if pixels else ""
    return Experiment(f"Single task performance on {task}{seen} (figure 4).", task, arms, pixels=pixels)


_COVE = Experiment(
    "Random obstacles to a cove with a sparse reward, with longer skills (appendix).",
    "quadruped-cove",
    (Arm("lsp", "lsp-fixed-policy", fix_policy=True), Arm("lsp"), Arm("dreamer")),
    frames=100_000,
    source="quadruped-obstacles",
    skill_duration=30,
    horizon=120,
)

_ROVER = Experiment(
    "The rover's field to its cove, with longer skills that are searched for harder: the appendix at a laptop's size.",
    "rover-cove",
    (
        Arm("lsp"),
        Arm("lsp", "lsp-fixed-policy", fix_policy=True),
        Arm("dreamer"),
        Arm("random-skills", "random-skills-fixed-policy", fix_policy=True),
        Arm("no-mi", "no-mi-fixed-policy", fix_policy=True),
    ),
    frames=18_000,
    source="rover-field",
    source_frames=12_000,
    skill_duration=30,
    horizon=120,
    population=256,
    elites=16,
    iterations=6,
)

EXPERIMENTS: dict[str, Experiment] = {
    **{f"single-{task}": _single(task) for task in _SINGLE_TASKS},
    **{f"single-{task}-pixels": _single(task, pixels=True) for task in _PIXEL_TASKS},
    "getup-walk-to-reach": Experiment(
        "GetUp Walk to GetUp Reach (figure 5).",
        "quadruped-getup-reach",
        MOVED,
        frames=300_000,
        source="quadruped-getup-walk",
    ),
    "walk-to-reach": Experiment(
        "Walk to Reach, the replay relabelled (figure 5).",
        "quadruped-reach",
        MOVED,
        frames=300_000,
        source="quadruped-walk",
        relabel=True,
    ),
    "obstacles-to-cove": _COVE,
    "obstacles-to-pillar": replace(
        _COVE,
        description="Random obstacles to obstacles in a line before the target (figures 1 and 6).",
        task="quadruped-pillar",
        skill_duration=None,
        horizon=None,
    ),
    "mi-ablation": Experiment(
        "With and without the mutual information of skills, on GetUp Walk (figure 6).",
        "quadruped-getup-walk",
        (Arm("lsp"), Arm("no-mi"), Arm("dreamer")),
    ),
    "predictor-noise": Experiment(
        "With and without noise on the skill predictor's input (appendix, collapsed skills).",
        "quadruped-getup-walk",
        (
            Arm("lsp", "lsp-noise", overrides={"discovery": {"predictor_noise": 0.3}}),
            Arm("lsp", "lsp-no-noise", overrides={"discovery": {"predictor_noise": 0.0}}),
        ),
    ),
    "rover": _ROVER,
    "rover-agents": replace(
        _ROVER,
        description="Every agent there is, from the rover's field to its cove, each with the searches it has anyway.",
        arms=tuple(map(Arm, AGENTS)),
        population=None,
        elites=None,
        iterations=None,
    ),
}
