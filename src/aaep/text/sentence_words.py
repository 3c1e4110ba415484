"""
The words that tell whether a sentence ends: abbreviations, and what sentences begin with.

A language's own words come on top of those of all languages. Words of a script
that one language or few have are among the latter, so that they count also when
the language was given wrongly. All are in lower case, but for what begins a
sentence, and in normal form C.

The lists are short on purpose: a missing abbreviation costs a misplaced pause, a
superfluous one joins two sentences. Single letters and dotted ones (U.S., z.B.)
need no entry, unless they may end a sentence.
"""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = [
    "CLAUSE_BEGINNINGS",
    "FINAL_ENDINGS",
    "JOINING_BEGINNINGS",
    "OPEN_ENDINGS",
    "POLITE_ENDINGS",
    "TITLES",
    "SentenceWords",
    "words_of",
]


class SentenceWords(NamedTuple):
    """What one language knows of abbreviations."""

    non_final: frozenset[str]  # the sentence continues after these
    possibly_final: frozenset[str]  # it continues only before a lower-case letter or a digit
    final_suffixes: tuple[str, ...]  # of compounds that are abbreviated like the latter
    beginnings: frozenset[str]  # after an initial or a dotted abbreviation, a sentence begins with these
    has_ordinals: bool  # a number with a full stop is an ordinal: am 3. Oktober
    ordinal_cues: frozenset[str]  # what stands before an ordinal; empty if that is not known
    ordinal_nouns: frozenset[str]  # what follows one


_NON_FINAL: Final[dict[str, str]] = {
    "": """dr prof mr mrs ms mme mlle vs cf st sr sra dra
        डॉ प्रो रु श्री सं पं मो
        ए बी सी डी एफ एच जे के एल एम एन ओ पी क्यू आर एस टी यू वी डब्ल्यू एक्स वाई ज़ेड
        โทร""",
    "en": """messrs mx rev hon gen col capt cmdr lt sgt maj gov sen pres mt ft viz eg ie e.g i.e""",
    "de": """hr hrn fr frl dipl ing vgl bzw ca bspw evtl ggf insb inkl exkl sog zzgl abzgl abs geb gem lt
        allg bes eigtl einschl entspr gegr mind zt zb dh ua""",
    "fr": """pr mm mmes m mlles me mgr ste env av bd boul ex""",
    "es": """dres sres sras srta profa d dª lic ing arq gral cnel av avda ej ee""",
    "pt": """sres sras srta dras profa profas profs eng arq av ex exmo exma ilmo ilma gal cel tte""",
    "sw": """dkt bw bi mhe mch""",
    "ha": """alh mal haj inj""",
    "ig": """maz oriak""",
    "yo": """ọ̀gb ọ̀jọ̀gb alh arábìn""",
    "vi": """ts ths gs pgs bs ks ls tp tt ncs""",
}
_POSSIBLY_FINAL: Final[dict[str, str]] = {
    "": """etc no nr art fig vol min max tel""",
    "en": """nos inc ltd co corp llc jr sr dept est approx figs eq ch chs sec secs vols ed eds pp op al a.m p.m
        jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun ave blvd""",
    "de": """usw usf nrn bd abb tab kap str mio mrd std sek jh jhd jän jan feb mär apr jun jul aug
        sep sept okt nov dez mo di mi do sa so""",
    "fr": """nos chap éd tél janv févr avr juil sept oct nov déc""",
    "es": """núm nº n.º cap pág págs ed mín máx seg ud uds vd vds uu cía ltda
        ene feb abr jun jul ago sept oct nov dic""",
    "pt": """núm nº n.º cap pág págs ed mín máx seg ltda cia s.a jan fev mar abr mai jun jul ago set out nov dez""",
    "sw": """na n.k uk sh""",
    "vi": """v.v tr""",
}
# Suffixes of German streets: Hauptstr. 5
_FINAL_SUFFIXES: Final[dict[str, tuple[str, ...]]] = {"de": ("str",)}

_BEGINNINGS: Final[dict[str, str]] = {
    "en": """He She It We They You I The This That These Those There Then But And So If In On At As After Before
        When While What Why How Who Where My Our Your His Her Their Its No Yes Not Now Here For From With To A An
        Please Both Each Some Most All Many Only Once Since Its Do Does Did Is Are Was Were Can Could Would Should Will
        Let Also However Later Next""",
    "es": """El Él La Los Las Un Una Ella Ellos Se No Sí Si En Y Pero Después Luego Ahora Cuando Con Por Para Su Sus
        Esto Esta Este Eso Es Hay Mañana Hoy""",
    "fr": """Il Elle Ils Elles On Nous Vous Je Ce Cela Ça Ces Cette C Les Un Une Mais Puis Ensuite Alors Si Quand Dans
        Pour Avec Voici""",
    "de": """Er Es Wir Ich Danach Dann Aber Und Wenn Dort Hier Jetzt Diese Dieser Dieses Das Man Damit""",
    "pt": """O A Os As Um Uma Ele Ela Eles Elas Se Não Sim Em No Na E Mas Depois Agora Quando Com Por Para Isso Isto
        Esta Este É Há Amanhã Hoje""",
}

