"""Handles the stops of kernels: a kernel stops if it lacks candidates or slots."""

from __future__ import annotations

from shedjoin.kernels.round import GROW, RECOMPUTE, Rules
from shedjoin.operators.budgeted.fill import NEVER_DUE, Filler, no_candidates
from shedjoin.operators.budgeted.store import BudgetedStore
from shedjoin.operators.budgeted.verbs import Verbs


class Stops:
    """Does for kernels what they cannot do themselves, and holds the candidates.

    Parameters
    ----------
    store : BudgetedStore
        The residents.
    rules : Rules
        Windows, capacities and discipline, as kernels need them.
    verbs : Verbs
        Calls the policy.
    block_rows : int
        Approximate number of arrivals of a block.
    """

    def __init__(
        self, store: BudgetedStore, rules: Rules, verbs: Verbs, block_rows: int
    ) -> None:
        self._store = store
        self._rules = rules
        self._verbs = verbs
        self._filler = Filler(store.table, rules, block_rows, store.through, store.lags)
        self.recomputed = 0
        self.forget()
        facts, policy = store.table.facts, store.shedding.policy
        if not policy.dynamic or "partners" in policy.reads:
            facts["sheds_left"] = NEVER_DUE
        elif facts["sheds_left"] > NEVER_DUE // 2:
            facts["sheds_left"] = 0

    def limit(self, rules: Rules) -> None:
        """Use rules with other capacities."""
        self._rules = rules

    def forget(self) -> None:
        """Drop all candidates, because residents have moved to other slots."""
        self.candidates = no_candidates(len(self._rules.keep))

    def help(self, why: int) -> None:
        """Handle a stop; ``why`` is the reason that the kernel returned."""
        if why == GROW:
            self._store.table.grow()
            self.forget()
            return
        if why == RECOMPUTE:
            self.recompute()
        self.candidates = self._filler.fill()

    def recompute(self) -> None:
        """Have the policy compute the scores of all residents again."""
        table, shedding = self._store.table, self._store.shedding
        alive = table.alive()
        counts_matches = "matches" in shedding.policy.reads
        residents = table.residents(
            alive,
            self._store.spec.keeps_us,
            self._rules.decay if counts_matches else None,
        )
        table.rescore(alive, self._verbs.scores(residents))
        table.facts["sheds_left"] = shedding.recompute.sheds(alive.size)
        self.recomputed += 1
