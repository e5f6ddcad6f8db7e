"""Predicted recall of a memory budget, and how to divide one."""

from shedjoin.plan.allocate import Allocation, allocate, memory_for, proportional
from shedjoin.plan.model import ConcaveModel, Knots, Model, predicted_recall
from shedjoin.plan.recall import (
    AgeModel,
    FrequencyModel,
    has_minima,
    k_opt,
    priorities,
)
from shedjoin.plan.split import JoinModel, Split, split

__all__ = [
    "AgeModel",
    "Allocation",
    "ConcaveModel",
    "FrequencyModel",
    "JoinModel",
    "Knots",
    "Model",
    "Split",
    "allocate",
    "has_minima",
    "k_opt",
    "memory_for",
    "predicted_recall",
    "priorities",
    "proportional",
    "split",
]
