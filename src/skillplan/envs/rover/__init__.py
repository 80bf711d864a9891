"""The rover: a small planar vehicle among cylinders, fast enough to train on in minutes."""
