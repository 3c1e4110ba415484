# checked-by-speaker: no
# language: yo

## The work

started = Iṣẹ́ ti bẹ̀rẹ̀.

part = Apá kan lára: { $parent }

completed = Ó ti parí.

ended = Iṣẹ́ ti dópin.

undone = A kò ṣe é: { $action }.

undone-more = A kò ṣe { $count } mìíràn.

possible = Ó ṣeé ṣe kó ti ṣẹlẹ̀: { $action }.

possible-more = Ó ṣeé ṣe kí { $count } mìíràn ti ṣẹlẹ̀.

possible-check = Yẹ̀ ẹ́ wò kí o tó tún gbìyànjú.

undone-failed = Ó kùnà: { $action }.

undone-failed-more = { $count } mìíràn kùnà.

failed-check = Yẹ ohun tó ti ṣẹlẹ̀ wò kí o tó tún gbìyànjú.

errored = Iṣẹ́ kùnà.

cancelled = A dá iṣẹ́ dúró.

unfinished = Iṣẹ́ kò tíì parí.

tools = Iye irinṣẹ́ tí a lò: { $count }.

took = Ó gba { $duration }.

takes = Èyí máa gba nǹkan bíi { $duration }.

left = Ó ku nǹkan bíi { $duration }.

by-user = Olùmúlò ló dá a dúró.

by-producer = Aṣojú ló dá a dúró.

by-timeout = Ó pẹ́ jù.

by-system = Ètò kọ̀ǹpútà ló dá a dúró.

partial = Títí di ìsinsìnyí: { $result }

code = Àmì àṣìṣe { $code }.

category-transient = Ìgbìyànjú mìíràn lè ṣèrànwọ́.

category-permanent = Ìgbìyànjú mìíràn kò ní ṣèrànwọ́.

category-requires_user = O ní láti kọ́kọ́ ṣe nǹkan kan.

hint-transient = Ìgbìyànjú mìíràn tó bá yá lè ṣèrànwọ́.

hint-permanent = Ìgbìyànjú mìíràn kò ní ṣèrànwọ́. Sọ fún ẹni tó ń bójú tó aṣojú.

hint-requires_user = Yẹ̀ ẹ́ wò bóyá a gba aṣojú láàyè láti ṣe èyí, lẹ́yìn náà tún gbìyànjú.

hint-unknown = Tún gbìyànjú. Bó bá tún kùnà, sọ fún ẹni tó ń bójú tó aṣojú.

lost = Aṣojú dúró lójijì. Iṣẹ́ kò tíì parí.

lost-hint = Yẹ ohun tó ti ṣẹlẹ̀ wò kí o tó tún bẹ̀rẹ̀ rẹ̀.

lost-detailed = Aṣojú dúró lójijì. Iṣẹ́ kò tíì parí. Ohun tó ti bẹ̀rẹ̀, ó ṣeé ṣe kó ti ṣẹlẹ̀.

handoff-human = À ń fi iṣẹ́ lé ènìyàn lọ́wọ́.

handoff-specialist_agent = À ń fi iṣẹ́ lé aṣojú mìíràn lọ́wọ́.

handoff-escalation_queue = À ń fi iṣẹ́ sílẹ̀. Ẹnì kan yóò gbà á ṣe.

handoff-other = À ń fi iṣẹ́ sílẹ̀.

not_taken = Kò sí ẹni tó gba iṣẹ́ náà.

## What goes on

state-idle = Kò sí iṣẹ́ báyìí.

state-thinking = Ó ń ronú.

state-thinking-detailed = Ó ń ronú nípa ohun tó kàn.

state-calling_tool = Ó ń lo irinṣẹ́.

state-writing_output = Ó ń kọ̀wé.

state-awaiting_input = Ó ń dúró dè ọ́.

state-deciding = Ó ń pinnu.

state-deciding-detailed = Ó ń pinnu bí yóò ṣe tẹ̀síwájú.

state-handing_off = Ó ń fi iṣẹ́ lé ẹlòmíràn.

state-other = Báyìí: { $state }.

state-unnamed = Nǹkan mìíràn ló ń lọ báyìí.

resync = Ohun tó ti ṣẹlẹ̀ títí di báyìí.

percent = Ìdá { $percent } nínú ọgọ́rùn-ún.

step = Ìgbésẹ̀ { $step }.

step-of = Ìgbésẹ̀ { $step } nínú { $total }.

progress-none = Iṣẹ́ ṣì ń lọ.

invoked = Ó ń pe { $tool }.

tool = irinṣẹ́ kan

with = Pẹ̀lú { $arguments }.

undo-warning = A kò lè yí èyí padà.

success = { $tool }: ó ti parí.

stopped = { $tool }: a dá a dúró.

stopped-early = { $tool }: a dá a dúró ṣáájú àkókò.

success-summary = { $call }: ó ti parí.

error-unnamed = àṣìṣe kan

error-mistake = àṣìṣe nínú aṣojú

error-several = Àṣìṣe { $count }, títí kan: { $name }

error = { $call }: ó kùnà.

error-reason = { $call }: ó kùnà: { $reason }

timeout = { $call }: kò parí. Ó ṣeé ṣe kó ti ṣẹlẹ̀. Yẹ̀ ẹ́ wò kí o tó tún gbìyànjú.

status = Ipò tó sọ ni: { $status }.

skipped = A kò ṣe é: { $action }: aṣojú kò dúró mọ́.

says = { $agent }:

says-quoted = Àyọlò láti ọ̀dọ̀ { $agent }:

agent = Aṣojú

agent-named = Aṣojú { $name }

session = { $work }: { $text }

notice = Ìfitónilétí.

notice-type = Ohun tí òǹkàwé yìí kò mọ̀: { $type }.

incomplete = Ìròyìn tí kò pé.

incomplete-prompt = A kò lè gbà á tàbí dáhùn rẹ̀ níbí.

cut = A gé e níbí, ó ku lẹ́tà { $count }.

## Prompts

confirm = Fìdí rẹ̀ múlẹ̀.

action-none = Aṣojú kò sọ ohun tó fẹ́ ṣe.

consequence = Bí o bá gbà á: { $consequence }

consequence-none = Aṣojú kò sọ ohun tó máa ṣẹlẹ̀.

consequence-unstated = Kò sí ẹni tó sọ ohun tí èyí máa yí padà. Kà á sí ohun tí a kò lè yí padà.

consequence-unknown = A kò sọ ohun tí èyí máa yí padà.

consequence-again = A kò sọ àbájáde rẹ̀.

