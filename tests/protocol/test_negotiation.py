"""Negotiation: what is granted of what is asked, and what a subscriber goes on with."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from aaep.errors import Violation
from aaep.protocol import codec, negotiation
from aaep.protocol.attend_extension import ATTEND
from aaep.protocol.codec import canonical_type
from aaep.protocol.events import CORE_EVENTS, ProducerInfo
from aaep.protocol.extensions import Extension, Registry
from aaep.protocol.fields import Message
from aaep.protocol.messages import (
    Capabilities,
    EventFilters,
    SubscriptionAccepted,
    SubscriptionRejected,
    SubscriptionRenegotiate,
    SubscriptionRequest,
)
from aaep.protocol.negotiation import Offer, apply_change, tighten, usable_capabilities
from aaep.protocol.subscription import Handshake, find_wider, is_admitted, merge_capabilities, with_defaults

HEADER = base64.urlsafe_b64encode(b'{"alg":"ES256"}').rstrip(b"=").decode()
SIGNED = f"{HEADER}.e30.c2ln"
MANIFEST = "https://bank.example/manifest"
PRODUCER = ProducerInfo(agent_id="bank-assistant", agent_name="Bank Assistant")


class Chart(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The capabilities of an extension that is made up here."""

    depth: int = 1


def extension(name: str, prefix: str = "chart") -> Extension:
    uri = f"https://bank.example/{name}"
    return Extension(namespace=uri, prefix=prefix, context=f"{uri}/context", capabilities=Chart)


CHART1, CHART2, OTHER, PLAIN = (
    extension("chart/v1"),
    extension("chart/v2"),
    extension("other/v1"),
    extension("plain/v1", "plain"),
)


class Careless(Registry):
    """A registry that lets two extensions have one prefix."""

    def _find_violations(self, extension: Extension) -> Iterator[Violation]:
        yield from ()


REGISTRY = Careless([ATTEND, CHART1, CHART2, OTHER, PLAIN])
NAMESPACES = tuple(one.namespace for one in (ATTEND, CHART1, CHART2, OTHER, PLAIN))
OFFER = Offer(producer=PRODUCER, manifest_uri=MANIFEST, registry=REGISTRY, namespaces=NAMESPACES)


def offering(**changes: Any) -> Offer:
    return msgspec.structs.replace(OFFER, **changes)


def request(version: str = "1.0.0", /, extra: dict[str, Any] | None = None, **asked: Any) -> SubscriptionRequest:
    capabilities = Capabilities(**asked)
    if extra:
        capabilities.__dict__["unknown"] = extra
    return SubscriptionRequest(aaep_version=version, subscriber_id="reader", capabilities=capabilities)


def change(extra: dict[str, Any] | None = None, **asked: Any) -> SubscriptionRenegotiate:
    return SubscriptionRenegotiate(subscription_id="sub_1", capabilities=request(extra=extra, **asked).capabilities)


def received(capabilities: dict[str, Any], type_: str = "subscription.request") -> Any:
    """A message as it comes from a peer who may write anything."""
    given: dict[str, Any] = {"type": type_, "capabilities": capabilities}
    more = {"aaep_version": "1.0.0", "subscriber_id": "reader"}
    given |= more if type_ == "subscription.request" else {"subscription_id": "sub_1"}
    return codec.decode(json.dumps(given))


def accepted(asked: SubscriptionRequest, offer: Offer = OFFER) -> SubscriptionAccepted:
    answer = negotiation.negotiate(asked, offer, "sub_1")
    assert isinstance(answer, SubscriptionAccepted), answer
    sound(answer)
    return answer


def rejected(asked: SubscriptionRequest, offer: Offer = OFFER, active: int = 0) -> SubscriptionRejected:
    answer = negotiation.negotiate(asked, offer, "sub_1", active=active)
    assert isinstance(answer, SubscriptionRejected), answer
    sound(answer)
    return answer


def renegotiated(
    asked: Capabilities, new: SubscriptionRenegotiate, offer: Offer = OFFER, **more: str
) -> SubscriptionAccepted:
    answer = negotiation.renegotiate(asked, new, offer, **more)
    assert isinstance(answer, SubscriptionAccepted), answer
    sound(answer)
    return answer


