"""A chain whose state lives on a GPU for the whole run, behind the contract of `Chain`."""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from citeweave.engines.core.arrays import State
from citeweave.engines.core.estimates import Sums
from citeweave.engines.core.invariants import check_state
from citeweave.engines.core.spec import ModelSpec
from citeweave.engines.cuda.device import CudaDevice, Device
from citeweave.engines.cuda.memory import (
    bytes_needed,
    download_state,
    fixed_arrays,
    room_arrays,
    upload_state,
)
from citeweave.engines.cuda.parameters import COUNTED, RANGES, Draws
from citeweave.engines.cuda.program import (
    PACKED_BELOW,
    WARP,
    Grouping,
    burst_rows,
    check_model,
    choose_grouping,
    plan_program,
)
from citeweave.engines.cuda.proposals import SPARSE_FROM, Proposals, SlotSizes
from citeweave.engines.cuda.samples import DeviceSums
from citeweave.engines.dense.chain import Chain, Data, Info, Settings, _flat, _share
from citeweave.engines.threads.streams import next_key
from citeweave.errors import ParameterError, RunError

__all__ = ["CudaChain"]

_THREADS = 128
_TOPICS = 31
"""Place of the topics in use in the device's report; the expected citations are at 0."""
_NEAR_ALONE = 4
"""Slots in the fast memory of a machine of one lane, where there is no such thing: few, so that
those beyond it are seen in tests."""


