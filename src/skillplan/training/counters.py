"""How far a run has come: the four counts that every line of a log carries."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Counters:
    """Counts since the start of a run, resumed or not."""

    frames: int = 0
    """Control steps of the simulator; what learning curves are drawn over."""
    agent_steps: int = 0
    """Decisions of the agent, each of up to `action_repeat` frames."""
    updates: int = 0
    """Gradient updates of all parts."""
    episodes: int = 0
    """Episodes played to learn from; evaluation does not count."""
    seconds: float = 0.0
    """Wall-clock time spent in the run."""

    def as_dict(self) -> dict[str, int | float]:
        """The counts by name."""
        return asdict(self)
