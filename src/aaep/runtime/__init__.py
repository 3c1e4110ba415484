"""What the pure packages do without: event loops in threads, timers, queues, random ids and files."""
