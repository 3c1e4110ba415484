"""A hand-written loop around a model that streams. Listen to it with: aaep listen http://127.0.0.1:8137"""

import sys
from collections.abc import Iterator

import aaep

ADDRESS = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8137"


def model(messages: list[str]) -> Iterator[tuple[str, str]]:
    """Stands for a model: gives tokens, and the tools it wants to use."""
    if len(messages) == 1:
        yield from (("token", token) for token in ("Let me ", "look that ", "up. "))
        yield "tool", "read_note"
    else:
        yield from (("token", token) for token in ("Your note ", "says: ", f"{messages[-1]} ", "Anything ", "else?"))


with aaep.Producer("note-keeper", name="Note Keeper", listen=ADDRESS, journal=None) as producer:
    print(f"Listen with: aaep listen {producer.addresses[0]}", flush=True)

    @producer.tool(risk="low", summary="Reading your note.")
    def read_note() -> str:
        """Reads the note."""
        return "Buy milk."

    producer.reader(replies=False).wait()
    with producer.session("Answering your question.", request="What did I write down?") as session:
        messages = ["What did I write down?"]
        wanted: str | None = ""
        while wanted is not None:
            wanted = None
            with session.thinking(), session.output() as out:
                for kind, text in model(messages):
                    if kind == "token":
                        out.write(text)
                    else:
                        wanted = text
            if wanted is not None:
                messages.append({"read_note": read_note}[wanted]())
        print(messages[-1], flush=True)