risk-low = Ewu kékeré

risk-medium = Ewu ìwọ̀ntúnwọ̀nsì

risk-high = Ewu ńlá

risk-none = A kò sọ bí ewu ṣe tó: kà á sí ńlá

risk-unstated = Ewu tí a kò sọ

undo-irreversible = a kò lè yí i padà

undo-reversible_with_effort = ó ṣeé yí padà pẹ̀lú ìsapá

undo-reversible = ó ṣeé yí padà

undo-none = a kò sọ bóyá ó ṣeé yí padà

risk = { $risk }, { $undo }.

default-reject = A óò kọ̀ ọ́ lẹ́yìn { $duration } láìsí ìdáhùn.

default-accept = A óò gbà á lẹ́yìn { $duration } láìsí ìdáhùn.

default-reject-short = A óò kọ̀ ọ́ lẹ́yìn { $duration }.

default-accept-short = A óò gbà á lẹ́yìn { $duration }.

expired = Àkókò láti dáhùn ti kọjá.

unrefusable = Kò sí àǹfààní láti kọ̀.

unacceptable = Kò sí àǹfààní láti gbà.

uncut = Gbọ́ gbogbo ọ̀rọ̀ náà kí o tó lè gbà á: { $key }.

uncut-plain = Gbọ́ gbogbo ọ̀rọ̀ náà kí o tó lè gbà á.

rest = Ìtẹ̀síwájú: { $text }

rest-action = Ìtẹ̀síwájú ohun tó fẹ́ ṣe: { $text }

rest-consequence = Ìtẹ̀síwájú ohun tó máa ṣẹlẹ̀ bí o bá gbà á: { $text }

key = { $key } { $effect }

key-accept = gbà á

key-reject = kọ̀ ọ́

key-yes = bẹ́ẹ̀ni

key-no = rárá

key-more = púpọ̀ sí i

key-time = àkókò sí i

key-close = jáde

write = Tẹ { $words } tàbí { $last }.

write-one = Tẹ { $word }.

question = Ìbéèrè.

question-none = Aṣojú kò sọ ohun tó ń béèrè.

why = Ìdí rẹ̀: { $reason }

choice = { $number }: { $label }

kind-freetext = Dáhùn ní ọ̀rọ̀ ara rẹ.

kind-yes_no = Dáhùn { word-yes } tàbí { word-no }.

kind-numeric = Fi nọ́ńbà dáhùn.

time = Àkókò láti dáhùn: { $duration }.

time-default = Àkókò láti dáhùn: { $duration }, bí bẹ́ẹ̀ kọ́: { $answer }

longer = O ní { $duration } báyìí.

countdown = Àkókò tó kù láti dáhùn: { $duration }. { $action }

time_left = Àkókò tó kù láti dáhùn: { $duration }.

again = Lẹ́ẹ̀kan sí i.

still = Ó ṣì ń dúró dè ọ́.

other = Ìtọrọ mìíràn ń dúró dè ọ́.

prompt-waiting = Ìbéèrè mìíràn ń dúró.

about = Ohun tí ìyẹn dá lé nìyí: { $action }

flood = Ọ̀pọ̀ ìròyìn kánjúkánjú ń wọlé. Láti ìsinsìnyí wọn yóò dúró de àsìkò wọn.

## Values in what is asked

tool-use = Lo { $tool }.

with-nothing = kò sí ohun mìíràn

value-quoted = àyọlò { $value } òpin àyọlò

value-word = ọ̀rọ̀ náà { $word }

value-line = ìlà { $number }: { $text }

value-ending = nọ́ńbà tó parí pẹ̀lú { $digits }

value-empty = ọ̀rọ̀ òfìfo

value-blank = ọ̀rọ̀ tó jẹ́ àlàfo nìkan

value-invisible = aláìhàn { $character }

value-private = àmì àdáni { $character }

value-unknown = àmì àìmọ̀ { $character }

value-times = { $character }, ìgbà { $count }

value-none = kò sí nǹkan kan

value-yes = bẹ́ẹ̀ni

value-no = rárá

value-items =
    { $count ->
        [0] àkójọ òfìfo
       *[other] ohun { $count }: { $items }
    }

value-entries =
    { $count ->
        [0] kò sí àkọsílẹ̀
       *[other] àkọsílẹ̀ { $count }: { $items }
    }

value-parts =
    { $count ->
        [0] kò sí apá kankan
       *[other] apá { $count }: { $items }
    }

value-bytes = báìtì { $count }

value-digest = { $size }, SHA-256 bẹ̀rẹ̀ pẹ̀lú { $digest }

value-other = { $kind } kan

## Outcomes of prompts

outcome-accepted = A ti gbà á.

outcome-rejected = A ti kọ̀ ọ́.

outcome-answered = A ti dáhùn rẹ̀.

outcome-accepted-elsewhere = A ti gbà á níbòmíràn.

outcome-rejected-elsewhere = A ti kọ̀ ọ́ níbòmíràn.

outcome-answered-elsewhere = A ti dáhùn rẹ̀ níbòmíràn.

outcome-timed_out = Àkókò ti tán.

outcome-withdrawn = Aṣojú kò béèrè rẹ̀ mọ́.

outcome-unavailable = Kò ku ẹni tó lè dáhùn.

outcome-no_reply_channel = Kò sí ẹni tó lè dáhùn.

outcome-other = Ìtọrọ náà ti parí.

outcome-modified = Ohun mìíràn ni a fẹ́. Aṣojú ní láti tún béèrè.

outcome-granted = A kà á sí ohun tí a gbà.

outcome-defaulted = Aṣojú ń tẹ̀síwájú pẹ̀lú ìdáhùn tó dárúkọ.

outcome-unanswered = Aṣojú ń tẹ̀síwájú láìsí ìdáhùn.

outcome-longer = Àkókò ti pọ̀ sí i. A tún ń béèrè rẹ̀.

## Markdown

markdown-heading = Àkọlé: { $text }

markdown-bullet = Kókó: { $text }

markdown-bullet-nested = Kókó kékeré: { $text }

markdown-number = { $number }: { $text }

markdown-checked = A ti sàmì sí i: { $text }

markdown-unchecked = A kò sàmì sí i: { $text }

markdown-quote = Àyọlò: { $text }

markdown-code = Kóòdù

markdown-coming = ó ń bọ̀

markdown-lines = ìlà { $count }

markdown-table = Tábìlì: { $columns }.

markdown-cell = { $column }: { $cell }

markdown-image = Àwòrán: { $text }

markdown-picture = Àwòrán

