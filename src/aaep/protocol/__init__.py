"""What AAEP says: shapes, rules, the session state machine, the handshake and its encodings. No I/O and no clock."""
