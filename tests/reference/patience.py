"""How long tests wait for another process, thread or page before they give up."""

PATIENCE = 1200.0
"""Seconds. It ends a test that hangs; no machine is so slow that one that works comes near it."""