## The connection

connected = A ti so pọ̀.

connected-name = A ti so pọ̀ mọ́ { $agent }.

reconnected = A ti tún so pọ̀.

gap = A ti tún so pọ̀. Nǹkan kan ti kọjá láàárín àkókò náà.

connection-lost = Ìsopọ̀ ti já. { $reason }

retrying = { $reason } A óò tún gbìyànjú ní ìṣẹ́jú-àáyá { $seconds }.

gave_up = A dáwọ́ ìgbìyànjú dúró lẹ́yìn { $duration } láìsí ìsopọ̀. { $reason }

resume-slow_consumer = A lọ́ra jù, a sì ń tẹ̀síwájú láti ibi tí a wà.

resume-authentication_expired = Ẹ̀rí ìwọlé wa ti parí àkókò. À ń fi èyí tí a ní báyìí hàn, a sì ń tẹ̀síwájú láti ibi tí a wà.

absent = { $agent } kò sí ní àrọ́wọ́tó báyìí.

absent-terse = { $agent } kò sí ní àrọ́wọ́tó.

absent-asking = Yóò gba ìdáhùn rẹ nígbà tó bá padà.

returned = { $agent } ti padà sí àrọ́wọ́tó.

waiting = À ń dúró. Èyí yóò tẹ̀síwájú fúnra rẹ̀.

connection-ended = Ìsopọ̀ ti dópin pátápátá. { $reason }

unreadable = Ohun kan wọlé tí a kò lè kà. Bí aṣojú bá ń béèrè nǹkan, ó ṣeé ṣe kó máa dúró de ìdáhùn.

no_answers = Aṣojú kò gba ìdáhùn láti ọ̀dọ̀ òǹkàwé yìí.

proven = { $agent } nìyí, pẹ̀lú ìbuwọ́lù kọ́kọ́rọ́ { $key }.

unproven = A kò fi ẹni tó jẹ́ hàn dájú.

unproven-local = Ìbuwọ́lù { $agent } ló wà lórí rẹ̀ pẹ̀lú kọ́kọ́rọ́ { $key }, ṣùgbọ́n ó lè jẹ́ olùmúlò mìíràn lórí ẹ̀rọ yìí ló ń fi í hàn.

refused = Aṣojú kọ ìsopọ̀: { $reason }

refused-code = Aṣojú kọ ìsopọ̀, { $code }: { $reason }

refused-code-only = Aṣojú kọ ìsopọ̀, { $code }.

closed-producer_shutdown = { $agent } ti parí.

closed-authentication_expired = Àyè ìwọlé rẹ ti parí àkókò. Tún so pọ̀ pẹ̀lú tuntun.

closed-slow_consumer = Òǹkàwé yìí lọ́ra jù. Tún so pọ̀ láti tẹ̀síwájú níbi tó dúró.

closed-superseded = Òǹkàwé mìíràn ti gba ipò.

closed-subscriber_shutdown = Òǹkàwé yìí ti dúró.

closed-rate_violation = Òǹkàwé yìí fi nǹkan ránṣẹ́ jù.

closed-protocol_error = Òǹkàwé yìí fi ohun tí a kò gbà láàyè ránṣẹ́.

closed-manifest_invalid = Ẹ̀gbẹ́ kejì kò lè fi ẹni tó jẹ́ hàn dájú.

closed-other = { $agent } fòpin sí ìsopọ̀: { $reason }.

arrived = Aṣojú tuntun: { $agent }.

discover-none = Kò tíì sí aṣojú tó ń ṣiṣẹ́. A óò máa fetí sí èyíkéyìí tó bá bẹ̀rẹ̀.

reconnected-name = A ti tún so pọ̀ mọ́ { $agent }.

gap-name = A ti tún so pọ̀ mọ́ { $agent }. Nǹkan kan ti kọjá láàárín àkókò náà.

connection-lost-name = Ìsopọ̀ mọ́ { $agent } ti já. { $reason }

connection-ended-name = Ìsopọ̀ mọ́ { $agent } ti dópin pátápátá. { $reason }

waiting-name = À ń dúró de { $agent }. Èyí yóò tẹ̀síwájú fúnra rẹ̀.

no_answers-name = { $agent } kò gba ìdáhùn láti ọ̀dọ̀ òǹkàwé yìí.

unread-name = Èyí jẹ́ nípa { $agent }.

asker-gone = Kò sí ìsopọ̀ mọ́ aṣojú tó béèrè mọ́.

## Why a connection is refused

refused-version_unsupported = kò lo ẹ̀yà ìlànà kankan tí a ń lò.

refused-manifest_invalid = a kò lè yẹ ẹ̀rí kan wò.

refused-manifest_signature_required = kò ní ẹ̀rí tí a buwọ́ lù nípa ẹni tó jẹ́.

refused-capabilities_incompatible = kò lè fúnni ní ohun tí a béèrè.

refused-rate_limit = ohun tí a ń béèrè lọ́wọ́ rẹ̀ pọ̀ jù báyìí.

refused-authentication_required = kò mọ ẹni tí a jẹ́.

refused-authentication_expired = ẹ̀rí ìwọlé wa ti parí àkókò.

refused-authorization_denied = a kò ní àyè láti wọlé.

refused-transport_unavailable = a kò lè lò ó báyìí ní ọ̀nà yìí.

refused-unknown = kò sọ ìdí kankan.

refused-slow_consumer = a lọ́ra jù.

refused-rate_violation = a fi nǹkan ránṣẹ́ jù.

refused-protocol_error = a fi ohun tí ìlànà kò gbà láàyè ránṣẹ́.

advice-version_unsupported = Lo ẹ̀yà àkójọ ètò yìí tó bá ti ẹ̀gbẹ́ kejì mu.

advice-manifest_invalid = Béèrè ẹ̀rí tó ṣeé yẹ̀ wò lọ́wọ́ ẹni tó ń bójú tó aṣojú.

advice-manifest_signature_required = Béèrè ẹ̀rí tí a buwọ́ lù nípa aṣojú lọ́wọ́ ẹni tó ń bójú tó o.

advice-capabilities_incompatible = Béèrè ohun tó dín kù, tàbí èdè tó wà.

advice-rate_limit = Tún gbìyànjú tó bá yá.

advice-authentication_required = Fi { $options } pèsè ẹ̀rí ìwọlé tó tọ́.

advice-authentication_expired = Tún so pọ̀ pẹ̀lú ẹ̀rí ìwọlé tuntun.

