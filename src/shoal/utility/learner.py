"""A plain learner: softmax regression for categories, least squares for numbers, on a matrix of features."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shoal.table import Array

# of L-BFGS: steps that are remembered, rounds at most, and how flat is flat
_MEMORY, _ROUNDS, _FLAT = 10, 200, 1e-5


def softmax_weights(features: Array, wanted: Array, classes: int) -> Array:
    """The weights (features + 1, classes) of logistic regression: mean log loss + |weights|² / 2n but for the constant.

    The penalty is that of scikit-learn's default (C = 1).

    >>> weights = softmax_weights(np.array([[0.0], [1.0], [0.0], [1.0]]), np.array([0, 1, 0, 1]), 2)
    >>> predicted(np.array([[0.0], [1.0]]), weights).tolist()
    [0, 1]
    """
    rows, width = features.shape
    design = np.column_stack([features, np.ones(rows)])
    penalised = np.append(np.ones(width), 0.0)[:, None] / rows
    at = np.arange(rows)

    def loss(flat: Array) -> tuple[float, Array]:
        weights = flat.reshape(width + 1, classes)
        scores = design @ weights
        scores -= scores.max(axis=1, keepdims=True)
        own = scores[at, wanted]
        np.exp(scores, out=scores)
        total = scores.sum(axis=1)
        scores /= total[:, None]
        scores[at, wanted] -= 1
        value = float((np.log(total) - own).mean() + (penalised * weights**2).sum() / 2)
        return value, (design.T @ scores / rows + penalised * weights).ravel()

    # the curvature is at most that of a quarter of the features' products: with it few rounds are enough
    inverse = np.linalg.inv(design.T @ design / (4 * rows) + np.diag(np.maximum(penalised[:, 0], 1e-9)))
    flat = minimized(
        loss, np.zeros((width + 1) * classes), lambda slope: (inverse @ slope.reshape(width + 1, classes)).ravel()
    )
    return flat.reshape(width + 1, classes)


def predicted(features: Array, weights: Array) -> Array:
    """The most probable class of each row."""
    return np.asarray((features @ weights[:-1] + weights[-1]).argmax(axis=1))


def linear_weights(features: Array, wanted: Array) -> Array:
    """The weights (features + 1) of ridge regression with a penalty of |weights|², without the constant.

    >>> linear_weights(np.array([[0.0], [1.0], [2.0]]) * 1e6, np.array([1.0, 3.0, 5.0])).round(6).tolist()
    [2e-06, 1.0]
    """
    middle, mean = features.mean(axis=0), wanted.mean()
    centred = features - middle
    weights = np.linalg.solve(centred.T @ centred + np.eye(features.shape[1]), centred.T @ (wanted - mean))
    return np.append(weights, mean - middle @ weights)


def minimized(
    loss: Callable[[Array], tuple[float, Array]], start: Array, inverse: Callable[[Array], Array] = np.copy
) -> Array:
    """The minimum of a smooth convex function by L-BFGS (Nocedal 1980), with steps halved until they gain enough.

    `inverse` divides a slope by the curvature, as far as that is known beforehand.

    >>> minimized(lambda x: (float(((x - 3) ** 2).sum()), 2 * (x - 3)), np.zeros(2)).round(4).tolist()
    [3.0, 3.0]
    """
    point = start
    value, slope = loss(point)
    steps: list[tuple[Array, Array, float]] = []
    for _ in range(_ROUNDS):
        if np.abs(slope).max(initial=0.0) < _FLAT:
            break
        way = _direction(slope, steps, inverse)
        gain, step = float(slope @ way), 1.0
        if gain >= 0:  # a bad memory: forget it
            steps, way = [], -inverse(slope)
            gain = float(slope @ way)
        while True:
            new = point + step * way
            new_value, new_slope = loss(new)
            if new_value <= value + 1e-4 * step * gain or step < 1e-10:
                break
            step /= 2
        moved, turned = new - point, new_slope - slope
        curvature = float(moved @ turned)
        if curvature > 1e-14:
            steps = [*steps[1 - _MEMORY :], (moved, turned, 1 / curvature)]
        if step < 1e-10:
            break
        point, value, slope = new, new_value, new_slope
    return point


def _direction(slope: Array, steps: list[tuple[Array, Array, float]], inverse: Callable[[Array], Array]) -> Array:
    """Downhill, by the curvature that the last steps showed."""
    way, factors = -slope, []
    for moved, turned, scale in reversed(steps):
        factor = scale * float(moved @ way)
        factors.append(factor)
        way = way - factor * turned
    way = inverse(way)
    for (moved, turned, scale), factor in zip(steps, reversed(factors), strict=True):
        way = way + (factor - scale * float(turned @ way)) * moved
    return way