def sound(answer: Message) -> None:
    """A judge finds nothing at all to say of it."""
    message, found = codec.read(codec.encode(answer), REGISTRY, strict=True)
    assert message == answer and not found


def terms(answer: SubscriptionAccepted) -> dict[str, Any]:
    sent: dict[str, Any] = json.loads(codec.encode(answer))["honored_capabilities"]
    return sent


# -- the answer as a whole -----------------------------------------------------------------


def test_sub_016_018_022_024_an_acceptance_names_id_producer_and_manifest() -> None:
    answer = accepted(request())
    assert (answer.subscription_id, answer.producer, answer.manifest_uri) == ("sub_1", PRODUCER, MANIFEST)
    assert answer.negotiation_notes is UNSET  # nothing was narrowed


def test_cf_043_every_core_member_that_has_a_value_is_named() -> None:
    assert terms(accepted(request())) == {
        "preferred_verbosity": "normal",
        "languages": ["en-US"],
        "supports_confirmation_reply": False,
        "supports_clarification_reply": False,
        "coalesce_boundaries": ["sentence", "completion"],
        "event_filters": {"include": ["aaep:agent.*"], "exclude": []},
        "supported_conformance_levels": [1],
        "supported_extensions": [],
        "cognitive_load": "medium",
        "accept_signed_manifests_only": False,
    }
    full = accepted(request(max_events_per_second=3, pace_wpm=180))
    assert {*terms(full)} == {*Capabilities.__struct_fields__}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("preferred_verbosity", "detailed"),  # CAP-005
        ("coalesce_boundaries", ("none", "word", "sentence", "paragraph", "completion")),  # CAP-020, CF-044
        ("coalesce_boundaries", ("none",)),
        ("event_filters", EventFilters(include=(), exclude=("aaep:agent.tool.*",))),  # CAP-024, CF-051
        ("cognitive_load", "high"),  # CAP-037
        ("pace_wpm", 50),  # CAP-040
        ("max_events_per_second", 1),  # CAP-002
        ("supported_extensions", (CHART1.namespace,)),  # CAP-033
        ("supports_confirmation_reply", True),  # CAP-012
        ("supports_clarification_reply", True),  # CAP-017
    ],
)
def test_cap_what_can_be_granted_is_granted_as_asked(name: str, value: Any) -> None:
    answer = accepted(request(**{name: value}))
    assert getattr(answer.honored_capabilities, name) == value and answer.negotiation_notes is UNSET


def test_cf_038_041_answers_are_never_a_renegotiation() -> None:
    returns = {SubscriptionAccepted, SubscriptionRejected}
    assert {type(accepted(request())), type(rejected(request("2.0.0")))} == returns


# -- version -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "own", "spoken"),
    [
        ("1.0.0", ("1.0.0",), "1.0.0"),
        ("1.4.0", ("1.0.0",), "1.0.0"),
        ("1.0.0", ("1.2.0",), "1.0.0"),
        ("1.3.0", ("1.0.0", "1.2.0", "2.1.0"), "1.2.0"),
        ("1.10.0", ("1.9.0",), "1.9.0"),  # numbers, not text
        ("0.1.0-draft", ("1.0.0",), "1.0.0"),  # CF-048
        ("1.0", ("1.0.0",), "1.0.0"),  # C-62
    ],
)
def test_cf_047_sub_021_the_lower_of_the_two_versions_is_spoken(asked: str, own: tuple[str, ...], spoken: str) -> None:
    answer = accepted(request(asked), offering(versions=own))
    assert answer.aaep_version == spoken
    assert (answer.negotiation_notes is UNSET) == (asked == spoken)


@pytest.mark.parametrize("asked", ["2.0.0", "0.9.0", "1", "one", "9" * 5000 + ".0.0", "1.0.0\n", ""])
def test_sub_048_another_major_is_not_served(asked: str) -> None:
    answer = rejected(request(asked))
    assert answer.reason_code == "version_unsupported" and "1.0.0" in answer.reason_message


# -- rejections ----------------------------------------------------------------------------


