"""Fit constants to rows: penalised, robust least squares on the logarithm of the figure.

Gauss-Newton steps; each constant's effect on a row is a finite difference of
the compiled laws, and a row's parameters are the levels its constants are the
sum of.  Rows far off count less (Student's t), and at first the scale of what is
far is wide, so that no group is given up before it was tried.  Nothing is
random: the same rows give the same constants.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from .constants import Design, Fitted, summed
from .inputs import Inputs

STEP = 1e-4  # of the inner scale, for finite differences
TAIL = 4.0  # degrees of freedom of Student's t
ROUNDS = 14
SETTLED = 1e-3

Model = Callable[[pd.DataFrame, Inputs, dict], np.ndarray]


def noise(rows: pd.DataFrame) -> np.ndarray:
    """Relative scatter expected of each row: what its source's repeats differ by, and more."""
    scatter = np.full(len(rows), 0.15)
    scatter[rows.source.str.contains("aiconfigurator")] = 0.09
    scatter[rows.source.str.contains("argonne")] = 0.07
    scatter[rows.metric.str.startswith("ttft").to_numpy()] = 0.2
    scatter[rows.source.str.contains("TensorRT-LLM")] = 0.1
    scatter[rows.metric.str.contains("energy|power").to_numpy()] = 0.1
    scatter[(rows.source == "measured for this project").to_numpy()] = 0.025
    return scatter


def balance(rows: pd.DataFrame) -> np.ndarray:
    """Weight that keeps one large source from deciding what all share."""
    group = rows.source + "|" + rows.metric
    return np.minimum(1.0, np.sqrt(300 / group.map(group.value_counts()).to_numpy(float)))


def fit(
    priors: dict, rows: pd.DataFrame, found: Inputs, model: Model, rounds: int = ROUNDS
) -> Fitted:
    """Return the constants that fit ``rows``; ``model`` gives the figure of each row."""
    design = Design(priors, rows)
    places = design.places(rows)
    centre, penalty = np.array(design.centre), 1 / np.array(design.spread) ** 2
    beta, count = centre.copy(), len(rows)
    target, scatter, weight = np.log(rows.value.to_numpy(float)), noise(rows), balance(rows)
    symbols = list(priors)
    patterns = alike(places, symbols)
    for turn in range(rounds):
        constants = summed(places, beta, count)
        base = np.log(model(rows, found, constants))
        gap = target - base
        slopes = sensitivities(priors, rows, found, model, constants, base)
        scale = scatter * max(1, 5 - turn)
        pull = weight / scale**2 * (TAIL + 1) / (TAIL + (gap / scale) ** 2)
        slope = np.stack([slopes[symbol] for symbol in symbols], axis=1)
        normal, right = np.diag(penalty), -penalty * (beta - centre)
        for lines, parameters, constant in patterns:
            pulled = slope[lines] * pull[lines, None]
            square = pulled.T @ slope[lines]
            normal[np.ix_(parameters, parameters)] += square[np.ix_(constant, constant)]
            right[parameters] += (pulled.T @ gap[lines])[constant]
        move = np.linalg.solve(normal, right)
        beta = beta + move * min(1.0, 1.0 / max(np.abs(move).max(), 1e-12))
        if turn > 5 and np.abs(move).max() < SETTLED:
            break
    deviation = np.sqrt(np.diag(np.linalg.inv(normal)))
    return Fitted(priors, design.index, beta, deviation)


def alike(places: list, symbols: list) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return rows that share all parameters: the rows, the parameters, the constant of each.

    Some hundred patterns stand for all rows, so the normal equations are a sum over patterns
    of small squares and no matrix of rows by parameters is made.
    """
    stacked = np.stack([place for _, _, place in places], axis=1)
    constant = np.array([symbols.index(symbol) for symbol, _, _ in places])
    different, member = np.unique(stacked, axis=0, return_inverse=True)
    found = []
    for number, parameters in enumerate(different):
        seen = parameters >= 0
        found.append((np.flatnonzero(member.ravel() == number), parameters[seen], constant[seen]))
    return found


def sensitivities(priors, rows, found, model, constants, base) -> dict:
    """Return d ln(figure) / d constant, inner scale, of each row."""
    slopes = {}
    for symbol in priors:
        moved = constants | {symbol: constants[symbol] + STEP}
        slopes[symbol] = (np.log(model(rows, found, moved)) - base) / STEP
    return slopes
