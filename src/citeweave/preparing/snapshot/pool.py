"""Worker processes of an import, which end together with the process that started them."""

from __future__ import annotations

import gc
import multiprocessing
import os
import threading
from concurrent.futures import ProcessPoolExecutor

__all__ = ["worker_pool"]


def worker_pool(workers: int) -> ProcessPoolExecutor:
    """Start processes for the parts or shards of an import.

    If the import is killed, they do not go on writing to a folder in which it may be restarted.
    """
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_begin)


def _begin() -> None:
    gc.disable()  # there are no cycles, and millions of objects to search
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)