advice-authorization_denied = Béèrè àyè láti wọlé lọ́wọ́ ẹni tó ń bójú tó aṣojú.

advice-transport_unavailable = Tún gbìyànjú tó bá yá, tàbí lo ọ̀nà ìsopọ̀ mìíràn.

advice-slow_consumer = Béèrè ohun tó dín kù, tàbí kà á kíákíá sí i.

advice-rate_violation = Dín ìdáhùn àti àyípadà tí ò ń fi ránṣẹ́ kù.

advice-unknown = Béèrè ìtumọ̀ rẹ̀ lọ́wọ́ ẹni tó ń bójú tó aṣojú.

## At the terminal

attention = Àkíyèsí. { $text }

greeting-keys = Tẹ ? fún ìrànlọ́wọ́, q láti jáde.

greeting-lines = Tẹ { command-help } àti Enter fún ìrànlọ́wọ́.

greeting-pipe = Láìsí ìfọ̀rọ̀wérọ̀: a ń ka àṣẹ láti orísun àwọlé, ọ̀kan lórí ìlà kọ̀ọ̀kan.

greeting-none = Láìsí ìfọ̀rọ̀wérọ̀: a óò fi àwọn ìtọrọ hàn, a kò ní dáhùn wọn.

prompts-shown = A óò fi àwọn ìtọrọ hàn, a kò ní dáhùn wọn.

input-ended = Orísun àwọlé ti dópin. Ìfetísílẹ̀ ń tẹ̀síwájú.

goodbye = Ìfetísílẹ̀ ti dúró.

goodbye-open = Iye ìbéèrè tí a kò dáhùn: { $count }.

other_session = Iṣẹ́ mìíràn ń béèrè ohun tí a kò fi hàn níbí.

typed_before = Ohun tí a tẹ̀ ṣáájú ìlà yìí kò kà.

draft = Ohun tí ò ń kọ: { $text }

nothing_said = A kò tíì sọ nǹkan kan.

nothing_before = A kò sọ nǹkan kan ṣáájú ìyẹn.

nothing_after = Ìyẹn ló kẹ́yìn.

backlog = Ìròyìn { $count } sí i.

quiet-begin = Má ṣe yọ mí lẹ́nu. Ìbéèrè àti ìkìlọ̀ nìkan ni a óò sọ.

quiet-end =
    { $count ->
        [0] Kò sí ohun tó ṣẹlẹ̀ láàárín àkókò náà.
       *[other] Ìròyìn { $count } láàárín àkókò náà.
    }

quiet-hear-key = Tẹ f láti gbọ́ àkọ́kọ́.

quiet-hear-line = Tẹ { command-forward } láti gbọ́ àkọ́kọ́.

verbosity =
    { $verbosity ->
        [terse] Ìwọ̀n àlàyé: ṣókí.
        [detailed] Ìwọ̀n àlàyé: kíkún.
       *[normal] Ìwọ̀n àlàyé: déédéé.
    }

asking_time = À ń béèrè fún { $duration }.

sending-accept = À ń fi ránṣẹ́: gbà á.

sending-reject = À ń fi ránṣẹ́: kọ̀ ọ́.

sending = À ń fi ránṣẹ́: { $answer }

no_time = Aṣojú kò fúnni ní àkókò sí i.

unsent = A kò lè fi ránṣẹ́. { $reason }

still_open = Ìtọrọ náà ṣì wà ní ṣíṣí.

may_have_arrived = Ó pẹ́ jù, ó lè ti dé tàbí kó má tíì dé.

not_connected = Kò tíì sí ìsopọ̀.

speech-paused = Ọ̀rọ̀ sísọ ti dúró díẹ̀.

speech-nothing = Kò sí ohun tí a ń sọ lọ́wọ́.

speech-gone = Ọ̀rọ̀ sísọ ti lọ. Ọ̀rọ̀ kíkọ ń tẹ̀síwájú níbí.

speech-back = Ọ̀rọ̀ sísọ ti padà.

speech-no_voice = Kò sí ohùn fún èdè yìí níbí: { $language }. Ohùn èdè yìí la fi ń kà á: { $other }.

speech-none = A kì í sọ nǹkan kan jáde níbí.

speech-unavailable = Speech Dispatcher kò dáhùn. Fi í sórí ẹ̀rọ tàbí kí o bẹ̀rẹ̀ rẹ̀.

speech-none-prism = A nílò àkójọ Prism. Fi èyí gbé e sórí ẹ̀rọ: pip install prismatoid.

speech-address = SPEECHD_ADDRESS jẹ́ { $address }. Kọ unix_socket:path tàbí inet_socket:host:port.

speech-refused = Speech Dispatcher kò mọ { $value }.

braille-unavailable = Kò sí ohun tó dáhùn ní { $address }. Bẹ̀rẹ̀ BRLTTY tàbí kí o ṣètò BRLAPI_HOST. Lórí Debian: apt install brltty.

braille-library = Braille nílò liblouis, tí kò sí lórí ẹ̀rọ yìí. Lórí Debian: apt install liblouis20 liblouis-data.

speech-rate = Ọ̀rọ̀ { $count } ní ìṣẹ́jú kan.

## Answering

help-keys = Àwọn bọ́tìnì: a láti gbà, r láti kọ̀, m láti gbọ́ sí i, s láti tún gbọ́, o fún ìtọrọ tó kàn.

help-keys-more = v láti yí ìwọ̀n àlàyé padà, t láti béèrè àkókò sí i, q láti jáde, ? fún ìrànlọ́wọ́ yìí.

help-keys-history = b láti padà sẹ́yìn, f láti lọ síwájú. s lẹ́ẹ̀mejì láti gbọ́ gbogbo rẹ̀. d kí a má yọ ọ́ lẹ́nu.

help-second-key = Gbígbà nílò bọ́tìnì kejì bí ewu bá wà, tàbí bí ìtọrọ púpọ̀ bá wà ní ṣíṣí.

help-second-line = Gbígbà nílò ìlà kejì bí ewu bá wà, tàbí bí ìtọrọ púpọ̀ bá wà ní ṣíṣí.

help-answer = Fi nọ́ńbà dáhùn ìbéèrè, tàbí y tàbí n, lẹ́yìn náà Enter.

help-freetext = Láti dáhùn ní ọ̀rọ̀ ara rẹ tẹ Enter, kọ ọ́, kí o sì tún tẹ Enter.

help-lines = Àwọn àṣẹ, ọ̀kan lórí ìlà kọ̀ọ̀kan: { command-accept }, { command-reject }, { command-more }, { command-repeat }, { command-next }, { command-verbosity }, { command-time }, { command-quit }, { command-help }.

