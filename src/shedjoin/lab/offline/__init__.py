"""Best possible results on archived streams, with which policies are compared."""

from shedjoin.lab.offline.archive import Archive, archived_matches
from shedjoin.lab.offline.exact import Choices, component_choices, max_subset
from shedjoin.lab.offline.graph import MatchGraph, Subset
from shedjoin.lab.offline.greedy import cheapest_matches, greedy_max_subset
from shedjoin.lab.offline.star import StarArchive
from shedjoin.lab.offline.star_matches import Parts, Total, star_join
from shedjoin.lab.offline.star_optimum import StarOptimum, star_optimum

__all__ = [
    "Archive",
    "Choices",
    "MatchGraph",
    "Parts",
    "StarArchive",
    "StarOptimum",
    "Subset",
    "Total",
    "archived_matches",
    "cheapest_matches",
    "component_choices",
    "greedy_max_subset",
    "max_subset",
    "star_join",
    "star_optimum",
]
