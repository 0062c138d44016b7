"""Plots of a fitted model, by Matplotlib (the extra ``plot``)."""

from citeweave.explore.plots.chains import (
    plot_acceptance,
    plot_active_topics,
    plot_concentrations,
    plot_convergence,
    plot_rhat,
)
from citeweave.explore.plots.contributors import (
    plot_contributors,
    plot_countries,
    plot_institutions,
)
from citeweave.explore.plots.levels import plot_levels
from citeweave.explore.plots.people import plot_author_profiles, plot_paper_map
from citeweave.explore.plots.topics import (
    plot_topic_flow,
    plot_topic_similarity,
    plot_topics_over_time,
)
from citeweave.explore.plots.write import KINDS, write_plot, write_plots

__all__ = [
    "KINDS",
    "plot_acceptance",
    "plot_active_topics",
    "plot_author_profiles",
    "plot_concentrations",
    "plot_contributors",
    "plot_convergence",
    "plot_countries",
    "plot_institutions",
    "plot_levels",
    "plot_paper_map",
    "plot_rhat",
    "plot_topic_flow",
    "plot_topic_similarity",
    "plot_topics_over_time",
    "write_plot",
    "write_plots",
]
