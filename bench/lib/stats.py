"""The little statistics that the measurements need: ratios are compared on a log scale."""

import math
import statistics


def t_quantile(p, df):
    """Quantile of Student's t, found by bisection on its distribution function (Simpson's rule)."""
    scale = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)

    def density(x):
        return scale * (1 + x * x / df) ** (-(df + 1) / 2)

    def below(x, steps=400):
        h = x / steps
        inner = sum((4 if i % 2 else 2) * density(i * h) for i in range(1, steps))
        return 0.5 + h / 3 * (density(0) + inner + density(x))

    if p < 0.5:
        return -t_quantile(1 - p, df)
    low, high = 0.0, 1000.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < p else (low, middle)
    return (low + high) / 2


def mean_ratio(ratios):
    """Geometric mean."""
    return math.exp(statistics.fmean(map(math.log, ratios)))


def lower_bound(ratios, confidence=0.95):
    """One-sided lower confidence bound of the geometric mean: t on the logarithms."""
    logs = [math.log(r) for r in ratios]
    error = statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(statistics.fmean(logs) - t_quantile(confidence, len(logs) - 1) * error)
