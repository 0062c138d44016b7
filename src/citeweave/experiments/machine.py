"""A description of the machine, without names of hosts, users or folders."""

import os
import platform
from pathlib import Path

from citeweave.engines.registry import ENGINES
from citeweave.experiments.models import GPU

__all__ = ["cores", "describe_machine", "processor"]


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processor() -> str:
    """Return the processor's name, as the system gives it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.lower().startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # not a Linux system: use Python's description
    return platform.processor() or platform.machine()


def describe_machine(*, gpu: bool = False) -> str:
    """Describe where a chain ran: the processor, or the GPU."""
    if not gpu:
        return processor()
    name, *_ = ENGINES[GPU].probe().partition(",")  # free memory changes
    return name
