"""Bridges between agents that speak another protocol and the readers of this one."""
