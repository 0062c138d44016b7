"""Runs on disk: the folder of a run, the checkpoints of its chains, and its arrays."""
