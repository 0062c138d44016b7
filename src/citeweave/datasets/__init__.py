"""Data sets by name: where they come from, whether they are available locally, and loading them.

>>> from citeweave import datasets
>>> datasets.DATASETS["cora"].documents
2708
"""

from citeweave.datasets.fetch import FetchProgress, get
from citeweave.datasets.loading import load, load_with_report
from citeweave.datasets.places import HeldFiles, cache_folder, data_folder, find
from citeweave.datasets.registry import DATASETS, DataFile, Dataset, find_dataset
from citeweave.datasets.table import TableRow, dataset_table

__all__ = [
    "DATASETS",
    "DataFile",
    "Dataset",
    "FetchProgress",
    "HeldFiles",
    "TableRow",
    "cache_folder",
    "data_folder",
    "dataset_table",
    "find",
    "find_dataset",
    "get",
    "load",
    "load_with_report",
]
