"""Scenarios that provoke a live producer, and the judgement of a run."""
