"""Measurements of speed; figures are meaningful as ratios within one run."""
