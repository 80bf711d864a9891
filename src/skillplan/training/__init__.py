"""The outer loop of Algorithm 1 and everything around it: rollouts, evaluation, checkpoints, logs."""
