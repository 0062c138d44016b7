"""Processes that work on an import side by side, and end with the one that started them."""

from __future__ import annotations

import gc
import multiprocessing
import os
import threading
from concurrent.futures import ProcessPoolExecutor

__all__ = ["worker_pool"]


def worker_pool(workers: int) -> ProcessPoolExecutor:
    """Start processes for the parts or shards of an import.

    If the import is killed, they are not left writing where it is started again.
    """
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_begin)


def _begin() -> None:
    gc.disable()  # nothing here is in a cycle, and there are millions of objects to look at
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)
