"""The model-free baseline: data-efficient hierarchical reinforcement learning (HIRO, Nachum et al. 2018), by TD3."""
