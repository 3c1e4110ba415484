"""Scenarios that provoke a live subscriber, and the judgement of a run."""