help-lines-history = Pẹ̀lú { command-back } àti { command-forward } o lè gba inú ohun tí a ti sọ kọjá. Pẹ̀lú { command-repeat } lẹ́ẹ̀mejì o máa gbọ́ gbogbo rẹ̀. Pẹ̀lú { command-quiet } a kò ní yọ ọ́ lẹ́nu.

help-next = Pẹ̀lú { command-next } o máa lọ sí ìtọrọ tó kàn.

help-answer-lines = Dáhùn ìbéèrè pẹ̀lú nọ́ńbà rẹ̀, { word-yes }, { word-no }, tàbí ọ̀rọ̀ ara rẹ.

help-command-answer = Láti fi ọ̀rọ̀ tó jẹ́ àṣẹ ránṣẹ́ bí ìdáhùn, tẹ { command-answer } ṣáájú rẹ̀.

several_open = Ìtọrọ { $count } ló wà ní ṣíṣí. Èyí ni ò ń dáhùn báyìí. { $hint }

prompt-hear-key = Tẹ o láti gbọ́ ọ.

prompt-hear-line = Tẹ { command-next } láti gbọ́ ọ.

next-key = Tẹ o fún ìtọrọ tó kàn.

next-line = Tẹ { command-next } fún ìtọrọ tó kàn.

still_answering = Èyí ni o ṣì ń dáhùn: { $action }

draft-unsent = A kò fi ohun tí ò ń kọ ránṣẹ́: { $text }

accept-void = A kò gba nǹkan kan níbí.

accept-taken_back = A ti fagi lé e. A kò gba nǹkan kan.

accept-second-key = A kò tíì gbà á. Tẹ y láti gba èyí: { $action } Bọ́tìnì mìíràn yóò fagi lé e.

accept-second-key-long = A kò tíì gbà á. Tẹ y láti gba ohun tó bẹ̀rẹ̀ báyìí: { $action } Bọ́tìnì mìíràn yóò fagi lé e.

accept-second-line = A kò tíì gbà á. Tẹ { word-yes } láti gba èyí: { $action } Ìlà mìíràn yóò fagi lé e.

accept-second-line-long = A kò tíì gbà á. Tẹ { word-yes } láti gba ohun tó bẹ̀rẹ̀ báyìí: { $action } Ìlà mìíràn yóò fagi lé e.

leaving-open = Iye ìbéèrè tó wà ní ṣíṣí: { $count }.

leaving-keys =
    { $count ->
       *[other] Tẹ l láti fi sílẹ̀ ní ṣíṣí, Escape láti dúró.
    }

leaving-keys-refuse =
    { $count ->
       *[other] Tẹ r láti kọ̀ kí o sì jáde, l láti fi sílẹ̀ ní ṣíṣí, Escape láti dúró.
    }

leaving-keys-some = Tẹ r láti kọ { $count } péré nínú wọn kí o sì jáde, l láti fi gbogbo wọn sílẹ̀ ní ṣíṣí, Escape láti dúró.

leaving-lines =
    { $count ->
       *[other] Tẹ { command-leave } láti fi sílẹ̀ ní ṣíṣí, { command-stay } láti dúró.
    }

leaving-lines-refuse =
    { $count ->
       *[other] Tẹ { command-refuse } láti kọ̀ kí o sì jáde, { command-leave } láti fi sílẹ̀ ní ṣíṣí, { command-stay } láti dúró.
    }

leaving-lines-some = Tẹ { command-refuse } láti kọ { $count } péré nínú wọn kí o sì jáde, { command-leave } láti fi gbogbo wọn sílẹ̀ ní ṣíṣí, { command-stay } láti dúró.

stay = O kò jáde. A kò dáhùn nǹkan kan.

keys-several = Bọ́tìnì púpọ̀ wọlé lẹ́ẹ̀kan náà. Kò sí èyí tó kà. Tẹ bọ́tìnì kan ṣoṣo lẹ́ẹ̀kan.

keys-unknown = Bọ́tìnì { $key } kò ṣe nǹkan kan níbí. Tẹ ? fún ìrànlọ́wọ́.

keys-too_soon = Bọ́tìnì yẹn yá jù, kò sì kà. Dúró díẹ̀, lẹ́yìn náà tẹ̀ ẹ́ lẹ́ẹ̀kan.

draft-begin = Kọ ìdáhùn rẹ. Enter yóò fi ránṣẹ́. Escape yóò fi sílẹ̀ láì fi ránṣẹ́.

draft-empty = A kò kọ nǹkan kan. A kò fi nǹkan kan ránṣẹ́.

draft-left = O fi sílẹ̀. A kò fi nǹkan kan ránṣẹ́.

draft-removed = A ti pa ohun tí o kọ rẹ́. Kọ ìdáhùn rẹ.

enter-prompt = Enter nìkan kò dáhùn nǹkan kan. Tẹ s láti tún gbọ́ ìtọrọ náà.

enter-nothing = Kò sí ohun tí a ó dáhùn. Tẹ ? fún ìrànlọ́wọ́.

line-empty = Ìlà òfìfo kò dáhùn nǹkan kan.

line-no_prompt = Kò sí ìtọrọ, nítorí náà ìlà yẹn kò dáhùn nǹkan kan. Tẹ { command-help } fún ìrànlọ́wọ́.

line-unknown = Ìlà yẹn kò yé wa. A kò fi nǹkan kan ránṣẹ́. Tẹ { command-accept }, { command-reject } tàbí { command-help }.

no_other = Kò sí ìtọrọ mìíràn tó wà ní ṣíṣí.

no_more_time = Kò sí àkókò mìíràn láti gbà.

time_asked = A ti béèrè àkókò sí i tẹ́lẹ̀.

cannot_reply = Òǹkàwé yìí kò lè dáhùn ìtọrọ. A kò fi nǹkan kan ránṣẹ́.

answer_sent = A ti fi ìdáhùn rẹ ránṣẹ́. Dúró de ohun tí aṣojú máa sọ.

nothing_to-accept = Kò sí ohun tí a ó gbà.

nothing_to-reject = Kò sí ohun tí a ó kọ̀.

nothing_to-answer = Kò sí ohun tí a ó dáhùn.

nothing_to-time = Kò sí ohun tó nílò àkókò sí i.

another_open = Ìtọrọ mìíràn wà ní ṣíṣí. { $hint }

is_question = Ìbéèrè ni èyí. { $hint }

