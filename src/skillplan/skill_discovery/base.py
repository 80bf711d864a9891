"""What every estimate of the mutual information between skills and states gives to behaviour learning."""

from typing import NamedTuple

from jaxtyping import Array, Float


class Discovered(NamedTuple):
    """What one imagined trajectory says about how discernible its skills are."""

    intrinsic_reward: Float[Array, "*b length"]
    """r^i at each imagined state; its gradient reaches the policy."""
    discernibility: Float[Array, "*b"]
    """Mean of the estimate over the trajectory's whole skills, in nats."""
    predictor_loss: Float[Array, "*b"]
    """What the skill predictor minimises; its gradient reaches the predictor alone."""