def test_sub_051_too_many_subscriptions_may_come_back_later() -> None:
    """SUB-051"""
    offer = offering(max_subscriptions=2, retry_after_seconds=7)
    answer = rejected(request(), offer, active=2)
    assert (answer.reason_code, answer.retry_after_seconds) == ("rate_limit", 7)
    assert isinstance(negotiation.negotiate(request(), offer, "sub_1", active=1), SubscriptionAccepted)


def test_sub_049_cap_045_a_signature_is_demanded_and_there_is_none() -> None:
    answer = rejected(request(accept_signed_manifests_only=True))
    assert answer.reason_code == "manifest_signature_required"


def test_cap_046_cf_068_a_demanded_signature_is_inline_and_the_demand_stays() -> None:
    answer = accepted(request(accept_signed_manifests_only=True), offering(signed_manifest=SIGNED))
    assert answer.signed_manifest == SIGNED
    assert answer.honored_capabilities.accept_signed_manifests_only is True
    assert accepted(request(), offering(signed_manifest=SIGNED)).signed_manifest is UNSET


def test_cf_045_no_common_language_is_a_rejection_that_names_those_offered() -> None:
    answer = rejected(request(languages=("ja", "ko")), offering(languages=("en-US", "yo")))
    assert answer.reason_code == "capabilities_incompatible"
    assert "en-US, yo" in answer.reason_message and answer.alternative_manifest_uri == MANIFEST


def test_sub_042_a_long_list_of_languages_still_fits_the_message() -> None:
    many = tuple(f"en-x-{index:08}" for index in range(1000))
    assert len(rejected(request(languages=("ja",)), offering(languages=many)).reason_message) == 4096


@pytest.mark.parametrize(
    "bad",
    [
        {"max_events_per_second": 0},
        {"pace_wpm": 10},
        {"preferred_verbosity": "loud"},
        {"languages": []},
        {"languages": ["not a tag"]},
        {"coalesce_boundaries": ["clause"]},
        {"supported_conformance_levels": [4]},
        {"event_filters": {"include": ["aaep:*.tool"]}},  # CF-051
        {"event_filters": {"include": ["aaep:*"], "exclude": [1]}},
    ],
)
def test_sub_050_what_cannot_be_used_at_all_is_refused_by_name(bad: dict[str, Any]) -> None:
    """SUB-050"""
    answer = rejected(received(bad))
    assert answer.reason_code == "capabilities_incompatible" and next(iter(bad)) in answer.reason_message


def test_sub_043_the_message_repeats_nothing_of_the_peer() -> None:
    assert "loud" not in rejected(received({"preferred_verbosity": "loud"})).reason_message


# -- each capability -----------------------------------------------------------------------


def test_cf_057_a_rate_beyond_the_schema_is_lowered_not_refused() -> None:
    answer = accepted(received({"max_events_per_second": 250_000}))
    assert answer.honored_capabilities.max_events_per_second == 100_000 and "lowered" in str(answer.negotiation_notes)


@pytest.mark.parametrize(("asked", "granted"), [(10, 5), (3, 3), (UNSET, 5)])
def test_sub_029_036_the_rate_is_the_lower_of_both(asked: object, granted: int) -> None:
    answer = accepted(request(max_events_per_second=asked), offering(max_events_per_second=5))
    assert answer.honored_capabilities.max_events_per_second == granted
    assert (answer.negotiation_notes is UNSET) == (asked == granted)


def test_cap_003_without_a_limit_none_is_named() -> None:
    assert "max_events_per_second" not in terms(accepted(request()))


def test_cf_046_sub_030_languages_keep_the_requested_spelling_and_order() -> None:
    """I18N-018"""
    asked = ("YO-ng", "ja", "en", "EN-us")
    answer = accepted(request(languages=asked), offering(languages=("en-US", "yo")))
    assert answer.honored_capabilities.languages == ("YO-ng", "en", "EN-us")
    assert "language" in str(answer.negotiation_notes)


def test_cf_046_half_a_subtag_is_no_match() -> None:
    assert rejected(request(languages=("e", "eng"))).reason_code == "capabilities_incompatible"