answer-word = Láti fi ọ̀rọ̀ yẹn ránṣẹ́ bí ìdáhùn rẹ, tẹ { command-answer } ṣáájú rẹ̀.

answer-freetext = Tẹ Enter, kọ ìdáhùn rẹ, kí o sì tún tẹ Enter.

answer-own_words = Tẹ Enter kí o tó kọ ọ̀rọ̀ ara rẹ.

answer-impossible = A kò lè dáhùn ìbéèrè yìí níbí.

answer-forms = Dáhùn pẹ̀lú { $forms }, àti Enter.

answer-or = { $first } tàbí { $second }

answer-number = Nọ́ńbà tí kì í ṣe ọ̀kan lára àṣàyàn, kọ ọ́ pẹ̀lú = níwájú rẹ̀.

answer-unsent = A kò fi nǹkan kan ránṣẹ́. { $hint }

form-multiple_choice = nọ́ńbà àṣàyàn kan

form-yes_no = { word-yes } tàbí { word-no }

form-numeric = nọ́ńbà kan

form-freetext = ọ̀rọ̀ ara rẹ

help-speech = Àlàfo láti dá ọ̀rọ̀ sísọ dúró, p láti sinmi àti láti tẹ̀síwájú, k láti fò dé ìsinsìnyí, àmì ìdánudúró láti yára sí i, kọ́mà láti rọra sí i.

help-speech-lines = Pẹ̀lú { command-silence } ọ̀rọ̀ sísọ máa dópin, pẹ̀lú { command-pause } ó máa sinmi, á sì tún tẹ̀síwájú, pẹ̀lú { command-skip } ó máa fò dé ìsinsìnyí. { command-faster } àti { command-slower } náà wà.

line-too_soon = Ìyẹn yá jù, kò sì kà. Kọ́kọ́ gbọ́ ìtọrọ náà dé òpin.

## Settings

settings-line = A kò lè ka ìlà { $line } nínú ààtò, a kò sì lò ó: { $text }

settings-repeated = Ìlà { $line } nínú ààtò dárúkọ { $setting } lẹ́ẹ̀kejì. Èyí àkọ́kọ́ la lò.

settings-unknown = Ìlà { $line } nínú ààtò dárúkọ { $setting }, kò sì sí ààtò bẹ́ẹ̀.

settings-similar = Ṣé { $setting } ni o ní lọ́kàn?

settings-value = A kò lo ìlà { $line } nínú ààtò: { $setting } gbọ́dọ̀ jẹ́ { $expected }.

settings-variable = A kò lo oníyípadà { $variable }. Ó gbọ́dọ̀ jẹ́ { $expected }.

settings-more = A kò lo ìlà { $count } mìíràn nínú ààtò.

settings-unreadable = A kò lè ka ààtò, nítorí náà ààtò ìpilẹ̀ṣẹ̀ la lò. { $reason }

settings-missing = Kò sí fáìlì { $file }, nítorí náà ààtò ìpilẹ̀ṣẹ̀ la lò.

settings-encoding = Ìlà { $line } ní àmì tí kì í ṣe ti UTF-8.

settings-unsafe = Àwọn olùmúlò mìíràn lè yí { $file } padà, nítorí náà ààtò ìpilẹ̀ṣẹ̀ la lò. Lo chmod go-w lórí rẹ̀.

settings-stranger = Olùmúlò mìíràn ló ni { $file }, nítorí náà ààtò ìpilẹ̀ṣẹ̀ la lò.

settings-allow = A kò lè ka àwọn òfin inú ààtò rẹ, nítorí náà a óò béèrè nípa ohun gbogbo. { $reason }

## Words for sounds

earcon-sent = A ti fi ránṣẹ́.

earcon-working = Iṣẹ́ ń lọ.

earcon-done = Iṣẹ́ ti parí.

earcon-needs-you = Ó kàn ọ́.

earcon-error = Àṣìṣe.

## Coding agents

code-started = { $agent } ń ṣiṣẹ́.

code-run = Mú { $command } ṣiṣẹ́.

code-create = Ṣẹ̀dá { $file }, { $size }: { $text }.

code-change = Ṣàtúnṣe sí { $file }: fi { $added } kún un, yọ { $removed } kúrò.

code-change-nothing = Tún { $file } kọ láìsí àyípadà.

code-hunk-add = Ní ìlà { $line }, fi { $text } kún un.

code-hunk-remove = Ní ìlà { $line }, yọ { $text } kúrò.

code-hunk-replace = Ní ìlà { $line }, fi { $new } rọ́pò { $old }.

code-hunk-blank = Àlàfo tàbí ìparí ìlà nìkan ló yàtọ̀ níbẹ̀.

code-own_words = Aṣojú kò sọ ohun tó fẹ́ mú ṣiṣẹ́, èyí nìkan ló sọ: { $text }.

code-effect-run = Yóò ṣiṣẹ́ pẹ̀lú gbogbo ẹ̀tọ́ tí o ní.

code-effect-change = A óò kọ ọ̀rọ̀ sínú fáìlì náà.

code-effect-delete = Yóò parẹ́, àyàfi bí o bá ní ẹ̀dà rẹ̀.

code-effect-move = Ibòmíràn ni yóò wà.

code-effect-read = Aṣojú àti àwòṣe rẹ̀ yóò kà á.

code-effect-search = Aṣojú àti àwòṣe rẹ̀ yóò ka ohun tí wọ́n bá rí.

code-effect-think = Kò sí ohun tó máa yí padà.

code-effect-fetch = Àdírẹ́sì náà àti ohun tí a fi ránṣẹ́ síbẹ̀ yóò jáde kúrò nínú ẹ̀rọ yìí.

code-effect-switch_mode = Láti ìgbà náà, ó ṣeé ṣe kí aṣojú dín ohun tó ń béèrè lọ́wọ́ rẹ kù.

code-effect-other = A kò mọ ohun tí èyí máa yí padà. Kà á sí ohun tí a kò lè yí padà.

code-running = Ó ń mú { $command } ṣiṣẹ́.

code-creating = Ó ń ṣẹ̀dá { $file }.

code-changing = Ó ń ṣàtúnṣe sí { $file }.

code-reading = Ó ń ka { $file }.

code-searching = Ó ń wá { $text }.

code-described = Ní ọ̀rọ̀ aṣojú fúnra rẹ̀: { $text }.

code-using = Ó ń lo { $tool }.

code-ruled = Òfin tìrẹ ló gbà á láàyè. { $text }

code-unasked = Ìkìlọ̀. Ó ṣe èyí láìbéèrè: { $text }

