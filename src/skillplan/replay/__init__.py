"""Replay: episodes on disk, a store of steps to train on, and the way back to a checkpoint."""
