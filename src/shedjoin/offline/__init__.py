"""What any way to shed could find: optima and yardsticks on archived streams."""

from shedjoin.offline.archive import Archive, archived_matches
from shedjoin.offline.exact import Choices, component_choices, max_subset
from shedjoin.offline.graph import MatchGraph, Subset
from shedjoin.offline.greedy import cheapest_matches, greedy_max_subset

__all__ = [
    "Archive",
    "Choices",
    "MatchGraph",
    "Subset",
    "archived_matches",
    "cheapest_matches",
    "component_choices",
    "greedy_max_subset",
    "max_subset",
]
