"""Damage to copies on a node, and a child process for those that trust them."""

from __future__ import annotations

import faulthandler
import os
import traceback
import warnings
from collections.abc import Callable
from typing import NoReturn

from .node import Node
from .schedule import Harm

_PATIENCE_S = 60
"""A child that takes longer hangs; it may have to compile a kernel."""
_HANGS = "Timeout ("
"""How the traceback of such a child begins."""


def damage(node: Node, harm: Harm) -> str:
    """Damage one file of a node on which nobody works; tell which."""
    files = sorted(path for path in node.root.rglob("*") if path.is_file())
    if node.busy or not files:
        return f"node {node.number}: nothing to damage"
    path = files[harm.pick % len(files)]
    status = path.stat()
    size = status.st_size
    if harm.damage == "missing":
        path.unlink()
    elif harm.damage == "truncated":
        os.truncate(path, size // 2)
    else:
        path.write_bytes(bytes(size))
        os.utime(
            path, ns=(status.st_atime_ns, status.st_mtime_ns + 10**6)
        )  # clocks tick
    name = f"{path.parent.name[:12]}/{path.name}"
    return f"node {node.number}: {name} of {size} bytes is {harm.damage}"


def in_child(act: Callable[[Callable[[str], None]], str], into_told: list[str]) -> str:
    """Run something in a child process that tells lines, and how it ended.

    Returned is what ``act`` returns, or how the child died.
    """
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the child uses no thread of this process
        child = os.fork()
    if not child:
        _be_child(act, writing)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        *told, last = pipe.read().split("\n")
    into_told += told
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status and any(line.startswith(_HANGS) for line in told):
        return "the worker hangs"
    return last if not status else f"the worker ends with {status}"


def _be_child(act: Callable[[Callable[[str], None]], str], pipe: int) -> NoReturn:
    status = 1
    try:
        faulthandler.dump_traceback_later(_PATIENCE_S, exit=True, file=pipe)
        wrong = act(lambda line: _say(pipe, f"{line}\n"))
        _say(pipe, wrong.replace("\n", " "))
        status = 0
    except BaseException:  # noqa: BLE001  (a child must not go on as the parent)
        _say(pipe, traceback.format_exc())
    finally:
        os._exit(status)


def _say(pipe: int, text: str) -> None:
    os.write(pipe, text.encode())
