"""Whether everything in this folder is run over every transport."""

from __future__ import annotations

from tests.end_to_end.wires import WIRES, transports


def test_every_transport_meets_this_suite() -> None:
    assert transports(), "No transport was found."
    missing = set(transports()) - set(WIRES)
    assert not missing, f"Write down in wires.py how somebody without our library uses: {', '.join(sorted(missing))}."
    assert set(WIRES) <= set(transports()), "wires.py knows a transport that is not there."