@pytest.mark.parametrize(
    ("asked", "confirms", "offered", "granted"),
    [
        ((1, 2, 3), True, (1, 2, 3), (1, 2, 3)),
        ((1, 2, 3), False, (1, 2, 3), (1,)),
        ((2,), False, (1, 2, 3), (1,)),
        ((3,), True, (1, 2, 3), (3,)),
        ((3,), True, (1, 2), (2,)),
        ((3,), True, (1,), (1,)),
        ((1, 3), True, (1, 2), (1,)),
        ((1,), True, (1, 2, 3), (1,)),
        ((2, 1), True, (3,), (2, 1)),
    ],
)
def test_cf_058_cap_032_levels(asked: Any, confirms: bool, offered: Any, granted: Any) -> None:
    answer = accepted(
        request(supported_conformance_levels=asked, supports_confirmation_reply=confirms), offering(levels=offered)
    )
    assert answer.honored_capabilities.supported_conformance_levels == granted
    assert (answer.negotiation_notes is UNSET) == (granted == asked and offered != (1,))


def test_cf_058_a_level_without_replies_is_said_to_be_level_1() -> None:
    assert "Level 1" in str(accepted(request(supported_conformance_levels=(3,))).negotiation_notes)


def test_sub_033_replies_are_not_promised_by_a_producer_that_takes_none() -> None:
    asked = request(supports_confirmation_reply=True, supports_clarification_reply=True)
    answer = accepted(asked, offering(levels=(1,)))
    assert answer.honored_capabilities.supports_confirmation_reply is False
    assert answer.honored_capabilities.supports_clarification_reply is False
    assert "Replies" in str(answer.negotiation_notes)


def test_cf_051_full_uris_in_filters_are_shortened_and_a_missing_include_is_the_default() -> None:
    long = "https://aaep-protocol.org/types/agent.tool.*"
    filters = accepted(request(event_filters=EventFilters(exclude=(long, "aaep:agent.tool.*")))).honored_capabilities
    assert filters.event_filters == EventFilters(include=("aaep:agent.*",), exclude=("aaep:agent.tool.*",))


def test_cf_052_the_producer_adds_no_extension_types_to_the_filters() -> None:
    answer = accepted(request(supported_extensions=(CHART1.namespace,)))
    assert answer.honored_capabilities.event_filters == EventFilters(include=("aaep:agent.*",), exclude=())


# -- extensions ----------------------------------------------------------------------------


def test_cf_137_sub_034_only_listed_and_offered_extensions_are_in_play() -> None:
    asked = request(supported_extensions=("https://stranger.example/v1", PLAIN.namespace))
    answer = accepted(asked)
    assert answer.honored_capabilities.supported_extensions == (PLAIN.namespace,)
    assert "extension" in str(answer.negotiation_notes) and "stranger" not in str(answer.negotiation_notes)
    assert accepted(asked, offering(namespaces=())).honored_capabilities.supported_extensions == ()


@pytest.mark.parametrize("listed", [(CHART1, CHART2), (CHART2, CHART1)])
def test_cf_062_of_two_majors_the_highest_that_both_have_is_used(listed: tuple[Extension, ...]) -> None:
    asked = request(supported_extensions=tuple(one.namespace for one in listed))
    assert accepted(asked).honored_capabilities.supported_extensions == (CHART2.namespace,)
    older = offering(namespaces=(CHART1.namespace,))
    assert accepted(asked, older).honored_capabilities.supported_extensions == (CHART1.namespace,)


def test_ext_019_two_extensions_with_one_prefix_clash() -> None:
    """EXT-019, SUB-050"""
    answer = rejected(request(supported_extensions=(CHART1.namespace, OTHER.namespace)))
    assert answer.reason_code == "capabilities_incompatible" and "chart" in answer.reason_message


def test_cf_064_a_clash_with_an_extension_that_is_not_offered_is_none() -> None:
    asked = request(supported_extensions=(CHART1.namespace, OTHER.namespace))
    answer = accepted(asked, offering(namespaces=(CHART1.namespace,)))
    assert answer.honored_capabilities.supported_extensions == (CHART1.namespace,)


def test_cap_049_050_cf_061_an_extension_capability_is_honoured_if_listed_and_known() -> None:
    """CAP-049"""
    asked = received({"supported_extensions": [PLAIN.namespace], "plain": {"depth": 2}})
    answer = accepted(asked)
    assert terms(answer)["plain"] == {"depth": 2} and answer.negotiation_notes is UNSET
    assert answer.honored_capabilities.unknown == {"plain": {"depth": 2}}


