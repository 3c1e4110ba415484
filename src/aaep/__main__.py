"""``python -m aaep`` is the command ``aaep``, for where that is not on the path."""

from .cli import main

if __name__ == "__main__":
    main(prog_name="aaep")
