"""A program whose pipes lead to a socket, so that many readers can start "the agent" and all reach the same one."""

from __future__ import annotations

import os
import socket
import sys
import threading


def main(path: str) -> None:
    line = socket.socket(socket.AF_UNIX)
    line.connect(path)

    def outwards() -> None:
        while data := os.read(0, 65_536):
            line.sendall(data)
        line.shutdown(socket.SHUT_WR)

    threading.Thread(target=outwards, daemon=True).start()
    while data := line.recv(65_536):
        os.write(1, data)


if __name__ == "__main__":
    main(sys.argv[1])
