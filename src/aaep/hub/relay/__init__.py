"""Agents that are served by a hub elsewhere: both ends of that connection."""
