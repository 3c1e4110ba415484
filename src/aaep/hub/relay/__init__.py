"""Both ends of the connection between an agent and a hub in another process."""
