"""Predicted recall of a memory budget, how to divide one, and how much to sample."""

from shedjoin.plan.allocate import Allocation, allocate, memory_for, proportional
from shedjoin.plan.cluster_sampling import Inclusion, eq_fraction, pps_inclusion
from shedjoin.plan.model import ConcaveModel, Knots, Model, predicted_recall
from shedjoin.plan.recall import (
    AgeModel,
    FrequencyModel,
    has_minima,
    k_opt,
    priorities,
)
from shedjoin.plan.sampled_work import (
    Costs,
    admitted,
    discarded,
    residence,
    sampled_probes,
    sampled_work,
    work_fraction,
)
from shedjoin.plan.sampling import uniform_fraction, uniform_memory
from shedjoin.plan.sampling_choice import SamplingErrors, sampling_errors
from shedjoin.plan.sampling_error import (
    Aggregate,
    cluster_variance,
    uniform_missed,
    uniform_variance,
)
from shedjoin.plan.split import JoinModel, Split, split

__all__ = [
    "AgeModel",
    "Aggregate",
    "Allocation",
    "ConcaveModel",
    "Costs",
    "FrequencyModel",
    "Inclusion",
    "JoinModel",
    "Knots",
    "Model",
    "SamplingErrors",
    "Split",
    "admitted",
    "allocate",
    "cluster_variance",
    "discarded",
    "eq_fraction",
    "has_minima",
    "k_opt",
    "memory_for",
    "pps_inclusion",
    "predicted_recall",
    "priorities",
    "proportional",
    "residence",
    "sampled_probes",
    "sampled_work",
    "sampling_errors",
    "split",
    "uniform_fraction",
    "uniform_memory",
    "uniform_missed",
    "uniform_variance",
    "work_fraction",
]