code-unasked-failed = Ìkìlọ̀. Ó gbìyànjú èyí láìbéèrè, ó sì kùnà: { $text }

code-despite = Ìkìlọ̀. Ó ṣe èyí bó tilẹ̀ jẹ́ pé a kọ̀ ọ́: { $text }

code-stopping = À ń dá aṣojú dúró.

code-undescribed = ohun tí a kò lè ṣàlàyé

code-too_long = A ti kọ̀ ọ́: ó gùn jù láti kà jáde tán. { $text } Béèrè fún ìgbésẹ̀ kéékèèké.

code-unreadable = A ti kọ̀ ọ́: a kò lè kà á jáde tán, torí ó jọ pé àṣírí wà nínú rẹ̀. { $text }

code-unofferable = A ti kọ̀ ọ́: aṣojú kò pèsè ọ̀nà láti gba èyí láàyè lẹ́ẹ̀kan péré. { $text }

code-between = A ti kọ̀ ọ́: aṣojú béèrè èyí nígbà tí kò sí lẹ́nu iṣẹ́. { $text }

code-mode = Ọ̀nà ìṣiṣẹ́: { $mode }.

code-mode-unasked = Ìkìlọ̀. Ní ọ̀nà ìṣiṣẹ́ { $mode }, aṣojú ń ṣe nǹkan láìbéèrè.

code-mode-back = À ń dá a padà sí ti tẹ́lẹ̀.

code-mode-unknown = A kò mọ̀ bóyá aṣojú yìí máa ń béèrè kó tó ṣe nǹkan. A óò sọ ohun tó bá ṣe láìbéèrè, a ó sì dá a dúró nítorí rẹ̀.

code-subagent = Olùrànlọ́wọ́ { $name }: { $state }.

code-stop-refusal = Àwòṣe kọ̀ láti tẹ̀síwájú.

code-stop-max_tokens = Ìdáhùn náà gùn jù fún àwòṣe.

code-stop-max_turn_requests = Ó gbé ìgbésẹ̀ tó pọ̀ ju èyí tí a gbà á láàyè lọ.

code-stop-other = Ó dúró, kò sì sọ ìdí rẹ̀.

code-stop-error = Aṣojú ròyìn àṣìṣe kan.

code-stop-gone = Ètò aṣojú ti dópin.

code-stop-stuck = Kò dúró, nítorí náà a fòpin sí ètò rẹ̀.

code-stop-fault = Nǹkan kan kùnà nínú ètò yìí, nítorí náà a dá aṣojú dúró.

code-refused = Aṣojú fòpin sí àsìkò iṣẹ́ rẹ̀ lẹ́yìn tí a kọ ohun tó béèrè.

compose-begin = Kọ̀wé sí aṣojú. Enter yóò fi ránṣẹ́. Escape yóò fi sílẹ̀ di ìgbà mìíràn.

compose-left = O fi sílẹ̀. Tẹ p láti máa bá a lọ.

compose-left-empty = O fi sílẹ̀. A kò kọ nǹkan kan.

compose-removed = A ti pa ìlà náà rẹ́.

compose-joined = Ìlà tó ṣáájú:

compose-history-none = A kò tíì fi nǹkan kan ránṣẹ́.

compose-help = p tàbí Enter láti kọ̀wé sí aṣojú. Backslash ní ìparí yóò bẹ̀rẹ̀ ìlà mìíràn.

compose-help-history = h láti gbọ́ àkójọ ohun tí o fi ránṣẹ́. Ọfà òkè láti mú un padà. @orúkọ láti dárúkọ fáìlì.

compose-help-lines = Gbogbo ìlà mìíràn ni a óò fi ránṣẹ́ sí aṣojú, títí kan èyí tó bá tẹ̀ lé ọ̀rọ̀ náà prompt. Tẹ history láti gbọ́ àkójọ ohun tí o fi ránṣẹ́.

code-ready = { $agent } ti ṣetán. Tẹ p láti kọ̀wé sí i.

code-ready-lines = { $agent } ti ṣetán. Kọ̀wé sí i.

code-queued = Ó ṣì ń ṣiṣẹ́. Èyí ni a óò fi ránṣẹ́ tẹ̀ lé e.

code-interrupt = À ń dá a dúró. Tún tẹ Control-C láti parí.

code-interrupt-idle = Tún tẹ Control-C láti parí.

code-file = Pẹ̀lú fáìlì { $file }.

code-file-missing = Kò sí fáìlì { $file } níbí. A fi í ránṣẹ́ bí ọ̀rọ̀ lásán.

code-error = Aṣojú sọ pé: { $text }

code-last_words = Ọ̀rọ̀ ìkẹyìn rẹ̀ nìyí.

code-hint-again = Tún kọ̀wé sí i láti tẹ̀síwájú.

code-editor-allowed = A ti gbà á láàyè nínú ètò ìṣàtúnṣe. { $text }

code-editor-refused = A ti kọ̀ ọ́ nínú ètò ìṣàtúnṣe.

code-editor-done = Ó ti parí: { $text }

code-editor-failed = Ó kùnà: { $text }

code-editor-only = Inú ètò ìṣàtúnṣe nìkan ni a ti lè dáhùn èyí. { $text }

code-editor-fault = Nǹkan kan kùnà nínú ètò yìí. Aṣojú ń tẹ̀síwájú pẹ̀lú ètò ìṣàtúnṣe.

code-editor-gone = Ètò ìṣàtúnṣe ti dópin.

code-run-long = Mú àṣẹ tó ní { $size } ṣiṣẹ́.

code-create-long = Ṣẹ̀dá { $file }, { $size }.

code-write-long = Kọ ọ̀rọ̀ sínú { $file }, { $size }.

code-edit-long = Nínú { $file }, fi { $added } rọ́pò { $removed }.

code-kilobytes = kílóbáìtì { $count }

code-parts = { $overview } Gígùn rẹ̀ jẹ́ { $size }, ní apá { $count }. A kò ní ṣe nǹkan kan kí o tó gbọ́ gbogbo rẹ̀ tán. Ṣé kí a tẹ̀síwájú?

code-part = Apá { $number } nínú { $count }. { $text } Ṣé kí a tẹ̀síwájú?

code-part-last = { $overview } Èyí ni apá ìkẹyìn nínú { $count }. { $text }

code-part-line = Ìtẹ̀síwájú láti ìlà { $line }, níbí nọ́ńbà ìlà tún bẹ̀rẹ̀ láti 1: { $text }

code-part-word = Ìtẹ̀síwájú nínú ìlà { $line }: { $text }

