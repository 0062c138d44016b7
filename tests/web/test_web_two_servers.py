"""Two servers of one run: names that both take at the same time are all kept and shown by both."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from citeweave.explore import Exploration
from reference.patience import PATIENCE
from web.serving import Serving

INTENT = {"x-citeweave": "1"}


def rename(own: str, other: str, topics: list[int], number: int, prefix: str) -> dict[int, str]:
    """Name topics at one server; each name must then be shown by both."""
    given: dict[int, str] = {}
    with httpx.Client(timeout=PATIENCE) as client:
        for i in range(number):
            topic, name = topics[i % len(topics)], f"{prefix} {i}"
            body = {"name": name}
            answer = client.post(f"{own}api/topics/{topic}/name", json=body, headers=INTENT)
            assert (answer.status_code, answer.json()["name"]) == (200, name)
            given[topic] = name
            for address in (own, other):
                shown = client.get(f"{address}api/topics/{topic}").json()["name"]
                assert shown == name, f"{name!r} was answered and then lost"
    return given


def rename_at_two_servers(run: Path, number: int) -> None:
    used = list(Exploration(run).order)
    with Serving(run) as one, Serving(run) as two, ThreadPoolExecutor(2) as pool:
        addresses = [f"{serving.address.rstrip('/')}/" for serving in (one, two)]
        halves = [used[::2], used[1::2]]
        jobs = [
            pool.submit(rename, own, other, topics, number // 2, prefix)
            for own, other, topics, prefix in (
                (addresses[0], addresses[1], halves[0], "First"),
                (addresses[1], addresses[0], halves[1], "Second"),
            )
        ]
        given = {topic: name for job in jobs for topic, name in job.result().items()}
    assert (one.errors(), two.errors()) == ("", "")
    assert Exploration(run).names.as_dict() == given
    assert json.loads((run / "names.json").read_text())["topics"] == {
        str(topic): name for topic, name in sorted(given.items())
    }


def test_two_servers_lose_no_names(own_run) -> None:
    rename_at_two_servers(own_run, 20)


@pytest.mark.long
def test_two_servers_lose_none_of_500_names(own_run) -> None:
    rename_at_two_servers(own_run, 500)
