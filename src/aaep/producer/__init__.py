"""What agent code uses: a producer, its sessions, its outputs, its questions and its tools."""
