"""Plots of a fitted model, by Matplotlib."""
