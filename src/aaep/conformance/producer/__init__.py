"""Scenarios that provoke a live producer."""
