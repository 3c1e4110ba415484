"""
AAEP on a runtime of your own: no network, no threads and no clock but yours.

`aaep.protocol` takes bytes and the time, and returns messages and violations. Here a subscription.request
is answered, and a session is checked event by event, the way a producer checks what it is about to send.
"""

from __future__ import annotations

import aaep
from aaep.protocol import Audit, Offer, SessionState, decode, encode, explain, negotiate, read

NOW = 1_800_000_000.0  # seconds; your clock
PRODUCER = aaep.ProducerInfo(agent_id="demo", agent_name="Demo")
REQUEST = b"""{"type": "subscription.request", "aaep_version": "1.0.0", "subscriber_id": "reader-1",
    "subscriber_name": "Reader", "subscriber_version": "1.0.0",
    "capabilities": {"preferred_verbosity": "terse", "languages": ["en-US"], "max_events_per_second": 100}}"""


def answer_handshake() -> None:
    request = decode(REQUEST)  # raises an error that lists the violations, if there are any
    assert isinstance(request, aaep.SubscriptionRequest)
    answer = negotiate(request, Offer(producer=PRODUCER), subscription_id="sub_0123456789abcdef")
    print(encode(answer).decode())


def check_session(*events: bytes) -> None:
    session = SessionState("sess_0123456789abcdef")
    audit = Audit()  # judges a stream: messages, sessions, replies and the handshake together
    for raw in events:
        message, _ = read(raw)  # lenient: what can be read of it, and what is wrong with it
        assert isinstance(message, aaep.Envelope)
        print("By what came before:", *session.feed(message, NOW))
        print("By all rules:", *(finding for finding in audit.feed(raw) if finding.severity == "error"))


def main() -> None:
    answer_handshake()
    started = aaep.SessionStarted(
        aaep_version="1.0.0",
        event_id="evt_0000000000000001",
        session_id="sess_0123456789abcdef",
        timestamp="2027-01-15T08:00:00.000Z",
        producer=PRODUCER,
        summary_normal="Looking for flights.",
        verbosity="normal",
        urgency="normal",
        localization_hints=aaep.LocalizationHints(primary_language="en-US"),
    )
    for finding in explain(encode(started)):
        print(finding)
    check_session(encode(started), encode(started).replace(b"evt_0000000000000001", b"evt_0000000000000002"))


if __name__ == "__main__":
    main()
