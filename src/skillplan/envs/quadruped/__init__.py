"""The quadruped of the DeepMind Control Suite: walking, reaching targets, finding a way around obstacles."""
