"""How different skills are: figures of merit from where they end."""

import numpy as np
from scipy.stats import norm, qmc

RESOLUTION = 0.1
"""Metres: ends that are this near count as hardly different, however exactly a skill repeats itself."""


def spread_skills(count: int, size: int) -> np.ndarray:
    """`count` skills `[count, size]` that cover N(0, I) evenly: every coordinate takes each of its mid-quantiles once.

    Which goes with which is the design of lowest discrepancy that a search with a fixed seed finds. They come in an
    order in which neighbours resemble each other.
    """
    design = qmc.LatinHypercube(size, scramble=False, optimization="random-cd" if size > 1 else None, rng=0)
    skills = norm.ppf(design.random(count))
    return skills[np.lexsort(skills.T[::-1])].astype(np.float32)


def overlaps(ends: np.ndarray, resolution: float = RESOLUTION) -> np.ndarray:
    """How much the ends of two skills overlap, `[n, n]` between 0 and 1, from `[n, repeats, dims]`.

    The Bhattacharyya coefficient of two Gaussians around the skills' mean ends, exp(−d² / 8σ²). Their variance σ² per
    axis is that within the skills, pooled, plus `resolution`²; from d² is taken what the repeats' scatter adds to it.
    """
    repeats = ends.shape[1]
    within = ends.var(axis=1, ddof=1).mean(axis=0) if repeats > 1 else np.zeros(ends.shape[2])
    means = ends.mean(axis=1)
    squared = np.square(means[:, None] - means[None])
    excess = np.where(np.eye(len(ends), dtype=bool)[..., None], 0.0, 2 * within / repeats)
    distance = ((squared - excess) / (within + resolution**2)).sum(axis=-1)
    return np.exp(-np.maximum(distance, 0.0) / 8)


def effective_number(overlap: np.ndarray) -> float:
    """How many distinct behaviours n skills amount to, from their overlaps Z `[n, n]`.

    exp(−mean_i ln mean_j Z_ij): the exponential of the entropy of equally frequent behaviours that are alike by Z
    (Leinster and Cobbold 2012, order 1). n skills without overlap are n, equal ones are 1, k equal groups are k.
    """
    return float(np.exp(-np.log(overlap.mean(axis=1)).mean()))
