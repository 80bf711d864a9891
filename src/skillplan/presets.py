"""Named settings: agents (what the algorithm is), sizes (how large and how tuned), families of tasks."""

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

from skillplan.config import Config
from skillplan.envs import default_action_repeat, family
from skillplan.errors import unknown_name

Overrides = Mapping[str, Any]

AGENTS: dict[str, tuple[str, Overrides]] = {
    "lsp": (
        "Latent Skill Planning: skills planned by CEM inside the world model, kept apart by mutual information.",
        {},
    ),
    "no-mi": (
        "LSP without the intrinsic reward: skills are planned, but nothing keeps them apart.",
        {"discovery": {"intrinsic_scale": 0.0}},
    ),
    "random-skills": (
        "LSP without planning: skills from N(0, I), in imagination and in acting.",
        {"skill": {"selection": "prior"}},
    ),
    "rand-skills-init": (
        "Dreamer with a random extra input: skills from N(0, I) and no intrinsic reward.",
        {"skill": {"selection": "prior"}, "discovery": {"intrinsic_scale": 0.0}},
    ),
    "dreamer": (
        "Dreamer: one policy without skills, on the same world model.",
        {"skill": {"selection": "none", "size": 0}, "behavior": {"imagination_length": 15}},
    ),
    "amortized-skills": (
        "LSP with a learned high-level policy in the planner's place, trained in imagination on task return.",
        {"skill": {"selection": "high-level-policy"}},
    ),
    "amortized-train": (
        "Amortised skills while training; acting improves on them by CEM started at the high-level policy.",
        {"skill": {"selection": "amortized-train"}},
    ),
    "mppi": (
        "LSP with another planner: every plan counts by the softmax of its score, not the elites alone.",
        {"skill": {"selection": "mppi"}},
    ),
    "cem-gradient": (
        "LSP with another planner: each elite is refined by gradient steps through the world model.",
        {"skill": {"selection": "cem-gradient"}},
    ),
    "online": (
        "PlaNet: actions planned by CEM at every step on the same world model; no policy, no skills.",
        {
            "skill": {"selection": "actions", "size": 0, "duration": 1},
            "planner": {"horizon": 12, "population": 1000, "elites": 100, "iterations": 10},
        },
    ),
    "hiro": (
        "HIRO: no world model; a high-level TD3 policy hands skills (or goals) to a low-level one. From features only.",
        {
            "learner": "hiro",
            "skill": {"selection": "high-level-policy"},
            "discovery": {"intrinsic_scale": 1.0},
            "replay": {"max_frames": 200_000},
            "training": {
                "seed_policy": "agent",
                "batch_size": 100,
                "updates_per_frame": 1.0,
                "updates_per_call": 100,
            },
        },
    ),
}

# Few segments are ever seen: a predictor that learned them by heart would pay for nothing.
_HIRO_TUNED: Overrides = {
    "hiro": {"units": 128, "action_noise": 0.2},
    "skill": {"explore_fraction": 0.25},
    "discovery": {"learning_rate": 1e-4, "predictor_noise": 0.2},
}

# An agent's numbers at a size, where they follow that size.
AGENT_AT_SIZE: dict[str, Mapping[str, Overrides]] = {
    "online": {
        "compact": {"planner": {"population": 200, "elites": 20, "iterations": 6}},
        "tiny": {"planner": {"population": 100, "elites": 10, "iterations": 5}},
        "debug": {"planner": {"population": 4, "elites": 2, "iterations": 2, "horizon": 3}},
    },
    "hiro": {
        "compact": _HIRO_TUNED,
        "tiny": _HIRO_TUNED,
        "debug": {
            "hiro": {"units": 8, "layers": 1, "candidates": 3, "high_level_every": 2},
            "training": {"batch_size": 2, "updates_per_frame": 0.01, "updates_per_call": 2},
        },
    },
}

# What the sizes for two CPU cores share: found by experiment, see docs/readings.md.
_TUNED: Overrides = {
    "network": {"activation": "silu", "layer_norm": True, "output_scale": 0.1},
    "world_model": {"free_nats": 1.0, "kl_balance": 0.8, "learning_rate": 1e-3},
    "policy": {"initial_std": 1.0, "layers": 3, "learning_rate": 5e-4},
    "value": {"learning_rate": 1e-3},
    "discovery": {
        "intrinsic_path": "loss",
        "predictor_input": "change",
        "units": 128,
        "learning_rate": 1e-3,
    },
    "behavior": {"normalize_returns": True, "start_sequences": 16},
    "skill": {"prior_fraction": 0.25},
    "planner": {"starts": "segment", "plan_lambda": 1.0, "common_noise": True},
    "training": {"batch_size": 48, "sequence_length": 20},
}

