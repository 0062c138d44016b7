"""The kernels' twin on a host: the same source, built by the C++ compiler with one lane."""

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from threading import Lock

import numpy as np
import pytest

from citeweave.engines.cuda.program import FIELDS, kernel_source

MACHINE = Path(__file__).with_name("host.h").read_text(encoding="utf-8")
_ROOM = (
    Path(tempfile.gettempdir())
    / f"citeweave-kernels-{hashlib.sha256(MACHINE.encode()).hexdigest()[:12]}"
)


_OWNERS = {}
_LOCK = Lock()
"""Kernels of a library have its arrays and its scratch memory to themselves while they run."""


class HostDevice:  # sizes are given and have no meaning here
    """Behind the contract of `Device`, for tests where there is no GPU."""

    xp = np
    room = 1 << 40
    optimisation = "-O0"
    """Built in a fifth of the time; no result depends on it."""

    def __init__(self):
        self.compiler = shutil.which("g++") or shutil.which("c++")
        if self.compiler is None:
            pytest.skip("the kernels' twin needs a C++ compiler")

    def describe(self):
        return "kernels' twin"

    def prepare(self, plan):
        plan = plan._replace(defines=plan.defines | {"ROWS_SHARED": 1})
        source = self.change(kernel_source(plan, MACHINE, ""))
        _ROOM.mkdir(exist_ok=True)
        place = _ROOM / hashlib.sha256(f"{self.optimisation}{source}".encode()).hexdigest()[:24]
        library = place.with_suffix(".so")
        if not library.exists():
            # under a name of this process first: tests may run in several
            own = place.with_suffix(f".{os.getpid()}.cpp")
            own.write_text(source, encoding="utf-8")
            command = [self.compiler, self.optimisation, "-shared", "-fPIC", "-std=c++17"]
            command.append("-fno-strict-aliasing")  # columns hold numbers of both kinds
            subprocess.run([*command, "-o", own.with_suffix(".so"), own], check=True)
            own.with_suffix(".so").replace(library)
        self.library = ctypes.CDLL(str(library))

    def change(self, source):
        """Leave the program as it is; broken variants do not."""
        return source

    def bind(self, arrays):
        pointers = np.array([arrays[name].ctypes.data for name in FIELDS], np.uint64)
        with _LOCK:
            self.pointers = [int(pointer) for pointer in pointers]
            _OWNERS.pop(self.library._name, None)

    def size(self, blocks, threads):  # noqa: ARG002
        return 1, 1

    def launch(self, name, blocks, threads, shared, *args):  # noqa: ARG002
        kinds = {
            np.uint64: ctypes.c_uint64,
            np.int64: ctypes.c_int64,
            np.float64: ctypes.c_double,
            int: ctypes.c_int,
        }
        given = [
            ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else kinds[type(a)](a)
            for a in args
        ]
        with _LOCK:
            if _OWNERS.get(self.library._name) is not self:  # a library is loaded once a process
                place = (ctypes.c_uint64 * len(self.pointers)).in_dll(self.library, "ctx")
                place[:] = self.pointers
                _OWNERS[self.library._name] = self
            getattr(self.library, name)(*given)

    def zeros(self, size, kind):
        return np.zeros(size, kind)

    def put(self, host):
        return host.reshape(-1).copy()

    def upload(self, array, host):
        array[...] = host.reshape(-1)

    def clear(self, array):
        array[...] = 0

    def download(self, array):
        return array.copy()

    def resident_blocks(self, name, threads, shared):  # noqa: ARG002
        return 1

    def free_bytes(self):
        return self.room


class EnduringDevice(HostDevice):
    """For tests of tens of thousands of sweeps, which are worth a better build."""

    optimisation = "-O2"