code-part-middle = Ìtẹ̀síwájú nínú ìlà { $line }, láàárín ọ̀rọ̀ kan: { $text }

code-part-refused = A ti kọ̀ ọ́. A kò ṣe nǹkan kan. { $text }

## Braille

braille-no_table = Kò sí tábìlì Braille fún èdè { $language }. Lẹ́tà Gẹ̀ẹ́sì la lò.

braille-marks = Nínú Braille, kókó 8 ń tọ́ka sí lẹ́tà tó ní àmì tí kò sí nínú tábìlì.

braille-lost = Ojú ìfihàn Braille ti lọ. A óò tún fi ọ̀rọ̀ hàn nígbà tó bá padà.

braille-back = Ojú ìfihàn Braille ti padà.

braille-read_on = Kọ́kọ́ kà á dé òpin, lẹ́yìn náà o lè gbà á.

braille-choice = Enter yóò fi { $choice } ránṣẹ́

## Hooks of coding agents

hooks-started = { $agent } ń ṣiṣẹ́.


hooks-write = Kọ ọ̀rọ̀ sínú { $file }, { $size }: { $text }.

hooks-edit = Nínú { $file }, fi { $new } rọ́pò { $old }.

hooks-edit-all = Nínú { $file }, fi { $new } rọ́pò gbogbo { $old }.






hooks-terminal = Dáhùn lórí tẹ́mínà aṣojú. { $text }

hooks-terminal-unread = Dáhùn lórí tẹ́mínà aṣojú. Ó fẹ́ lo { $tool }, a kò sì lè kà á jáde tán.

hooks-refused-unread = A ti kọ̀ ọ́. Ó fẹ́ lo { $tool }, a kò sì lè kà á jáde tán.

hooks-terminal-allowed = A ti gbà á láàyè lórí tẹ́mínà aṣojú. { $text }

hooks-unasked = Ìkìlọ̀. Ó ṣe èyí láìbéèrè. { $text }

hooks-despite = Ìkìlọ̀. Ó ṣe èyí bó tilẹ̀ jẹ́ pé a kọ̀ ọ́. { $text }

hooks-undescribed = Ó lo { $tool }, a kò sì lè kà á jáde.

hooks-next = Iṣẹ́ mìíràn ti dé.

hooks-idle = { $agent } ń dúró de iṣẹ́ tó kàn láti ọ̀dọ̀ rẹ.

hooks-closed = A ti pa { $agent } dé.

## Falling behind

behind-key = Ọ̀rọ̀ sísọ ti pẹ́ lẹ́yìn: { $duration } ṣì ń dúró. Tẹ k láti fò dé ìsinsìnyí.

behind-line = Ọ̀rọ̀ sísọ ti pẹ́ lẹ́yìn: { $duration } ṣì ń dúró. Tẹ { command-skip } láti fò dé ìsinsìnyí.

behind-skipped = A ti fo ìròyìn { $count } kọjá.

behind-nothing = Kò sí ohun tí a ó fò kọjá. Ìsinsìnyí nìyí.

## Notifications of the desktop

greeting-daemon = À ń fetí sílẹ̀ ní abẹ́lẹ̀.

notifications-none = Kò sí ìfitónilétí níbí: kò sí ètò ojú kọ̀ǹpútà kankan tó dáhùn.

notifications-gone = Ìfitónilétí ti dópin: ojú kọ̀ǹpútà ti pa dé.

notification-answer = Dáhùn nínú tẹ́mínà: aaep listen

notification-title = { $agent } ń béèrè

notification-accept = Gbà á

notification-reject = Kọ̀ ọ́

## Durations

duration-moment = ohun tí kò tó ìṣẹ́jú-àáyá kan

duration-days = ọjọ́ { $count }

duration-hours = wákàtí { $count }

duration-minutes = ìṣẹ́jú { $count }

duration-seconds = ìṣẹ́jú-àáyá { $count }

duration-pair = { $first } àti { $second }

## Words that a person writes

command-accept = gba

command-reject = ko

command-refuse = ko

command-more = sii

command-repeat = tun

command-next = tokan

command-back = pada

command-forward = siwaju

command-quiet = dake

command-verbosity = alaye

command-time = akoko

command-quit = jade

command-help = iranlowo

command-answer = dahun

command-leave = fisile

command-stay = duro

word-yes = beeni

word-no = rara

command-silence = dekun

command-pause = sinmi

command-skip = fo

command-faster = yara

command-slower = rora

## Putting words together

list = { $first }, { $second }

list-long = { $first }; { $second }

decimal-sign = .

value-marks = àyọlò, òpin àyọlò, ayolo, opin ayolo

value-own_words = gbà, gba, gbígbà, fìdí, múlẹ̀, kọ̀, ko, òfìfo, àlàfo, ìlà, kékeré, ìwọ̀ntúnwọ̀nsì, ńlá, rárá, rara, bẹ́ẹ̀ni, beeni, nǹkan, àyọlò, ìpamọ́, ewu, padà, ìbéèrè

expected-word = { $words } tàbí { $last }

expected-whole_number = odidi nọ́ńbà láti { $lowest } dé { $highest }

expected-number = nọ́ńbà láti { $lowest } dé { $highest }

expected-languages = àtòjọ àmì èdè bíi en-GB

expected-texts = àtòjọ ọ̀rọ̀

expected-text = ọ̀rọ̀

## The language

language-name = Yorùbá

language-none = Òǹkàwé yìí kò ní ọ̀rọ̀ ní èdè yìí: { $languages }. { language-name } ló ń sọ.

## Why a connection is closed, to the other side

close-producer_shutdown = Ẹ̀gbẹ́ aṣojú ń pa dé.

close-authentication_expired = Ẹ̀rí ìwọlé òǹkàwé yìí kò kà mọ́. Tún so pọ̀ pẹ̀lú tuntun.

close-slow_consumer = Òǹkàwé kò lè bá a lọ. Tún so pọ̀ láti tẹ̀síwájú níbi tó dúró.

close-superseded = Òǹkàwé mìíràn ti gba ipò.

close-subscriber_shutdown = Òǹkàwé ti dúró.

close-rate_violation = Òǹkàwé fi nǹkan ránṣẹ́ jù.

close-protocol_error = Òǹkàwé fi ohun tí a kò gbà láàyè ránṣẹ́.

close-manifest_invalid = A kò lè fìdí ẹ̀rí kan múlẹ̀.

close-hub_shutdown = Ibùdó ìsopọ̀ ń pa dé.
