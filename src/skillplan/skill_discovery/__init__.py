"""Skill discovery by mutual information: the backward predictor and the reward it pays (paper section 3.2)."""
