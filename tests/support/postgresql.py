"""A PostgreSQL server of the tests' own, on loopback, that can be stopped and started.

``.ci/postgresql`` installs the server and its JDBC driver.
"""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypedDict

DRIVER = Path(__file__).parents[2] / ".jars" / "postgresql.jar"
_HOST, _USER, _PATIENCE_S = "127.0.0.1", "tests", 60
_FIX = "Fix: run make postgresql."
_QUICK = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


class _Account(TypedDict):
    """Whom a program runs as; None is who we are."""

    user: int | None
    group: int | None
    extra_groups: list[int] | None


class Server:
    """A server with a data folder of its own; it ends with the block that made it.

    It listens on one port for all its life, so that clients find it again.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._data = folder, folder / "data"
        self._process: subprocess.Popen[bytes] | None = None
        self._account = _account()
        self.port = _free_port()
        self.password = secrets.token_hex(8)
        self._make()

    @property
    def url(self) -> str:
        """Its address for JDBC."""
        return f"jdbc:postgresql://{_HOST}:{self.port}/postgres"

    @property
    def properties(self) -> dict[str, str]:
        """What Spark needs beside the address; calls give up after some seconds."""
        return {
            "driver": "org.postgresql.Driver",
            "user": _USER,
            "password": self.password,
            "connectTimeout": "5",
            "socketTimeout": "20",
        }

    @property
    def pid(self) -> int | None:
        """Its process, if it runs."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start it, and wait until it answers."""
        assert self._process is None, "it runs already"
        settings = ["listen_addresses=" + _HOST, "unix_socket_directories=", *_QUICK]
        options = [word for each in settings for word in ("-c", each)]
        call = [_program("postgres"), "-D", str(self._data), "-p", str(self.port)]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*call, *options], stdout=log, stderr=log, cwd="/", **self._account
            )
        deadline = time.monotonic() + _PATIENCE_S
        while not self._answers():
            assert self._process.poll() is None, self._last_words()
            assert time.monotonic() < deadline, self._last_words()
            time.sleep(0.05)

    def stop(self) -> None:
        """End its process; clients lose their connections at once."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(_PATIENCE_S)
            self._process = None

    def run(self, sql: str) -> str:
        """Run statements in one transaction, in a process of their own."""
        done = self._psql(sql)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def rows(self, sql: str) -> list[tuple[str, ...]]:
        """Rows of a query, as text."""
        return [tuple(line.split("|")) for line in self.run(sql).splitlines()]

    def _make(self) -> None:
        secret = self._folder / "password"
        secret.write_text(self.password)
        if (user := self._account["user"]) is not None:
            for path in (self._folder, secret):
                shutil.chown(path, user)
        call = [_program("initdb"), "-D", str(self._data), "-U", _USER, "-E", "UTF8"]
        more = ["--auth=scram-sha-256", f"--pwfile={secret}", "--no-locale", "-N"]
        done = subprocess.run(
            [*call, *more],
            capture_output=True,
            text=True,
            cwd="/",
            check=False,
            **self._account,
        )
        assert done.returncode == 0, done.stderr

    def _answers(self) -> bool:
        return self._psql("select 1").returncode == 0

    def _psql(self, sql: str) -> subprocess.CompletedProcess[str]:
        call = [_program("psql"), "-h", _HOST, "-p", str(self.port), "-U", _USER]
        return subprocess.run(
            [*call, "-XqtA", "-v", "ON_ERROR_STOP=1", "-c", sql, "postgres"],
            env={**os.environ, "PGPASSWORD": self.password},
            capture_output=True,
            text=True,
            check=False,
        )

    def _last_words(self) -> str:
        return (self._folder / "log").read_text(errors="replace")[-3000:]


@contextmanager
def serving() -> Iterator[Server]:
    """Make and start a server; stop it in the end, and remove what it wrote.

    Its folder is not one of pytest's: an account that is not root must get there.
    """
    assert DRIVER.exists(), f"The JDBC driver {DRIVER} is missing.\n{_FIX}"
    with tempfile.TemporaryDirectory(prefix="shedjoin-postgresql-") as folder:
        server = Server(Path(folder))
        try:
            server.start()
            yield server
        finally:
            server.stop()


def _program(name: str) -> str:
    """A program of PostgreSQL, of the newest version that is there."""
    versions = Path("/usr/lib/postgresql").glob(f"*/bin/{name}")
    found = sorted(versions, key=lambda path: int(path.parts[-3]))
    program = str(found[-1]) if found else shutil.which(name)
    assert program is not None, f"PostgreSQL's {name} is missing.\n{_FIX}"
    return program


def _account() -> _Account:
    """PostgreSQL refuses to run as root: the account that does it instead."""
    if os.getuid() != 0:
        return {"user": None, "group": None, "extra_groups": None}
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = known.get("postgres") or known["nobody"]
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        port: int = probe.getsockname()[1]
        return port
