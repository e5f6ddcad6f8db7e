"""All policies, and the goals that choose a policy."""

from shedjoin.policies.ayad import (
    CoinFlip,
    InsertNoProbe,
    OnlineMaxSubset,
    ProbeNoInsert,
    ValuePni,
)
from shedjoin.policies.base import Chances, LoadPolicy, Pace, Policy, SamplingPolicy
from shedjoin.policies.baseline import Fifo, Greedy, Rand, Recent, UntilExpiry
from shedjoin.policies.gedik import Harvest, PredicatePolicy, RandomDrop
from shedjoin.policies.goals import MostImportant, MostResults, Sample
from shedjoin.policies.ijoin import IJoin, Size
from shedjoin.policies.learned import Expected, Valued
from shedjoin.policies.residents import Residents
from shedjoin.policies.samples import BestSample, EqCluster, PpsCluster, Uniform
from shedjoin.policies.srivastava_widom import Age, Prob
from shedjoin.policies.towne import Dgl, DimpProb, Simp, SimpProb

POLICIES = (
    Fifo,
    Rand,
    Recent,
    UntilExpiry,
    Greedy,
    Prob,
    Age,
    Size,
    IJoin,
    Expected,
    Valued,
    EqCluster,
    PpsCluster,
    Uniform,
    BestSample,
    CoinFlip,
    InsertNoProbe,
    ProbeNoInsert,
    OnlineMaxSubset,
    ValuePni,
    Simp,
    SimpProb,
    DimpProb,
    Dgl,
)
PREDICATE_POLICIES = (Harvest, RandomDrop)
"""Policies that are only for joins by predicates."""

__all__ = [
    "POLICIES",
    "PREDICATE_POLICIES",
    "Age",
    "BestSample",
    "Chances",
    "CoinFlip",
    "Dgl",
    "DimpProb",
    "EqCluster",
    "Expected",
    "Fifo",
    "Greedy",
    "Harvest",
    "IJoin",
    "InsertNoProbe",
    "LoadPolicy",
    "MostImportant",
    "MostResults",
    "OnlineMaxSubset",
    "Pace",
    "Policy",
    "PpsCluster",
    "PredicatePolicy",
    "Prob",
    "ProbeNoInsert",
    "Rand",
    "RandomDrop",
    "Recent",
    "Residents",
    "Sample",
    "SamplingPolicy",
    "Simp",
    "SimpProb",
    "Size",
    "Uniform",
    "UntilExpiry",
    "ValuePni",
    "Valued",
]
