"""Engines, which draw: arrays and kernels; no file format, no string, no table library."""
