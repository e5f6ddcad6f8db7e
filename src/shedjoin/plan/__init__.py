"""Planners: they turn budgets of memory and CPU into settings of an operator."""

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
    "ConcaveModel",
    "Costs",
    "Harvest",
    "HarvestLoad",
    "JoinLoad",
    "Knots",
    "LagHistogram",
    "Model",
    "RandomDrop",
    "RandomShedding",
    "ValueLoad",
    "ValueShedding",
    "coin_flip",
    "equal_drop",
    "flat_scores",
    "greedy_harvest",
    "harvest_by_chance",
    "harvest_by_price",
    "insert_no_probe",
    "join_orders",
    "lag_scores",
    "online_max_subset",
    "predicted_harvest",
    "predicted_recall",
    "predicted_shedding",
    "price_of_work",
    "probe_no_insert",
    "random_drop",
    "ranking",
    "selected_windows",
    "value_probe_no_insert",
    "whole_harvest",
]
