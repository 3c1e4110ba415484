"""Shape a stream of events to a subscriber's terms: filter, merge, pace and adapt it."""
