"""Experiments: models fitted to folds and seeds, in parallel and resumable, as tidy tables."""

from citeweave.experiments.crossvalidation import cross_validate, cross_validation_tasks
from citeweave.experiments.folds import WHOLE, Fold, arrays_only, cut, k_folds, random_splits
from citeweave.experiments.models import ModelChoice, choose, is_installed, model_names
from citeweave.experiments.protocols import PROTOCOLS, Measured, Protocol, measure
from citeweave.experiments.running import TaskProgress, finished_tasks, run_tasks
from citeweave.experiments.scanning import Scan, ScanRow, scan
from citeweave.experiments.tables import Row, SummaryRow, Table, write_table
from citeweave.experiments.tasks import Task, make_tasks

__all__ = [
    "PROTOCOLS",
    "WHOLE",
    "Fold",
    "Measured",
    "ModelChoice",
    "Protocol",
    "Row",
    "Scan",
    "ScanRow",
    "SummaryRow",
    "Table",
    "Task",
    "TaskProgress",
    "arrays_only",
    "choose",
    "cross_validate",
    "cross_validation_tasks",
    "cut",
    "finished_tasks",
    "is_installed",
    "k_folds",
    "make_tasks",
    "measure",
    "model_names",
    "random_splits",
    "run_tasks",
    "scan",
    "write_table",
]