_ORDINAL_LANGUAGES: Final = frozenset("de da nb nn no fi et cs sk sl hr sr bs hu pl is lv tr".split())
_ORDINAL_CUES: Final[dict[str, str]] = {
    "de": """der die das dem den des am im zum zur vom beim ein eine einem einer einen eines jeder jede jedes jeden
        dieser diese dieses diesem diesen und oder bis ab seit mein meine sein seine ihr ihre
        montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag mo di mi do fr sa so""",
}
_ORDINAL_NOUNS: Final[dict[str, str]] = {
    "de": """Januar Jänner Februar März April Mai Juni Juli August September Oktober November Dezember Jahrhundert
        Quartal Halbjahr Semester""",
}

# Thai. What ends a sentence whatever follows, for it is said to the person spoken to.
POLITE_ENDINGS: Final = ("ครับ", "ค่ะ", "คะ", "จ้ะ", "จ๊ะ")
# What a sentence ends with, however short: already, or not, yet, at all, only, again.
FINAL_ENDINGS: Final = ("แล้ว", "ไหม", "หรือไม่", "หรือยัง", "เลย", "เท่านั้น", "อีกครั้ง")
# What no clause ends with: that, by, namely, is, named, and, or, with, of, at, such as, the time, in, from.
OPEN_ENDINGS: Final = (
    "ว่า",
    "โดย",
    "ได้แก่",
    "คือ",
    "ชื่อ",
    "และ",
    "หรือ",
    "กับ",
    "ของ",
    "ที่",
    "เช่น",
    "เวลา",
    "ใน",
    "จาก",
    "เป็น",
)
# Mr, Mrs, Miss, Mr or Ms. A space follows, then a name, perhaps a space and the family name.
TITLES: Final = ("คุณ", "นาย", "นาง", "นางสาว")
# Doctor, professor, physician, teacher, Miss, boy, girl: the same before a name.
ABBREVIATED_TITLES: Final = ("ดร.", "ผศ.", "รศ.", "ศ.", "นพ.", "พญ.", "ทพ.", "อ.", "น.ส.", "ด.ช.", "ด.ญ.")
# What joins the words after a space to the clause before it: and, or, which, at, by, with, of, the time, the day.
JOINING_BEGINNINGS: Final = ("และ", "หรือ", "ซึ่ง", "ที่", "โดย", "กับ", "ของ", "เวลา", "เมื่อวัน", "ฯลฯ")
# What begins a clause, however short the one before it is: but, then, now, if, because, please, pronouns and so on.
# Of a long word the four letters that tell it from others, so that no second token has to be waited for.
CLAUSE_BEGINNINGS: Final = (
    *("แต่", "จากน", "หลัง", "ตอนน", "ถ้า", "หาก", "เพรา", "ดังน", "กรุณ", "โปรด", "ส่วน", "นอกจ", "ระหว"),
    *("คุณ", "ผม", "ฉัน", "เรา", "เขา", "ต้อง", "วันน", "พรุ่", "ทุกอ", "แล้ว", "ให้"),
)
# The same after a number, where the two others mean "already" and "for".
BEGINNINGS_AFTER_NUMBERS: Final = tuple(each for each in CLAUSE_BEGINNINGS if each not in ("แล้ว", "ให้"))


def words_of(language: str) -> SentenceWords:
    """Return the words of a language, given by the first part of its tag."""
    return SentenceWords(
        non_final=_join(_NON_FINAL, language),
        possibly_final=_join(_POSSIBLY_FINAL, language),
        final_suffixes=_FINAL_SUFFIXES.get(language, ()),
        beginnings=frozenset(_BEGINNINGS.get(language, "").split()),
        has_ordinals=language in _ORDINAL_LANGUAGES,
        ordinal_cues=frozenset(_ORDINAL_CUES.get(language, "").split()),
        ordinal_nouns=frozenset(_ORDINAL_NOUNS.get(language, "").split()),
    )


def _join(table: dict[str, str], language: str) -> frozenset[str]:
    return frozenset(table[""].split()) | frozenset(table.get(language, "").split())
