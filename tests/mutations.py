"""Messages made wrong on purpose: one or two random changes to a sound or nearly sound one, the same in every run."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from aaep.protocol.codec import canonical_type, parse_json
from aaep.protocol.events import CORE_EVENTS
from aaep.protocol.messages import SHAPES
from tests.vectors import BASES, cases, message

Place = tuple[Any, Any]  # an object or list, and a name or index in it

LONG = [unit * size for size in (64, 65, 256, 257, 1024, 1025, 4096, 4097, 16_384, 16_385) for unit in ("x", "🦻")]
NUMBERS = [0, 1, -1, 2, 3, 4, 49, 50, 100, 101, 1000, 1001, 86_400, 86_401, 100_000, 100_001, 86_400_000, 86_400_001]
NUMBERS += [2**53 - 1, 2**53, -(2**53), 2**63, 2**64, 10**30]
FRACTIONS = [0.0, 1.0, 3.0, -1.0, 0.5, 1.5, 99.5, 100.5, 1e300, 9007199254740991.0, 9007199254740992.0]
OTHERS: list[Any] = [
    None,
    True,
    False,
    "",
    " ",
    "x",
    "1",
    [],
    [1],
    [None],
    ["a", "a"],
    [[]],
    {},
    {"a": 1},
    {"attend": {}},
]
# Every word some member of the core enumerates, and some that none does.
WORDS = """
success error timeout accept reject low medium high critical normal background terse detailed none word sentence
paragraph completion ltr rtl auto user producer system transient permanent requires_user unknown human specialist_agent
escalation_queue freetext yes_no multiple_choice numeric reversible reversible_with_effort irreversible rate_limit
version_unsupported catastrophic Accept sometimes""".split()
STRANGERS = [
    *"""id @id @graph @type @x foo aaep_x aaep_version a/b~c summary_normal_yo summary_normal_yo_ng summary_normal_YO
summary_normal_x_foo summary_normal_en_GB description_en context_fr question_toolongatag amount_raw currency null type
summary_normal_engl_1 summary_normal_ab_c chunk_yo label_yo""".split(),
    *("", "summary_normal_yo\n", "séance"),
]
NAMES = sorted({name for cls in SHAPES.values() for name in cls.__struct_encode_fields__})
STROKES = "\n\r\t -_.:/*+AaZz09é話\u0660\u2028$\0"


def sources() -> dict[str, list[dict[str, Any]]]:
    """The bases and the messages of all message vectors, by the type each claims."""
    found: dict[str, list[dict[str, Any]]] = {type_: [] for type_ in SHAPES}
    given = [*BASES.values()]
    for case in cases("message"):
        value, broken = parse_json(message(case["message"]))
        if isinstance(value, dict) and not broken:
            given.append(value)
    for value in given:
        type_ = canonical_type(value["type"]) if isinstance(value.get("type"), str) else ""
        # Very large ones are made for the size limits; the limits of members are drawn below.
        if type_ in found and len(json.dumps(value)) < 8192:
            found[type_].append(value)
    return found


def _places(value: Any) -> Iterator[Place]:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


def _drop(_rng: random.Random, holder: Any, key: Any) -> None:
    del holder[key]


def _other(rng: random.Random, holder: Any, key: Any) -> None:
    holder[key] = copy.deepcopy(rng.choice(rng.choice([OTHERS, OTHERS, NUMBERS, FRACTIONS, LONG])))


def _word(rng: random.Random, holder: Any, key: Any) -> None:
    holder[key] = rng.choice(WORDS)


def _number(rng: random.Random, holder: Any, key: Any) -> None:
    """Float for int, bool for int, out of range."""
    holder[key] = rng.choice([*NUMBERS, *FRACTIONS, True, False])


def _stroke(rng: random.Random, holder: Any, key: Any) -> None:
    """Change, add or take one character."""
    text = holder[key]
    if isinstance(text, str):
        at = rng.choice([0, len(text), rng.randint(0, len(text))])
        holder[key] = text[:at] + rng.choice([*STROKES, ""]) + text[at + rng.randint(0, 1) :]
    else:
        holder[key] = str(text)


def _add(rng: random.Random, holder: Any, _key: Any) -> None:
    new = copy.deepcopy(rng.choice([*OTHERS, *WORDS]))
    if isinstance(holder, dict):
        holder.setdefault(rng.choice([*STRANGERS, *NAMES]), new)
    else:
        holder.insert(rng.randint(0, len(holder)), rng.choice([new, *holder]))


def _nest(rng: random.Random, holder: Any, key: Any) -> None:
    """Wrap a value, unwrap it, or put it a level too deep."""
    value = holder[key]
    others = [one for one in (holder.values() if isinstance(holder, dict) else holder) if isinstance(one, dict)]
    choice = rng.randrange(3)
    if choice == 0:
        holder[key] = rng.choice([[value], {str(key): value}])
    elif choice == 1 and isinstance(value, (dict, list)) and value:
        holder[key] = next(iter(value.values() if isinstance(value, dict) else value))
    elif others:
        rng.choice(others)[str(key)] = copy.deepcopy(value)


def _many(rng: random.Random, holder: Any, key: Any) -> None:
    """Too many items, or the same one twice."""
    value = holder[key]
    if isinstance(value, list) and value:
        again = rng.choice([2, 5, 17, 33, 65, 257])
        same = rng.random() < 0.5
        holder[key] = [
            one if same or not isinstance(one, str) else f"{one}{n}" for n in range(again) for one in value[:1]
        ]
    else:
        holder[key] = [copy.deepcopy(value)] * 2


CHANGES: list[Callable[[random.Random, Any, Any], None]] = [_drop, _other, _word, _number, _stroke, _add, _nest, _many]


def mutated(type_: str, given: list[dict[str, Any]], count: int) -> Iterator[dict[str, Any]]:
    """That many changed messages that started as messages of one type."""
    rng = random.Random(type_)
    for number in range(count):
        value = copy.deepcopy(given[number % len(given)])
        for _ in range(rng.choice([1, 1, 1, 2])):
            places = [*_places(value)]
            if places:
                holder, key = rng.choice(places)
                rng.choice(CHANGES)(rng, holder, key)
        if type_ in CORE_EVENTS and rng.random() < 0.02:
            value["type"] = type_.replace("aaep:", "https://aaep-protocol.org/types/")
        yield value
