"""HIRO as a learner: what the outer loop, the evaluator and the commands ask of it."""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.algorithm import repeated
from skillplan.envs.interface import EnvSpec
from skillplan.errors import UserError
from skillplan.hiro.acting import make_hiro_act
from skillplan.hiro.models import HiroModels, HiroState, make_goal, make_state
from skillplan.hiro.state_goal import goal_places
from skillplan.hiro.update import make_update
from skillplan.learner import Act, Learner, Updates
from skillplan.replay.episode import Episode
from skillplan.types import Batch

PARTS = ("policy", "predictor", "selection")
"""What can be frozen: the low level, the predictor, the high level."""


class HiroLearner(Learner):
    """Two levels of TD3 without a world model; replay keeps the goal of every step beside its action."""

    def check(self, spec: EnvSpec) -> None:
        """Refuse images, goals of pieces that are not observed, and settings that HIRO does not have."""
        if spec.pixels:
            raise UserError("HIRO learns from features, not from images: leave out --pixels or choose another --agent.")
        goal_places(spec, self.config.hiro.goal_keys)
        if self.config.training.seed_policy != "agent":
            raise UserError(
                f"--training.seed-policy is {self.config.training.seed_policy!r}, but HIRO learns from steps that "
                "serve a goal: give 'agent', which plays as it is."
            )
        if self.config.discovery.intrinsic != "backward":
            raise UserError(
                f"--discovery.intrinsic is {self.config.discovery.intrinsic!r}, but HIRO has no world model with "
                "densities to compare: give 'backward'."
            )
        skill = self.config.skill
        if skill.selection != "high-level-policy":
            raise UserError(
                f"--skill.selection is {skill.selection!r}, but HIRO's skills come from its high level: leave it out, "
                "or choose another --agent."
            )
        if skill.duration % skill.training_segment:
            raise UserError(
                f"--skill.duration is {skill.duration}, which is not a multiple of the {skill.training_segment} steps "
                "of the segments that HIRO trains on: give one."
            )
        foreign = [part for part in self.config.training.frozen if part not in PARTS]
        if foreign:
            raise UserError(f"--training.frozen names {foreign[0]}, but HIRO's parts are {', '.join(PARTS)}.")

    def initial(self, spec: EnvSpec, key: PRNGKeyArray) -> HiroState:
        """Freshly initialised levels, and a predictor where goals are skills."""
        self.check(spec)
        return make_state(self.config, spec, key)

    def carry_over(self, state: HiroState, fresh: HiroState, *, keep_heads: bool) -> HiroState:
        """Both policies, the low level's critics and the predictor go on; the high level's critics start anew.

        They alone know the old task's rewards; the low level is paid by the predictor, or for reaching its goal.
        """
        if keep_heads:
            return dataclasses.replace(state, updates=fresh.updates)
        learned, target = (
            eqx.tree_at(lambda both: both.critic, kept, new.critic)
            for kept, new in ((state.high.learned, fresh.high.learned), (state.high.target, fresh.high.target))
        )
        high = dataclasses.replace(
            state.high, learned=learned, target=target, critic_optimizer=fresh.high.critic_optimizer
        )
        return dataclasses.replace(state, high=high, high_metrics=fresh.high_metrics, updates=fresh.updates)

    def carried(self, *, keep_heads: bool, fix_policy: bool) -> dict[str, str]:
        """Without skills as goals there is no predictor."""
        fixed = "kept, frozen" if fix_policy else "kept"
        parts = {
            "low-level policy": fixed,
            "low-level critics": fixed,
            "high-level policy": "kept",
            "high-level critics": "kept" if keep_heads else "start anew",
        }
        return parts | ({"skill predictor": fixed} if self.config.hiro.goal == "skill" else {})

    def make_updates(self) -> Updates:
        """Updates of every part."""
        return repeated(make_update(self.config))

    def make_act(self, *, choose_skills: bool = True) -> Act:
        """A goal every K steps, and the low level on it."""
        return make_hiro_act(self.config, choose_skills=choose_skills)

    def log_q_prior(self, models: HiroModels, batch: Batch, key: PRNGKeyArray) -> Float[Array, ""] | None:
        """None: without a model there is no imagining what a skill would have done."""
        return None

    def parts(self, models: HiroModels) -> dict[str, Any]:
        """Policies and critics of both levels, and the predictor."""
        return {
            "policy": models.low.actor,
            "value": models.low.critic,
            "high_level_policy": models.high.actor,
            "high_level_value": models.high.critic,
            "skill_predictor": models.goal,
        }

    def shapes(self, models: HiroModels) -> dict[str, list[int]]:
        """What passes between the levels."""
        return {"goal": [models.goal.size], "segment": [self.config.skill.training_segment]}

    def stored_spec(self, spec: EnvSpec) -> EnvSpec:
        """An action and the goal that it served are kept side by side."""
        goal = jax.eval_shape(lambda key: make_goal(self.config, spec, key), jax.random.key(0))
        return dataclasses.replace(spec, action_size=spec.action_size + goal.size)

    def to_store(self, episode: Episode) -> Episode:
        """Put each step's goal behind its action."""
        action = np.concatenate([episode.action, episode.record["skill"]], axis=1)
        return dataclasses.replace(episode, action=action)

    @property
    def sequence_length(self) -> int:
        """The K + 1 indices of a segment."""
        return self.config.skill.training_segment + 1

    @property
    def sequence_stride(self) -> int:
        """Segments begin where the high level chose."""
        return self.config.skill.training_segment
