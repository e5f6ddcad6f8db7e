"""What a worker has opened: writes to files are counted, and may be cut short."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any, Self

import pyarrow as pa

from .process import Process


class PlainFile(io.FileIO):
    """A file without a buffer, so that what was written is there after a kill."""

    def __init__(
        self,
        process: Process,
        file: Any,  # noqa: ANN401
        mode: str,
        opener: Callable[[str, int], int] | None = None,
    ) -> None:
        super().__init__(file, mode, opener=opener)
        self._process = process
        process.fds.add(self.fileno())
        process.owned.discard(self.fileno())  # it is closed with this

    def write(self, data: Any) -> int:  # noqa: ANN401
        view, put = memoryview(data).cast("B"), super().write
        half = view[: len(view) // 2]
        return self._process.call(
            "write", lambda: put(view), writes=True, half=lambda: put(half)
        )

    def truncate(self, size: int | None = None) -> int:
        cut = super().truncate
        return self._process.call("truncate", lambda: cut(size), writes=True)

    def close(self) -> None:
        if not self.closed:
            self._process.fds.discard(self.fileno())
        super().close()

    def __del__(self) -> None:
        self.close()  # silently, if a kill came before the file was in anyone's hands


class ArrowFile:
    """A file of Arrow's for writing, which Arrow itself also writes to call by call."""

    def __init__(self, process: Process, file: Any) -> None:  # noqa: ANN401
        self._process = process
        self._file = file

    def write(self, data: Any) -> int:  # noqa: ANN401
        view = pa.py_buffer(data)
        half = view.slice(0, view.size // 2)
        return self._process.call(
            "write",
            lambda: int(self._file.write(view)),
            writes=True,
            half=lambda: self._file.write(half),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._file, name)


class Entries:
    """A folder's entries in order of their names."""

    def __init__(self, entries: list[Any]) -> None:
        self._entries = iter(sorted(entries, key=lambda entry: str(entry.name)))

    def __iter__(self) -> Iterator[Any]:
        return self._entries

    def __next__(self) -> Any:  # noqa: ANN401
        return next(self._entries)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing is open."""

    def close(self) -> None:
        """Nothing is open."""
