"""Captures of conversations: writing, reading, auditing, replaying and drawing them."""