@pytest.mark.parametrize(
    "asked",
    [
        {"plain": {"depth": 2}},  # not listed
        {"supported_extensions": ["https://stranger.example/v1"], "strange": {}},
        {"supported_extensions": [PLAIN.namespace], "plain": {"depth": "deep"}},
        {"supported_extensions": [PLAIN.namespace], "plain": 7},
        {"supported_extensions": [PLAIN.namespace], "chart": {"depth": 2}},  # another prefix
        {"supported_extensions": [ATTEND.namespace], "attend": {"resume_after": "not an id"}},
    ],
)
def test_cap_048_cf_060_other_extension_capabilities_are_ignored(asked: dict[str, Any]) -> None:
    answer = accepted(received(asked))
    assert not {"plain", "strange", "chart", "attend"} & {*terms(answer)}
    assert "ignored" in str(answer.negotiation_notes)


# -- what can be used of what came ---------------------------------------------------------


def test_items_that_are_not_understood_are_left_out_of_a_list() -> None:
    asked = {
        "languages": ["en", "not a tag", "en", 1],
        "coalesce_boundaries": ["clause", "sentence"],
        "supported_conformance_levels": [1, 4],
        "supported_extensions": ["no uri", PLAIN.namespace, {}],
    }
    assert terms(accepted(received(asked))) | {
        "languages": ["en"],
        "coalesce_boundaries": ["sentence"],
        "supported_conformance_levels": [1],
        "supported_extensions": [PLAIN.namespace],
    } == terms(accepted(received(asked)))


def test_cap_009_more_languages_than_a_list_may_hold_are_cut_in_order() -> None:
    asked = ["en", *(f"en-x-a{index}" for index in range(40))]
    assert usable_capabilities(received({"languages": asked}).capabilities)[0].languages == (*asked[:32],)


# -- renegotiation -------------------------------------------------------------------------


def test_sub_057_060_the_answer_is_the_full_set_under_the_same_id() -> None:
    asked = request(languages=("en", "yo"), max_events_per_second=9).capabilities
    answer = renegotiated(asked, change(preferred_verbosity="terse"), version="1.0.0")
    assert answer.subscription_id == "sub_1" and answer.honored_capabilities.languages == ("en",)
    assert answer.honored_capabilities.preferred_verbosity == "terse"
    assert answer.honored_capabilities.max_events_per_second == 9


def test_c_62_a_renegotiation_keeps_the_version_agreed_on() -> None:
    assert renegotiated(Capabilities(), change(), version="1.1.0").aaep_version == "1.1.0"


def test_cf_042_members_are_replaced_whole() -> None:
    asked = request(event_filters=EventFilters(exclude=("aaep:agent.tool.*",))).capabilities
    answer = renegotiated(asked, change(event_filters=EventFilters(include=("aaep:agent.*",))))
    assert answer.honored_capabilities.event_filters == EventFilters(include=("aaep:agent.*",), exclude=())


def test_cf_042_null_resets_a_member_to_its_default() -> None:
    asked = request(
        extra={"plain": {"depth": 2}},
        max_events_per_second=9,
        preferred_verbosity="terse",
        pace_wpm=90,
        supported_extensions=(PLAIN.namespace,),
    ).capabilities
    reset = {"max_events_per_second": None, "preferred_verbosity": None, "plain": None}
    new = received(reset, "subscription.renegotiate")
    answer = terms(renegotiated(asked, new))
    assert answer["preferred_verbosity"] == "normal" and answer["pace_wpm"] == 90
    assert not {"max_events_per_second", "plain"} & {*answer}
    assert apply_change(asked, new).preferred_verbosity == "normal"


def test_cf_041_cf_045_a_language_that_is_not_offered_does_not_end_a_live_subscription() -> None:
    answer = renegotiated(Capabilities(), change(languages=("ja",)))
    assert answer.honored_capabilities.languages == ("ja",) and "en-US" in str(answer.negotiation_notes)


