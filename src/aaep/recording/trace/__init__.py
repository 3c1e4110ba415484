"""What happened in a recording, as text, as a drawing and as a page."""
