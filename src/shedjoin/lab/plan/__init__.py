"""Planners and formulas of the papers: recall, samples, harvests, memory division."""

from shedjoin.lab.plan.allocate import Allocation, allocate, memory_for, proportional
from shedjoin.lab.plan.allocate_error import (
    ErrorAllocation,
    ErrorModel,
    SampledAggregate,
    allocate_errors,
)
from shedjoin.lab.plan.cluster_sampling import Inclusion, eq_fraction, pps_inclusion
from shedjoin.lab.plan.harvest_best import best_harvest
from shedjoin.lab.plan.harvest_memory import kept_windows
from shedjoin.lab.plan.prob_filter import Filter, prob_filter
from shedjoin.lab.plan.recall import (
    AgeModel,
    FrequencyModel,
    has_minima,
    k_opt,
    priorities,
)
from shedjoin.lab.plan.sampled_work import (
    admitted,
    discarded,
    residence,
    sampled_probes,
    sampled_work,
    work_fraction,
)
from shedjoin.lab.plan.sampling import uniform_fraction, uniform_memory
from shedjoin.lab.plan.sampling_choice import SamplingErrors, sampling_errors
from shedjoin.lab.plan.sampling_error import (
    Aggregate,
    cluster_variance,
    uniform_missed,
    uniform_variance,
)
from shedjoin.lab.plan.split import JoinModel, Split, split
from shedjoin.lab.plan.throttle_share import throttle_share
from shedjoin.plan.costs import Costs
from shedjoin.plan.harvest import (
    Harvest,
    harvest_by_chance,
    predicted_harvest,
    selected_windows,
    whole_harvest,
)
from shedjoin.plan.harvest_greedy import greedy_harvest
from shedjoin.plan.harvest_load import HarvestLoad, join_orders
from shedjoin.plan.harvest_price import harvest_by_price, price_of_work
from shedjoin.plan.join_load import JoinLoad, ValueLoad
from shedjoin.plan.lag_scores import LagHistogram, flat_scores, lag_scores, ranking
from shedjoin.plan.model import ConcaveModel, Knots, Model, predicted_recall
from shedjoin.plan.predicted_shedding import RandomShedding, predicted_shedding
from shedjoin.plan.random_drop import RandomDrop, equal_drop, random_drop
from shedjoin.plan.random_shedding import coin_flip, insert_no_probe, probe_no_insert
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
    "ErrorAllocation",
    "ErrorModel",
    "Filter",
    "FrequencyModel",
    "Harvest",
    "HarvestLoad",
    "Inclusion",
    "JoinLoad",
    "JoinModel",
    "Knots",
    "LagHistogram",
    "Model",
    "RandomDrop",
    "RandomShedding",
    "SampledAggregate",
    "SamplingErrors",
    "Split",
    "ValueLoad",
    "ValueShedding",
    "admitted",
    "allocate",
    "allocate_errors",
    "best_harvest",
    "cluster_variance",
    "coin_flip",
    "discarded",
    "eq_fraction",
    "equal_drop",
    "flat_scores",
    "greedy_harvest",
    "harvest_by_chance",
    "harvest_by_price",
    "has_minima",
    "insert_no_probe",
    "join_orders",
    "k_opt",
    "kept_windows",
    "lag_scores",
    "memory_for",
    "online_max_subset",
    "pps_inclusion",
    "predicted_harvest",
    "predicted_recall",
    "predicted_shedding",
    "price_of_work",
    "priorities",
    "prob_filter",
    "probe_no_insert",
    "proportional",
    "random_drop",
    "ranking",
    "residence",
    "sampled_probes",
    "sampled_work",
    "sampling_errors",
    "selected_windows",
    "split",
    "throttle_share",
    "uniform_fraction",
    "uniform_memory",
    "uniform_missed",
    "uniform_variance",
    "value_probe_no_insert",
    "whole_harvest",
    "work_fraction",
]