SIZES: dict[str, tuple[str, tuple[Overrides, ...]]] = {
    "paper": ("Every number of the paper, Dreamer's where it is silent. Wants a GPU.", ()),
    "compact": (
        "Width 128, for two CPU cores; the default for DeepMind Control.",
        (
            _TUNED,
            {
                "world_model": {
                    "deter": 128,
                    "hidden": 128,
                    "feature_units": 128,
                    "pixel_depth": 16,
                    "head_units": 128,
                    "symlog": True,
                },
                "policy": {"units": 128, "entropy_scale": 1e-3},
                "value": {"units": 128},
                "training": {"updates_per_frame": 0.1},
            },
        ),
    ),
    "tiny": (
        "Width 64, learns in minutes on one CPU core; the default for the rover.",
        (
            _TUNED,
            {
                "world_model": {
                    "deter": 64,
                    "hidden": 64,
                    "stoch": 16,
                    "feature_units": 64,
                    "pixel_depth": 8,
                    "head_units": 64,
                },
                "policy": {"units": 64, "entropy_scale": 3e-3},
                "value": {"units": 64},
                "behavior": {"start_sequences": 8},
                "discovery": {"intrinsic_scale": 8.0},
                "training": {"batch_size": 32, "updates_per_call": 20},
            },
        ),
    ),
    "debug": (
        "The whole program in seconds; learns nothing.",
        (
            {
                "world_model": {
                    "deter": 8,
                    "hidden": 8,
                    "stoch": 4,
                    "feature_units": 8,
                    "feature_layers": 1,
                    "pixel_depth": 2,
                    "head_units": 8,
                },
                "policy": {"units": 8, "layers": 1},
                "value": {"units": 8, "layers": 1},
                "discovery": {"units": 8, "layers": 1},
                "planner": {"population": 4, "elites": 2, "iterations": 2, "starts": "segment"},
                "training": {
                    "seed_episodes": 1,
                    "pretrain_updates": 2,
                    "updates_per_frame": 0.01,
                    "batch_size": 2,
                    "sequence_length": 12,
                    "updates_per_call": 2,
                },
                "evaluation": {"episodes": 2, "hold_steps": 5},
            },
        ),
    ),
}

FAMILIES: dict[str, Overrides] = {
    "rover": {"frames": 12_000, "evaluation": {"every": 3_000}, "training": {"checkpoint_every": 3_000}},
    "suite": {"frames": 200_000, "evaluation": {"every": 20_000}},
    # It gets up or it does not: means of few episodes say little.
    "quadruped": {"frames": 500_000, "evaluation": {"every": 50_000, "episodes": 20}},
    "gym": {"frames": 200_000, "world_model": {"continuation": True}},
}

_T = TypeVar("_T")


def with_overrides(config: _T, overrides: Overrides) -> _T:
    """A copy of a (nested) configuration with some fields changed; it is validated anew."""
    changes = {
        name: with_overrides(getattr(config, name), value) if isinstance(value, Mapping) else value
        for name, value in overrides.items()
    }
    return dataclasses.replace(config, **changes)  # pyright: ignore[reportArgumentType, reportCallIssue]


def merge(*layers: Overrides) -> dict[str, Any]:
    """Nested overrides put on top of each other; later ones win."""
    merged: dict[str, Any] = {}
    for layer in layers:
        for name, value in layer.items():
            below = merged.get(name)
            if isinstance(value, Mapping) and isinstance(below, Mapping):
                value = merge(below, value)
            merged[name] = value
    return merged


def default_size(task: str) -> str:
    """The size that suits a task on a laptop."""
    return "tiny" if family(task) == "rover" else "compact"


def make_config(task: str, agent: str = "lsp", size: str | None = None, overrides: Overrides | None = None) -> Config:
    """The configuration of a run: the paper's defaults, then size, task family, agent, agent at that
    size, and the caller's overrides."""
    size = size or default_size(task)
    if agent not in AGENTS:
        raise unknown_name("agent", agent, AGENTS)
    if size not in SIZES:
        raise unknown_name("size", size, SIZES)
    names = {"task": task, "agent": agent, "size": size}
    environment = {"environment": {"action_repeat": default_action_repeat(task)}}
    at_size = AGENT_AT_SIZE.get(agent, {}).get(size, {})
    layers = (*SIZES[size][1], FAMILIES[family(task)], environment, AGENTS[agent][1], at_size, names, overrides or {})
    # Merged first: a combination is judged as a whole, not while half of it is in place.
    return with_overrides(Config(), merge(*layers))
