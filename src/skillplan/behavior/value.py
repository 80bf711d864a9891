"""The value model v_ψ(s): the return to expect from a latent, whatever the skill."""

import equinox as eqx
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.config import Config
from skillplan.networks import MLP
from skillplan.world_model.model import feature_size


class Value(eqx.Module):
    """MLP on the feature; the mean of a unit Gaussian over returns."""

    mlp: MLP

    def __init__(self, config: Config, key: PRNGKeyArray):
        value, network = config.value, config.network
        self.mlp = MLP(feature_size(config), value.units, value.layers, 1, network, key, network.output_scale)

    def __call__(self, feature: Float[Array, " feature"]) -> Float[Array, ""]:
        """Expected return."""
        return self.mlp(feature)[0]
