"""Budgets of memory and CPU into numbers: recall, shares, chances, samples."""

from shedjoin.plan.allocate import Allocation, allocate, memory_for, proportional
from shedjoin.plan.cluster_sampling import Inclusion, eq_fraction, pps_inclusion
from shedjoin.plan.join_load import JoinLoad, ValueLoad
from shedjoin.plan.model import ConcaveModel, Knots, Model, predicted_recall
from shedjoin.plan.predicted_shedding import RandomShedding, predicted_shedding
from shedjoin.plan.random_shedding import (
    coin_flip,
    insert_no_probe,
    probe_no_insert,
)
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
from shedjoin.plan.value_shedding import (
    ValueShedding,
    online_max_subset,
    value_probe_no_insert,
)

__all__ = [
    "AgeModel",
    "Aggregate",
    "Allocation",
    "ConcaveModel",
    "Costs",
    "FrequencyModel",
    "Inclusion",
    "JoinLoad",
    "JoinModel",
    "Knots",
    "Model",
    "RandomShedding",
    "SamplingErrors",
    "Split",
    "ValueLoad",
    "ValueShedding",
    "admitted",
    "allocate",
    "cluster_variance",
    "coin_flip",
    "discarded",
    "eq_fraction",
    "has_minima",
    "insert_no_probe",
    "k_opt",
    "memory_for",
    "online_max_subset",
    "pps_inclusion",
    "predicted_recall",
    "predicted_shedding",
    "priorities",
    "probe_no_insert",
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
    "value_probe_no_insert",
    "work_fraction",
]