def test_cf_041_a_clash_of_prefixes_leaves_both_out() -> None:
    new = change(supported_extensions=(CHART1.namespace, OTHER.namespace, PLAIN.namespace))
    answer = renegotiated(Capabilities(), new)
    assert answer.honored_capabilities.supported_extensions == (PLAIN.namespace,)
    assert "chart" in str(answer.negotiation_notes)


def test_cf_041_a_member_that_cannot_be_used_leaves_it_as_it_was() -> None:
    new = received({"max_events_per_second": 0, "pace_wpm": 90}, "subscription.renegotiate")
    answer = renegotiated(request(max_events_per_second=4).capabilities, new)
    assert (answer.honored_capabilities.max_events_per_second, answer.honored_capabilities.pace_wpm) == (4, 90)
    assert "max_events_per_second" in str(answer.negotiation_notes)


def test_cf_041_cf_057_a_value_that_was_lowered_in_a_renegotiation_is_said() -> None:
    answer = renegotiated(Capabilities(), received({"max_events_per_second": 250_000}, "subscription.renegotiate"))
    assert answer.honored_capabilities.max_events_per_second == 100_000 and "lowered" in str(answer.negotiation_notes)


def test_cap_045_a_signature_demanded_later_is_demanded_all_the_same() -> None:
    new = change(accept_signed_manifests_only=True)
    answer = negotiation.renegotiate(Capabilities(), new, OFFER)
    assert isinstance(answer, SubscriptionRejected) and answer.reason_code == "manifest_signature_required"
    assert renegotiated(Capabilities(), new, offering(signed_manifest=SIGNED)).signed_manifest == SIGNED


