"""Errors: each says what is wrong with a value, and what to write instead."""

from __future__ import annotations


class ShedjoinError(Exception):
    """Base of all errors of this library.

    Parameters
    ----------
    problem : str
        What is wrong, with the offending value shown.
    fix : str
        What to write instead.
    """

    def __init__(self, problem: str, *, fix: str) -> None:
        super().__init__(f"{problem}\nFix: {fix}")
        self.problem = problem
        self.fix = fix


class ParameterError(ShedjoinError, ValueError):
    """An argument lies outside its domain."""


class ColumnError(ShedjoinError, LookupError):
    """A named column is missing, ambiguous or collides with another."""


class ColumnTypeError(ShedjoinError, TypeError):
    """A column has a type that the join cannot use in that place."""


class StateMismatchError(ShedjoinError, RuntimeError):
    """Stored state was written by another join, or in a newer format."""


class VersionLogError(ShedjoinError, RuntimeError):
    """Versions of a polled table are missing, or are no longer written."""


class VersionMismatchError(ShedjoinError, RuntimeError):
    """The driver and an executor have different versions of this library."""


class MissingExtraError(ShedjoinError, ImportError):
    """A part of the library needs packages that are not installed."""
