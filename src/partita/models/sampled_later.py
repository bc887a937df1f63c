"""The scikit-learn face of models that `fit` maximises: what sampling adds is there for who asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from partita._validate import check_random_state
from partita.models.estimator import Estimator

if TYPE_CHECKING:
    from partita.estimate import Estimate
    from partita.models.chain import Chain
    from partita.models.graph import Graph


class SampledLater(Estimator):
    """A model whose `fit` maximises; `chain_` and `estimate_` are sampled from the same data when first asked for."""

    sample: Any
    random_state: Any
    _as_fitted: SampledLater
    _graph_fitted: Graph
    _chain: Chain | None
    _estimate: Estimate | None

    def _fitted_on(self, graph: Graph) -> Self:
        """Keeps the graph and the settings of a fit, for a chain that may be asked for when both have changed."""
        self._as_fitted, self._graph_fitted = type(self)(**self.get_params()), graph
        self._chain = self._estimate = None
        return self

    @property
    def chain_(self) -> Chain:
        """Draws from the posterior given the data of `fit`, with the defaults of `sample`."""
        if not hasattr(self, "_as_fitted"):
            raise AttributeError(f"this {type(self).__name__} is not fitted yet; call fit first")
        if self._chain is None:
            generator = check_random_state(self._as_fitted.random_state)
            self._chain = self._as_fitted.sample(self._graph_fitted, rng=generator)
        return self._chain

    @property
    def estimate_(self) -> Estimate:
        """The partition of least expected VI of `chain_`; `labels_` is the partition of largest ICL instead."""
        from partita.estimate import estimate

        chain = self.chain_
        if self._estimate is None:
            self._estimate = estimate(chain, rng=check_random_state(self._as_fitted.random_state))
        return self._estimate
