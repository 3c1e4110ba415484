"""What one set of terms receives of a stream of events: filtered, merged, paced, in the wanted words."""
