"""`python -m shoal` is `shoal`."""

from shoal.cli import run

if __name__ == "__main__":
    run()
