"""Outputs of announcements, and the input that answers them: so far a plain terminal."""
