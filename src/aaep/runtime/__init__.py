"""Helpers with side effects: event loops in threads, timers, queues, random ids and files."""
