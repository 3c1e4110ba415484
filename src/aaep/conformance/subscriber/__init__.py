"""Scenarios that provoke a live subscriber."""
