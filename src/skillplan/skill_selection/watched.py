"""Selections whose search can be watched: what they try on the way to the distribution that is acted on."""

from typing import Protocol, runtime_checkable

from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.skill_selection.base import ImagineAndScore
from skillplan.skill_selection.cem import Iterations
from skillplan.types import SkillDistribution


@runtime_checkable
class Watched(Protocol):
    """A selection that tries populations of plans."""

    def watch_to_act(
        self, imagine_and_score: ImagineAndScore, feature: Float[Array, " feature"], key: PRNGKeyArray
    ) -> tuple[SkillDistribution, Iterations]:
        """The search of `select_to_act`: the same distribution, and what it went through."""
        ...

    def weights(self, scores: Float[Array, " population"]) -> Float[Array, " population"]:
        """How much each plan of a scored population counts for the next distribution."""
        ...
