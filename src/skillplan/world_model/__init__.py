"""The latent dynamics model (paper section 2.1): encoder, RSSM, decoder, reward and continuation heads."""

from skillplan.world_model.model import WorldModel

__all__ = ["WorldModel"]
