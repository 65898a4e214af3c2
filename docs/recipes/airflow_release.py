"""Airflow: a released table is verified before anything downstream sees it. Plain Python; the DAG is below it."""

from __future__ import annotations

from pathlib import Path


def verify_release(path: str, policy: str, reports: str) -> str:
    """The verdict in a sentence; an error, which fails the task, where the policy does not hold.

    The JUnit report is written in either case.
    """
    import shoal
    from shoal.reports.ci import CiReports

    report = CiReports("verify", path, junit=Path(reports) / f"{Path(path).stem}.xml")
    found = shoal.verify(path, policy)
    report.write(found)
    if not found.holds:
        raise ValueError(f"{path}: {found.summary()} {found.reasons()}")
    return found.summary()


try:
    from airflow.sdk import dag, task
except ImportError:  # outside Airflow the function stands alone
    pass
else:

    @dag(schedule=None, catchup=False)
    def release():
        """Anonymise elsewhere, verify here, publish after it."""
        task(verify_release, retries=0)("/data/safe.parquet", "/data/policy.yaml", "/data/reports")

    release()
