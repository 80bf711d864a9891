"""Latent Skill Planning: plan over learned skills inside a world model (Xie et al., ICLR 2021)."""

__version__ = "0.1.0"
