"""What the outer loop, the evaluator and the commands ask of whatever learns."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from jaxtyping import Array, Float, Int, PRNGKeyArray

from skillplan.config import Config
from skillplan.envs.interface import EnvSpec
from skillplan.replay.episode import Episode
from skillplan.types import Batch

Metrics = dict[str, Float[Array, ""]]
Act = Callable[[Any, Any, Array, Array, Array, Array], tuple[Any, Array]]
"""`act(models, memory, observation, is_first, key, explore)`: memory and actions of `n` episodes side by side."""
Updates = Callable[[Any, Batch, Int[Array, ""], PRNGKeyArray], tuple[Any, Metrics]]
"""`updates(state, batches, count, key)`: the state after `count` updates, and the means of their metrics."""


@runtime_checkable
class ActingModels(Protocol):
    """Everything learned that acting needs."""

    @property
    def skill_size(self) -> int:
        """Numbers in a skill that can be held for a while; zero where there are none."""
        ...

    def blank_memory(self) -> Any:
        """What is remembered of one episode before it begins; its field `skill` goes to the episode's record."""
        ...


@runtime_checkable
class LearnerState(Protocol):
    """All that an update changes: a tree of arrays, which is what a checkpoint holds."""

    @property
    def models(self) -> Any:
        """The `ActingModels`."""
        ...

    @property
    def updates(self) -> Array:
        """Updates so far, a whole number."""
        ...


class Learner(ABC):
    """One way of learning, as a run's configuration describes it. It holds no state."""

    def __init__(self, config: Config):
        """Learn as `config` says."""
        self.config = config

    @abstractmethod
    def initial(self, spec: EnvSpec, key: PRNGKeyArray) -> Any:
        """The `LearnerState` before the first update, for a world; refuses a world that cannot be learned in."""

    @abstractmethod
    def carry_over(self, state: Any, fresh: Any, *, keep_heads: bool) -> Any:
        """The state with which a new task begins: what `state` has learned, but for what describes the old task.

        Rewards and values are those of `fresh`, an initial state, unless `keep_heads`. Updates are counted anew.
        """

    @abstractmethod
    def carried(self, *, keep_heads: bool, fix_policy: bool) -> dict[str, str]:
        """What `carry_over` does to each part that there is, in words; a fixed policy is frozen afterwards."""

    @abstractmethod
    def make_updates(self) -> Updates:
        """The compiled function that learns; it consumes the state it is given."""

    @abstractmethod
    def make_act(self, *, choose_skills: bool = True) -> Act:
        """The compiled function that acts; with `choose_skills` False on the skill in memory, without noise on top."""

    @abstractmethod
    def log_q_prior(self, models: Any, batch: Batch, key: PRNGKeyArray) -> Float[Array, ""] | None:
        """How well skills from N(0, I) can be told apart; None where nothing predicts skills."""

    def log_q_held(
        self, models: Any, batch: Batch, skills: Float[Array, "episodes skill"], key: PRNGKeyArray
    ) -> Float[Array, " episodes"] | None:
        """How well each skill can be told that was held for a whole episode, over chance; None where none is."""
        return None

    @abstractmethod
    def parts(self, models: Any) -> dict[str, Any]:
        """The trees of parameters, by names for people."""

    @abstractmethod
    def shapes(self, models: Any) -> dict[str, list[int]]:
        """The sizes of what is learned, by names for people."""

    def check(self, spec: EnvSpec) -> None:  # noqa: B027
        """Refuse a world in which this cannot learn; any will do unless said otherwise."""

    def stored_spec(self, spec: EnvSpec) -> EnvSpec:
        """The shape of a step as replay keeps it."""
        return spec

    def to_store(self, episode: Episode) -> Episode:
        """An episode as replay keeps it."""
        return episode

    @property
    def sequence_length(self) -> int:
        """Steps in a sequence drawn from replay."""
        return self.config.training.sequence_length

    @property
    def sequence_stride(self) -> int:
        """Sequences begin at multiples of it, counted from the start of an episode."""
        return 1
