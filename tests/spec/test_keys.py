"""Forms of ``on``, names of the result, and what is said about wrong ones."""

import pytest

from shedjoin.errors import ColumnError, ParameterError
from shedjoin.spec.keys import SIDES, output_columns, resolve_columns
from shedjoin.spec.multijoin import stream_keys
from support.sides import LEFT, RIGHT

SUFFIXES = ("_left", "_right")


@pytest.mark.parametrize(
    ("on", "keys"),
    [
        ("id", (("id",), ("id",))),
        (["a"], (("a",), ("a",))),
        (("b", "a"), (("b", "a"), ("b", "a"))),
        ({"left": "a", "right": "x"}, (("a",), ("x",))),
        ({"right": ["x", "b"], "left": ["a", "b"]}, (("a", "b"), ("x", "b"))),
    ],
)
def test_forms(on: object, keys: tuple[tuple[str, ...], ...]) -> None:
    assert stream_keys(on, SIDES) == keys


@pytest.mark.parametrize("on", [[], (), [1], [("a", "b")], b"a", 5, None, [1, 2]])
def test_what_names_no_columns(on: object) -> None:
    with pytest.raises(ParameterError) as caught:
        stream_keys(on, SIDES)
    assert caught.value.problem == f"on={on!r} names no key columns."
    assert "on={'left': ..., 'right': ...}" in caught.value.fix


@pytest.mark.parametrize(
    ("on", "fix"),
    [
        ({"id": "order_id"}, "on={'left': 'id', 'right': 'order_id'}"),
        ({"a": "x", "b": "b"}, "on={'left': ['a', 'b'], 'right': ['x', 'b']}"),
        ({"left": "a"}, "give on for each of left, right"),
        ({"left": ["a", "b"], "right": "a"}, "on={'left': ..., 'right': ...}"),
    ],
)
def test_columns_that_are_not_by_stream(on: object, fix: str) -> None:
    with pytest.raises(ParameterError) as caught:
        stream_keys(on, SIDES)
    assert fix in caught.value.fix


def test_columns_that_are_there() -> None:
    resolve_columns("left", ["a", "t"], ["t", "a", "b"])
    resolve_columns("left", ["a", "a"], ["a"])


def test_missing_column() -> None:
    with pytest.raises(ColumnError) as caught:
        resolve_columns("right", ["a", "z"], ["a", "b"])
    problem, fix = str(caught.value).split("\n")
    assert problem == "the right stream has no column 'z'."
    assert fix == "Fix: use one of its columns: 'a', 'b'."


def test_ambiguous_column() -> None:
    with pytest.raises(ColumnError) as caught:
        resolve_columns("left", ["b"], ["a", "b", "b"])
    assert str(caught.value).startswith("the left stream has several columns 'b'.\nFix")


def test_case_matters() -> None:
    with pytest.raises(ColumnError, match="no column 'ID'"):
        resolve_columns("left", ["ID"], ["id"])


def test_case_does_not_matter_to_spark() -> None:
    assert resolve_columns("left", ["ID", "t"], ["id", "T"], str.lower) == ("id", "T")
    assert resolve_columns("left", ["ID"], ["id", "ID"], str.lower) == ("ID",)
    with pytest.raises(ColumnError, match="several columns 'Id'"):
        resolve_columns("left", ["Id"], ["id", "ID"], str.lower)
    columns = output_columns(
        [["id", "v", "a"], ["ID", "V", "b"]],
        [["id"], ["ID"]],
        ("_left", "_right"),
        str.lower,
    )
    assert [(c.stream, c.name) for c in columns] == [
        (0, "id"),
        (0, "v_left"),
        (0, "a"),
        (1, "V_right"),
        (1, "b"),
    ]


def test_a_column_that_differs_from_a_key_in_case_only() -> None:
    with pytest.raises(ColumnError, match="several columns 'id'"):
        output_columns(
            [["id", "ID", "t"], ["id", "u"]], [["id"], ["id"]], ("_l", "_r"), str.lower
        )


def test_column_error_is_a_lookup_error() -> None:
    assert issubclass(ColumnError, LookupError)


def names(left: str, right: str, on: object) -> list[str]:
    columns = output_columns(
        [left.split(), right.split()], stream_keys(on, SIDES), SUFFIXES
    )
    return [column.name for column in columns]


@pytest.mark.parametrize(
    ("left", "right", "on", "expected"),
    [
        ("k a", "k b", "k", "k a b"),
        ("a k", "b k", "k", "k a b"),
        ("a k1 k2", "k2 b k1", ["k2", "k1"], "k2 k1 a b"),
        ("k v", "k v", "k", "k v_left v_right"),
        ("k v w", "v x k", "k", "k v_left w v_right x"),
        ("k a", "j b", {"left": "k", "right": "j"}, "k a j b"),
        ("k a", "j k", {"left": "k", "right": "j"}, "k_left a j k_right"),
        ("k a", "k j", {"left": "k", "right": "j"}, "k_left a k_right j"),
        (
            "k m a",
            "k n a",
            {"left": ["k", "m"], "right": ["k", "n"]},
            "k m a_left n a_right",
        ),
        ("k", "k", "k", "k"),
    ],
)
def test_names(left: str, right: str, on: object, expected: str) -> None:
    assert names(left, right, on) == expected.split()


def test_a_column_knows_where_it_comes_from() -> None:
    columns = output_columns([["k", "v"]] * 2, [["k"]] * 2, ("", "_2"))
    found = [(column.stream, column.source, column.name) for column in columns]
    assert found == [(LEFT, "k", "k"), (LEFT, "v", "v"), (RIGHT, "v", "v_2")]


@pytest.mark.parametrize(
    ("left", "right", "on", "clash"),
    [
        ("k v v_right", "k v", "k", "v_right"),
        ("k v", "k v v_left", "k", "v_left"),
        ("k v v", "k", "k", "v_left"),
        ("k", "k", ["k", "k"], "k"),
    ],
)
def test_collision(left: str, right: str, on: object, clash: str) -> None:
    with pytest.raises(ColumnError) as caught:
        names(left, right, on)
    problem, fix = str(caught.value).split("\n")
    assert problem == f"the result would have several columns {clash!r}."
    assert "rename one of them" in fix


def test_equal_suffixes_collide() -> None:
    with pytest.raises(ColumnError, match="several columns 'v_x'") as caught:
        output_columns([["k", "v"]] * 2, [["k"]] * 2, ("_x", "_x"))
    assert "suffixes other than ('_x', '_x')" in caught.value.fix