# -- the offer -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bad",
    [
        {"languages": ()},
        {"levels": ()},
        {"versions": ()},
        {"versions": ("one",)},
        {"max_events_per_second": 0},
        {"namespaces": ("https://stranger.example/v1",)},
    ],
)
def test_an_offer_that_offers_nothing_usable_is_refused_where_it_is_made(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        Offer(producer=PRODUCER, **bad)


# -- what a subscriber goes on with --------------------------------------------------------


def test_cf_148_the_tighter_of_the_two_member_by_member() -> None:
    asked = Capabilities(
        max_events_per_second=5,
        languages=("en", "yo"),
        preferred_verbosity="terse",
        event_filters=EventFilters(include=("aaep:agent.tool.*", "aaep:agent.state.changed")),
        supported_conformance_levels=(1, 2, 3),
        supports_confirmation_reply=True,
        accept_signed_manifests_only=True,
    )
    honoured = Capabilities(
        max_events_per_second=50,
        languages=("YO", "fr"),
        preferred_verbosity="detailed",
        event_filters=EventFilters(include=("aaep:*",), exclude=("aaep:agent.state.*",)),
        supported_conformance_levels=(2,),
        supports_confirmation_reply=False,
        cognitive_load="low",
        accept_signed_manifests_only=False,
    )
    assert tighten(asked, honoured) == with_defaults(
        Capabilities(
            max_events_per_second=5,
            languages=("yo",),
            preferred_verbosity="terse",
            event_filters=EventFilters(
                include=("aaep:agent.tool.*", "aaep:agent.state.changed"), exclude=("aaep:agent.state.*",)
            ),
            supported_conformance_levels=(1, 2),
            cognitive_load="low",
            accept_signed_manifests_only=True,
        )
    )


def test_cf_148_terms_that_make_no_sense_are_as_requested() -> None:
    asked = Capabilities(preferred_verbosity="terse", max_events_per_second=5)
    nonsense = received({"preferred_verbosity": "loud", "max_events_per_second": 0}).capabilities
    assert tighten(asked, nonsense) == with_defaults(asked)


# -- properties ----------------------------------------------------------------------------

PATTERNS = (
    "*",
    "aaep:*",
    "aaep:agent.*",
    "aaep:agent.to*",
    "aaep:agent.tool.invoked",
    "https://aaep-protocol.org/types/agent.tool.*",
    "https://aaep-protocol.org/vocab/v1#agent.state.changed",
    "chart:*",
    "chart:drawn",
)
TAGS = ("en", "EN-us", "en-GB", "yo", "yo-NG", "zh-Hant-TW", "zh", "ar-EG", "x-own", "ja")
URIS = (*NAMESPACES, "https://stranger.example/v1")


def some(items: tuple[Any, ...], least: int = 0) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(st.sampled_from(items), min_size=least, unique=True).map(tuple)


filters = st.builds(EventFilters, include=st.just(UNSET) | some(PATTERNS), exclude=st.just(UNSET) | some(PATTERNS))
MEMBERS: dict[str, st.SearchStrategy[Any]] = {
    "max_events_per_second": st.integers(1, 100_000) | st.integers(100_001, 2**53),
    "preferred_verbosity": st.sampled_from(["terse", "normal", "detailed"]),
    "languages": some(TAGS, 1),
    "supports_confirmation_reply": st.booleans(),
    "supports_clarification_reply": st.booleans(),
    "coalesce_boundaries": some(("none", "word", "sentence", "paragraph", "completion"), 1),
    "event_filters": filters,
    "supported_conformance_levels": some((1, 2, 3), 1),
    "supported_extensions": some(URIS),
    "cognitive_load": st.sampled_from(["low", "medium", "high"]),
    "pace_wpm": st.integers(50, 1000),
    "accept_signed_manifests_only": st.booleans(),
}
entries = st.dictionaries(
    st.sampled_from(["chart", "plain", "attend", "strange"]),
    st.sampled_from([{}, {"depth": 3}, {"depth": None}, {"minimum_timeout_seconds": 60}, 7, None]),
)


@st.composite
def capabilities(draw: st.DrawFn) -> Capabilities:
    made = Capabilities(**draw(st.fixed_dictionaries({}, optional=MEMBERS)))
    if unknown := draw(entries):
        made.__dict__["unknown"] = unknown
    return made


offers = st.builds(
    Offer,
    producer=st.builds(ProducerInfo, agent_id=st.text(min_size=1), agent_name=st.just(UNSET) | st.text(min_size=1)),
    versions=some(("1.0.0", "1.2.0", "2.0.0", "0.1.0-draft"), 1),
    levels=some((1, 2, 3), 1),
    languages=some(TAGS, 1),
    registry=st.just(REGISTRY),
    namespaces=some(NAMESPACES),
    max_events_per_second=st.none() | st.integers(1, 200_000),
    max_subscriptions=st.none() | st.integers(0, 2),
    retry_after_seconds=st.integers(0, 86_400),
    manifest_uri=st.none() | st.just(MANIFEST),
    signed_manifest=st.none() | st.just(SIGNED),
)
requests = st.builds(
    SubscriptionRequest,
    aaep_version=st.sampled_from(["1.0.0", "1.1.7", "0.1.0-draft", "2.0.0", "3.0.0", "1.0.0-rc.1"]),
    subscriber_id=st.just("reader"),
    capabilities=capabilities(),
)
changes = st.builds(SubscriptionRenegotiate, subscription_id=st.just("sub_1"), capabilities=capabilities())


def test_the_members_tested_here_are_all_there_are() -> None:
    assert {*MEMBERS} == {*Capabilities.__struct_fields__}


def spelt_out(asked: Capabilities) -> Capabilities:
    """The request with its defaults, and its filters in their short form."""
    whole = with_defaults(asked)
    assert isinstance(whole.event_filters, EventFilters)
    include = ("aaep:agent.*",) if whole.event_filters.include is UNSET else whole.event_filters.include
    exclude = () if whole.event_filters.exclude is UNSET else whole.event_filters.exclude
    short = [tuple(dict.fromkeys(map(canonical_type, each))) for each in (include, exclude)]
    return msgspec.structs.replace(whole, event_filters=EventFilters(include=short[0], exclude=short[1]))


@given(requests, offers, st.integers(0, 2), st.lists(changes, max_size=4))
def test_sub_028_nothing_is_ever_granted_wider_and_every_answer_is_sound(
    asked: SubscriptionRequest, offer: Offer, active: int, later: list[SubscriptionRenegotiate]
) -> None:
    """
    For a request and any chain of renegotiations; a judge that follows the exchange finds nothing either.

    SUB-026: without a note, the terms are just what was asked for.
    """
    judge = Handshake()
    assert not [*judge.feed(asked)]
    answer = negotiation.negotiate(asked, offer, "sub_1", active=active)
    kept = asked.capabilities
    baseline = kept
    for new in [None, *later]:
        if new is not None:
            assert not [*judge.feed(new)]
            baseline = merge_capabilities(baseline, new.capabilities)
            answer = negotiation.renegotiate(kept, new, offer)
            kept = apply_change(kept, new)
        sound(answer)
        assert not [*judge.feed(answer)]
        if isinstance(answer, SubscriptionRejected):
            return
        assert not [*find_wider(baseline, answer.honored_capabilities)]
        assert answer.negotiation_notes is not UNSET or answer.honored_capabilities == spelt_out(kept)


@given(requests, offers)
def test_the_same_question_gets_the_same_answer(asked: SubscriptionRequest, offer: Offer) -> None:
    once, twice = (negotiation.negotiate(asked, offer, "sub_1") for _ in range(2))
    assert once == twice and codec.encode(once) == codec.encode(twice)


@given(requests, offers)
def test_sub_060_a_renegotiation_of_nothing_changes_nothing(asked: SubscriptionRequest, offer: Offer) -> None:
    before = negotiation.negotiate(asked, offer, "sub_1")
    if isinstance(before, SubscriptionAccepted):
        after = renegotiated(asked.capabilities, change(), offer, version=before.aaep_version)
        assert terms(after) == terms(before)
        assert (after.subscription_id, after.aaep_version) == (before.subscription_id, before.aaep_version)
        # Nor does asking for just what was granted.
        again = SubscriptionRenegotiate(subscription_id="sub_1", capabilities=before.honored_capabilities)
        assert terms(renegotiated(asked.capabilities, again, offer)) == terms(before)


@given(capabilities(), capabilities(), st.sampled_from([*CORE_EVENTS, "chart:drawn", "chart:x", "strange:y"]))
def test_cf_148_the_tighter_is_wider_than_neither(asked: Capabilities, honoured: Capabilities, type_: str) -> None:
    tight = tighten(asked, honoured)
    granted = merge_capabilities(with_defaults(asked), honoured)  # absent is as requested
    assert not [*find_wider(asked, tight)] and not [*find_wider(granted, tight)]
    both = (with_defaults(asked).event_filters, granted.event_filters, tight.event_filters)
    one, other, common = (each for each in both if isinstance(each, EventFilters))
    assert is_admitted(common, type_) == (is_admitted(one, type_) and is_admitted(other, type_))


@given(requests, offers)
def test_cf_148_what_we_grant_is_what_our_subscriber_goes_on_with(asked: SubscriptionRequest, offer: Offer) -> None:
    answer = negotiation.negotiate(asked, offer, "sub_1")
    if isinstance(answer, SubscriptionAccepted):
        granted = answer.honored_capabilities
        assert tighten(asked.capabilities, granted).languages == granted.languages
        assert not [*find_wider(granted, tighten(asked.capabilities, granted))]


junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 200_000)
    | st.sampled_from(["en", "loud", "", "aaep:*", "*a", "sentence"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["include", "exclude", "x"]), inner, max_size=2)
    ),
    max_leaves=6,
)
strange = st.dictionaries(st.sampled_from([*MEMBERS, "plain", "strange"]), junk)


@given(strange, st.lists(strange, max_size=2), offers)
def test_whatever_a_peer_sends_the_answer_is_sound_and_none_is_an_exception(
    first: dict[str, Any], later: list[dict[str, Any]], offer: Offer
) -> None:
    asked = received(first)
    judge = Handshake()
    answer = negotiation.negotiate(asked, offer, "sub_1")
    kept = asked.capabilities
    assert not [*judge.feed(asked)]
    for given_later in [None, *later]:
        if given_later is not None:
            new = received(given_later, "subscription.renegotiate")
            assert not [*judge.feed(new)]
            answer = negotiation.renegotiate(kept, new, offer)
            kept = apply_change(kept, new)
        sound(answer)
        [*judge.feed(answer)]  # it may find the answer wider than nonsense, but it never fails
        if isinstance(answer, SubscriptionRejected):
            return
        assert not [*find_wider(kept, answer.honored_capabilities)]
