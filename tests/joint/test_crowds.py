"""A crowd that no machine can hold is refused before a message is sent."""

import pytest

import shoal
from shoal.errors import InputError


@pytest.mark.parametrize(("peers", "k"), [(10_001, 5), (10**9, 5), (9000, 1001)])
def test_a_crowd_that_no_machine_can_hold_is_refused(peers: int, k: int) -> None:
    with pytest.raises(InputError, match="more messages"):
        shoal.joint_simulate(peers=peers, k=k)
