"""Python imports this at its start where the folder is on PYTHONPATH, in child processes too."""

import os

if os.environ.get("SHOAL_TEST_SYSTEM"):
    import another_system

    another_system.start(os.environ["SHOAL_TEST_SYSTEM"])
