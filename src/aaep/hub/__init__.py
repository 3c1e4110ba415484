"""Joins sessions, journal, shaping and readers."""