class CudaChain(Chain):
    """A chain of snapshot sweeps on a GPU.

    The sweeps are those of `SnapshotChain`: the same snapshot, the same rounds, the same random
    streams, the same repair of tables. Weights are rounded otherwise here and there, so the two
    agree in distribution, and token by token for as long as no draw falls between two roundings.
    On one GPU the bytes of a run depend on the seed and ``rounds`` alone.

    Parameters
    ----------
    spec, data, settings, seed, stream
        As those of `Chain`; every level must share one concentration, and words must not choose
        their author.
    rounds : int
        Snapshots a sweep.
    device : Device or None
        Where kernels run; the current GPU by default.
    sparse : bool or None
        Whether sweeps go over the topics that matter to a document, and propose others; by the
        number of topics where nothing is said.
    """

    def __init__(
        self,
        spec: ModelSpec,
        data: Data,
        settings: Settings,
        *,
        seed: int,
        stream: int = 0,
        rounds: int = 1,
        device: Device | None = None,
        sparse: bool | None = None,
    ) -> None:
        if rounds < 1:
            raise ParameterError(
                f"A snapshot chain needs at least one round. Got rounds={rounds} instead."
            )
        check_model(spec)
        self._sums: DeviceSums | None = None
        self._ahead = False  # whether the device has moved on since the last download
        self.device: Device = CudaDevice() if device is None else device
        self.sparse = settings.topics >= SPARSE_FROM if sparse is None else sparse
        self.proposals = Proposals(self)
        self._plan_kernels(spec, data, settings)  # they are compiled while data are laid out
        super().__init__(spec, data, settings, seed=seed, stream=stream)
        if spec.citations is not None and np.any(np.diff(self.layout.citing) < 0):
            raise ParameterError("Citations must be sorted by citing document.")
        self.rounds = min(rounds, max(self.n_documents, 1))
        self.repaired = np.zeros(2, np.int64)
        """Tables moved into range so far: on the topic side and on the word side."""
        self.arrays: dict[str, Any] = {}
        self._prepare()
        self._draws = Draws(self)

    def _plan_kernels(self, spec: ModelSpec, data: Data, settings: Settings) -> None:
        """Choose how work is cut up, and begin to compile the program."""
        self._threads = self.device.size(1, _THREADS)[1]
        # a machine of one thread has one lane
        self._grouping = Grouping(1, 1, 1, 1, near_slots=_NEAR_ALONE if self.sparse else 0)
        if self._threads > 1:
            self._grouping = choose_grouping(settings.topics, sparse=self.sparse)
        self._plan = plan_program(
            spec,
            topics=settings.topics,
            words=data.n_words,
            documents=len(data.offsets) - 1,
            grouping=self._grouping,
            packed=_most_customers(data) < PACKED_BELOW,
        )
        self.device.prepare(self._plan)

    def _prepare(self) -> None:
        """Make all arrays on the device."""
        device, topics, plan = self.device, self.settings.topics, self._plan
        grouping, threads = self._grouping, self._threads
        warp = min(WARP, threads)
        sweepers = grouping.threads // grouping.lanes
        citers = grouping.threads // grouping.of_citations().lanes
        fixed, self._word_rounds, self._cite_rounds = fixed_arrays(self, self.rounds)
        many = 2048 if topics <= 64 else 512 if topics <= 512 else 256
        self._blocks = device.size(many, threads)[0]
        self._word_shared = self._cite_shared = self.count_shared = self.burst_shared = 0
        if plan.rows_shared:
            self._word_shared = plan.word_bytes(sweepers)
            self._cite_shared = 4 * plan.row_floats(plan.cite_rows, plan.cite_lanes) * citers
            self.count_shared = 4 * plan.row_floats(2, warp) * (threads // warp)
            self.burst_shared = 4 * plan.row_floats(burst_rows(topics), warp) * (threads // warp)
        if self.sparse:
            word_slots = SlotSizes.of_words(self.spec, topics, grouping)
            cite_slots = SlotSizes.of_citations(self.spec, topics, grouping.of_citations())
            self._word_shared = word_slots.near_bytes * sweepers
            self._cite_shared = cite_slots.near_bytes * citers
        resident = device.resident_blocks
        self._word_blocks = resident("sweep_words", grouping.threads, self._word_shared)
        sweeping = max(self._word_blocks * sweepers, self._blocks * (threads // warp))
        if self.spec.citations is not None:
            self._cite_blocks = resident("sweep_citations", grouping.threads, self._cite_shared)
            sweeping = max(sweeping, self._cite_blocks * citers)
        far = 0
        if self.sparse:
            far = word_slots.far_floats * self._word_blocks * sweepers
            if self.spec.citations is not None:
                far = max(far, cite_slots.far_floats * self._cite_blocks * citers)
        self.node_segment = fixed["node_segment"]
        room = room_arrays(
            self,
            self._plan,
            sweeping=sweeping,
            segments=int(self.node_segment[-1]),
            far_floats=far,
        )
        self._check_memory(bytes_needed(self, fixed, room))
        for name, array in fixed.items():
            self.arrays[name] = device.put(array if array.size else np.zeros(1, array.dtype))
        for name, (size, kind) in room.items():
            self.arrays[name] = device.zeros(max(size, 1), kind)
        upload_state(device, self.arrays, self.host)
        device.bind(self.arrays)
        self.run("mark_runs")

    def _check_memory(self, needed: int) -> None:
        """Refuse what the card has no room for, before anything is copied."""
        free = self.device.free_bytes()
        if needed > free:
            topics = max(int(self.settings.topics * free / needed), 1)
            raise RunError(
                f"The chain needs {needed / 1e9:.1f} GB on the GPU, which has {free / 1e9:.1f} GB "
                f"free; about {topics} topics would fit. Use fewer topics, fewer chains at a "
                "time, or threads."
            )

    def keep_sample(self, sums: Sums) -> None:
        """Add the posterior means of the present state to the device's sums.

        They begin with ``sums`` at the first sample; `collect_samples` brings them back there.
        """
        if self._sums is None:
            self._sums = DeviceSums(self, sums)
        self._sums.add()

    def collect_samples(self, sums: Sums) -> None:
        """Write the device's sums, of all samples so far, into those of the host."""
        if self._sums is not None:
            self._sums.collect(sums)

    def close(self) -> None:
        """Let go of the memory on the device."""
        self.arrays.clear()
        self._sums = None

    @property
    def state(self) -> State:
        """The state on the host, brought up to date; change it through `restore` alone."""
        if self._ahead:
            download_state(self.device, self.arrays, self.host)
            self._ahead = False
        return self.host

    @state.setter
    def state(self, state: State) -> None:
        self.host = state

    @property
    def iteration(self) -> int:
        """Iterations done."""
        return int(self.host.clock[0])

    @property
    def network_on(self) -> bool:
        """Whether citations count by now."""
        return bool(self.host.clock[1])

    def start(self) -> None:
        """Give every token a uniformly random topic, and every dish one table a restaurant."""
        self.upload()
        self._ahead = True
        self.run("start_words", next_key(self.host.random), shared=self.count_shared)
        self._repair_nodes()
        self._repair_words()

    def restore(self, state: State) -> None:
        """Go on from a stored state of any kind of chain."""
        for mine, theirs in zip(_flat(self.host), _flat(state), strict=True):
            mine[...] = theirs
        self.upload()

    def proposal(self) -> dict[str, np.ndarray]:
        """Copy the tables that topics are proposed from: a chain that goes on needs them too.

        They are made from earlier counts; without them (`restore` alone) a chain makes new ones
        from the state it is given, which is as right but gives other bytes.
        """
        return self.proposals.export()

    def set_proposal(self, tables: Mapping[str, np.ndarray]) -> None:
        """Go on with stored tables, after `restore`."""
        self.proposals.restore(tables)

    def upload(self) -> None:
        """Bring the device up to the host's state."""
        self._ahead = False
        self.proposals.forget()
        upload_state(self.device, self.arrays, self.host)
        self._draws.read_levels()
        self._repair_words()  # with no changes noted it renews the cached weights

    def run(
        self, name: str, *args: Any, shared: int = 0, blocks: int = 0, threads: int = 0
    ) -> None:
        """Launch a kernel over all nodes, or of the size given."""
        size = self.device.size(blocks or self._blocks, threads or self._threads)
        self.device.launch(name, *size, shared, *args)

    def step(self) -> Info:
        """Take the chain one iteration on."""
        began = time.perf_counter()
        if (
            self.spec.citations is not None
            and not self.network_on
            and self.iteration >= self.settings.network_from
        ):
            self._switch_network_on()
        if self.sparse:
            self.proposals.before_iteration()
        draws = self._draws
        if self.network_on:
            draws.weigh_again()
        words_began = time.perf_counter()
        self._ahead = True
        self._words_on_device()
        citations_began = time.perf_counter()
        if self.network_on:
            self._citations_on_device()
        citations_ended = time.perf_counter()
        if self.settings.sample_concentrations:
            draws.draw_concentrations()
        if self.network_on:
            if self.settings.sample_propensities:
                draws.draw_propensities()
            else:
                draws.weigh()
        self.run("measure_words", shared=self.count_shared)
        words = len(self.spec.topic_side) + 3  # their range of ``node_value``
        report = draws.add_up(words, words + 1)
        tally = [int(x) for x in report[COUNTED : COUNTED + 16]]
        self.repaired += tally[7:9]
        self.host.clock[0] += 1
        if self.settings.debug:
            check_state(self.spec, self.layout, self.state)
        return Info(
            iteration=self.iteration,
            log_likelihood=float(report[RANGES + words]),
            acceptance=_share(tally[6], tally[4] - tally[5]),
            word_acceptance=_share(tally[2] - tally[3], tally[2]),
            blocked=_share(tally[1], tally[0]),
            blocked_citations=_share(tally[5], tally[4]),
            topics=int(report[_TOPICS]),
            concentrations=draws.levels(),
            rate=float(report[0]) if self.network_on else float("nan"),
            seconds=time.perf_counter() - began,
            word_seconds=citations_began - words_began,
            citation_seconds=citations_ended - citations_began,
        )

    def _words_on_device(self) -> None:
        for round_ in range(self.rounds):
            if self.network_on and round_ > 0:
                self._draws.weigh()
            if self.sparse:
                self.proposals.before_words()
            key = next_key(self.host.random)
            first, last = (int(x) for x in self._word_rounds[round_ : round_ + 2])
            self.device.clear(self.arrays["counter"])
            self.run(
                "sweep_words",
                key,
                first,
                last,
                int(self.network_on),
                shared=self._word_shared,
                blocks=self._word_blocks,
                threads=self._grouping.threads,
            )
            self._repair_nodes()
            self._repair_words()
        if self.network_on:
            self._draws.weigh()

    def _switch_network_on(self) -> None:
        """Give citations their first topics, with rates that expect as many as there are."""
        self._ahead = True
        scale = np.ones(self.settings.topics)
        self.device.upload(self.arrays["topic_scale"], scale)
        self._draws.weigh()
        expected = float(self.device.download(self.arrays["report"])[0])
        scale *= max(len(self.layout.citing), 1) / max(expected, 1e-12)
        self.device.upload(self.arrays["topic_scale"], scale)
        self._citations_on_device(starting=True)
        self.host.clock[1] = 1
        if self.settings.sample_propensities:
            self._draws.draw_propensities()

    def _citations_on_device(self, *, starting: bool = False) -> None:
        for round_ in range(self.rounds):
            if round_ > 0:
                self._draws.weigh()
            if self.sparse:
                self.proposals.before_citations()
            key = next_key(self.host.random)
            first, last = (int(x) for x in self._cite_rounds[round_ : round_ + 2])
            self.device.clear(self.arrays["counter"])
            self.run(
                "sweep_citations",
                key,
                first,
                last,
                int(starting),
                shared=self._cite_shared,
                blocks=self._cite_blocks,
                threads=self._grouping.threads,
            )
            self.run("add_moves", len(self.layout.citing), round_, self.rounds)
            for level in range(self.citation_level, self.spec.n_shared - 1, -1):
                self.run("repair_documents", level)
            self._repair_nodes()

    def _repair_nodes(self) -> None:
        """Add changes to the nodes above documents, the lowest level first."""
        self.proposals.spoil()
        for level in range(self.spec.n_shared - 1, 0, -1):
            self.run("repair_nodes", level)
        self.run("sum_root", shared=4 * self.settings.topics, blocks=264, threads=256)
        self.run("set_root", blocks=1, threads=32)

    def _repair_words(self) -> None:
        for name in ("word_total_customers", "word_total_tables", "background_totals"):
            self.device.clear(self.arrays[name])
        self.run("repair_words", shared=8 * self.settings.topics, blocks=528)


def _most_customers(data: Data) -> int:
    """Bound the customers of a document's node: its words, its citations and those it receives."""
    most = int(np.diff(data.offsets).max(initial=0))
    for ends in (data.citing, data.cited):
        most += int(np.bincount(ends).max(initial=0))
    return most
