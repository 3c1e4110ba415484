"""Captures of conversations: writing, reading, judging, replaying and drawing them."""
