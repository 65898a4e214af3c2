"""shoal in scikit-learn: a transformer that anonymises, for pipelines. Needs `pip install 'shoal[sklearn]'`."""

from __future__ import annotations

try:
    from shoal.sklearn.anonymizer import Anonymizer
except ModuleNotFoundError as error:
    if error.name != "sklearn":
        raise
    raise ImportError("shoal.sklearn needs scikit-learn.\npip install 'shoal[sklearn]'", name="sklearn") from None

__all__ = ["Anonymizer"]
