"""Reading bytes in one call."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from citeweave.reading import Reading, read

if TYPE_CHECKING:
    from citeweave.reading import Record


def read_bytes(data: bytes | str, **options: object) -> tuple[list[Record], Reading]:
    raw = data.encode() if isinstance(data, str) else data
    reading = read(io.BytesIO(raw), **options)  # type: ignore[arg-type]
    return list(reading), reading
