"""Where announcements go: one file for each way to reach a person."""
