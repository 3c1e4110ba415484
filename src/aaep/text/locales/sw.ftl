# checked-by-speaker: no
# language: sw

## The work

started = Kazi imeanza.

part = Sehemu ya: { $parent }

completed = Imekamilika.

ended = Kazi imeisha.

undone = Halikufanyika: { $action }.

undone-more =
    { $count ->
        [one] Jingine 1 halikufanyika.
       *[other] Mengine { $count } hayakufanyika.
    }

possible = Huenda limefanyika: { $action }.

possible-more =
    { $count ->
        [one] Jingine 1 huenda limefanyika.
       *[other] Mengine { $count } huenda yamefanyika.
    }

possible-check = Hakikisha kabla ya kujaribu tena.

undone-failed = Limeshindikana: { $action }.

undone-failed-more =
    { $count ->
        [one] Jingine 1 limeshindikana.
       *[other] Mengine { $count } yameshindikana.
    }

failed-check = Hakikisha kilichofanyika kabla ya kujaribu tena.

errored = Kazi imeshindikana.

cancelled = Kazi imesimamishwa.

unfinished = Kazi haijakamilika.

tools =
    { $count ->
        [one] Zana 1 imetumika.
       *[other] Zana { $count } zimetumika.
    }

took = Imechukua { $duration }.

takes = Hii inachukua takriban { $duration }.

left = Muda uliobaki ni takriban { $duration }.

by-user = Mtumiaji ameisimamisha.

by-producer = Wakala ameisimamisha.

by-timeout = Imechukua muda mrefu mno.

by-system = Mfumo umeisimamisha.

partial = Hadi sasa: { $result }

code = Msimbo wa kosa { $code }.

category-transient = Kujaribu tena kunaweza kusaidia.

category-permanent = Kujaribu tena hakutasaidia.

category-requires_user = Lazima ufanye jambo fulani kwanza.

hint-transient = Kujaribu tena baadaye kunaweza kusaidia.

hint-permanent = Kujaribu tena hakutasaidia. Mwambie anayeendesha wakala.

hint-requires_user = Hakikisha kama wakala ana ruhusa ya kufanya hivi, kisha jaribu tena.

hint-unknown = Jaribu tena. Ikishindikana tena, mwambie anayeendesha wakala.

lost = Wakala amesimama ghafla. Kazi haijakamilika.

lost-hint = Hakikisha kilichofanyika kabla ya kumwanzisha tena.

lost-detailed = Wakala amesimama ghafla. Kazi haijakamilika. Alichokuwa ameanza huenda kimefanyika.

handoff-human = Kazi inakabidhiwa kwa mtu.

handoff-specialist_agent = Kazi inakabidhiwa kwa wakala mwingine.

handoff-escalation_queue = Kazi inakabidhiwa. Mtu ataishughulikia.

handoff-other = Kazi inakabidhiwa.

not_taken = Hakuna aliyepokea kazi.

## What goes on

state-idle = Hakuna kazi kwa sasa.

state-thinking = Anafikiri.

state-thinking-detailed = Anafikiri kuhusu hatua inayofuata.

state-calling_tool = Anatumia zana.

state-writing_output = Anaandika.

state-awaiting_input = Anakusubiri.

state-deciding = Anaamua.

state-deciding-detailed = Anaamua jinsi ya kuendelea.

state-handing_off = Anakabidhi kazi.

state-other = Sasa: { $state }.

state-unnamed = Sasa kuna jambo jingine.

resync = Yaliyopita hadi sasa.

percent = Asilimia { $percent }.

step = Hatua ya { $step }.

step-of = Hatua ya { $step } kati ya { $total }.

progress-none = Kazi bado inaendelea.

invoked = Anatumia { $tool }.

tool = zana

with = Pamoja na { $arguments }.

undo-warning = Hii haiwezi kutenduliwa.

success = { $tool }: imemaliza.

stopped = { $tool }: imesimamishwa.

stopped-early = { $tool }: imesimamishwa mapema.

success-summary = { $call }: imekamilika.

error-unnamed = kosa

error-mistake = kasoro ndani ya wakala

error-several =
    { $count ->
        [one] Kosa 1: { $name }
       *[other] Makosa { $count }: { $name } na mengine
    }

error = { $call }: imeshindikana.

error-reason = { $call }: imeshindikana: { $reason }

timeout = { $call }: haikukamilika. Huenda imefanyika. Hakikisha kabla ya kujaribu tena.

status = Hali iliyoripotiwa: { $status }.

skipped = Halikufanyika: { $action }: wakala aliacha kusubiri.

says = { $agent }:

says-quoted = Nukuu kutoka kwa { $agent }:

agent = Wakala

agent-named = Wakala { $name }

session = { $work }: { $text }

notice = Taarifa.

notice-type = Jambo ambalo kisomaji hiki hakilijui: { $type }.

incomplete = Ujumbe haujakamilika.

incomplete-prompt = Haliwezi kukubaliwa wala kujibiwa hapa.

cut =
    { $count ->
        [one] Imekatwa hapa, imebaki herufi 1.
       *[other] Imekatwa hapa, zimebaki herufi { $count }.
    }

## Prompts

confirm = Thibitisha.

action-none = Wakala hasemi angefanya nini.

consequence = Ukikubali: { $consequence }

consequence-none = Wakala hasemi nini kingetokea.

consequence-unstated = Hakuna aliyetaja hili linabadilisha nini. Lichukulie kuwa la mwisho.

consequence-unknown = Kinachobadilishwa na hili hakijatajwa.

consequence-again = Athari haijatajwa.

risk-low = Hatari ndogo

risk-medium = Hatari ya wastani

risk-high = Hatari kubwa

risk-none = Hatari haijatajwa: ichukulie kuwa kubwa

risk-unstated = Hatari isiyotajwa

undo-irreversible = haiwezi kutenduliwa

undo-reversible_with_effort = inaweza kutenduliwa kwa juhudi

undo-reversible = inaweza kutenduliwa

undo-none = kutendua hakujatajwa

risk = { $risk }, { $undo }.

default-reject = Litakataliwa baada ya { $duration } bila jibu.

default-accept = Litakubaliwa baada ya { $duration } bila jibu.

default-reject-short = Litakataliwa baada ya { $duration }.

default-accept-short = Litakubaliwa baada ya { $duration }.

expired = Muda wa kujibu umepita.

unrefusable = Hakuna chaguo la kukataa.

unacceptable = Hakuna chaguo la kukubali.

uncut = Sikiliza maandishi yote kabla ya kuweza kukubali: { $key }.

uncut-plain = Sikiliza maandishi yote kabla ya kuweza kukubali.

rest = Inaendelea: { $text }

rest-action = Kitendo kinaendelea: { $text }

rest-consequence = Kitakachotokea ukikubali kinaendelea: { $text }

key = { $key } { $effect }

key-accept = kubali

key-reject = kataa

key-yes = ndiyo

key-no = hapana

key-more = zaidi

key-time = muda zaidi

key-close = ondoka

write = Andika { $words } au { $last }.

write-one = Andika { $word }.

question = Swali.

question-none = Wakala hasemi anauliza nini.

why = Sababu: { $reason }

choice = { $number }: { $label }

kind-freetext = Jibu kwa maneno yako mwenyewe.

kind-yes_no = Jibu { word-yes } au { word-no }.

kind-numeric = Jibu kwa nambari.

time = Muda wa kujibu: { $duration }.

time-default = Muda wa kujibu: { $duration }, la sivyo: { $answer }

longer = Sasa una { $duration }.

countdown = Muda uliobaki wa kujibu: { $duration }. { $action }

time_left = Muda uliobaki wa kujibu: { $duration }.

again = Tena.

still = Bado unasubiriwa.

other = Ombi jingine linakusubiri.

prompt-waiting = Swali jingine linasubiri.

about = Hilo lilihusu hili: { $action }

flood = Ujumbe mwingi wa dharura unakuja. Kuanzia sasa unasubiri zamu yake.

## Values in what is asked

tool-use = Tumia { $tool }.

with-nothing = hakuna kingine

value-quoted = nukuu { $value } mwisho wa nukuu

value-word = neno { $word }

value-line = mstari { $number }: { $text }

value-ending = nambari inayoishia na { $digits }

value-empty = maandishi matupu

value-blank = maandishi ya nafasi tupu pekee

value-invisible = isiyoonekana { $character }

value-private = herufi ya binafsi { $character }

value-unknown = herufi isiyojulikana { $character }

value-times =
    { $count ->
        [one] { $character }
       *[other] { $character }, mara { $count }
    }

value-none = hakuna kitu

value-yes = ndiyo

value-no = hapana

value-items =
    { $count ->
        [0] orodha tupu
        [one] kipengee 1: { $items }
       *[other] vipengee { $count }: { $items }
    }

value-entries =
    { $count ->
        [0] hakuna maingizo
        [one] ingizo 1: { $items }
       *[other] maingizo { $count }: { $items }
    }

value-parts =
    { $count ->
        [0] hakuna sehemu
        [one] sehemu 1: { $items }
       *[other] sehemu { $count }: { $items }
    }

value-bytes =
    { $count ->
        [one] baiti 1
       *[other] baiti { $count }
    }

value-digest = { $size }, SHA-256 inaanza na { $digest }

value-other = kitu cha aina ya { $kind }

## Outcomes of prompts

outcome-accepted = Limekubaliwa.

outcome-rejected = Limekataliwa.

outcome-answered = Limejibiwa.

outcome-accepted-elsewhere = Limekubaliwa kwingine.

outcome-rejected-elsewhere = Limekataliwa kwingine.

outcome-answered-elsewhere = Limejibiwa kwingine.

outcome-timed_out = Muda umeisha.

outcome-withdrawn = Haliulizwi tena.

outcome-unavailable = Hakuna aliyebaki wa kujibu.

outcome-no_reply_channel = Hakuna anayeweza kujibu.

outcome-other = Ombi limefungwa.

outcome-modified = Kinatakiwa kitu kingine. Wakala lazima aulize tena.

outcome-granted = Linahesabiwa kuwa limekubaliwa.

outcome-defaulted = Wakala anaendelea na jibu alilolitaja.

outcome-unanswered = Wakala anaendelea bila jibu.

outcome-longer = Kuna muda zaidi. Linaulizwa tena.

## Markdown

markdown-heading = Kichwa: { $text }

markdown-bullet = Kitone: { $text }

markdown-bullet-nested = Kitone kidogo: { $text }

markdown-number = { $number }: { $text }

markdown-checked = Imetiwa alama: { $text }

markdown-unchecked = Haijatiwa alama: { $text }

markdown-quote = Nukuu: { $text }

markdown-code = Msimbo

markdown-coming = bado unaandikwa

markdown-lines =
    { $count ->
        [one] mstari 1
       *[other] mistari { $count }
    }

markdown-table = Jedwali: { $columns }.

markdown-cell = { $column }: { $cell }

markdown-image = Picha: { $text }

markdown-picture = Picha

## The connection

connected = Imeunganishwa.

connected-name = Imeunganishwa na { $agent }.

reconnected = Imeunganishwa tena.

gap = Imeunganishwa tena. Kuna kilichokosekana wakati huo.

connection-lost = Muunganisho umepotea. { $reason }

retrying =
    { $seconds ->
        [one] { $reason } Jaribio jingine baada ya sekunde 1.
       *[other] { $reason } Jaribio jingine baada ya sekunde { $seconds }.
    }

gave_up = Majaribio yameachwa baada ya { $duration } bila muunganisho. { $reason }

resume-slow_consumer = Tulikuwa polepole mno, na tunaendelea tulipofikia.

resume-authentication_expired = Kitambulisho chetu kimeisha muda. Tunaonyesha tulicho nacho sasa, na tunaendelea tulipofikia.

absent = { $agent } hapatikani kwa sasa.

absent-terse = { $agent } hapatikani.

absent-asking = Jibu lako litamfikia akirudi.

returned = { $agent } anapatikana tena.

waiting = Inasubiri. Hii itaendelea yenyewe.

connection-ended = Muunganisho umeisha kabisa. { $reason }

unreadable = Kimekuja kitu kisichosomeka. Ikiwa wakala anauliza jambo, huenda anasubiri jibu.

no_answers = Wakala hapokei majibu kutoka kwa kisomaji hiki.

proven = Huyu ni { $agent }, kwa sahihi ya ufunguo { $key }.

unproven = Utambulisho haujathibitishwa.

unproven-local = Ina sahihi ya { $agent } kwa ufunguo { $key }, lakini huenda mtumiaji mwingine wa mashine hii ndiye anayeionyesha.

refused = Wakala amekataa muunganisho: { $reason }

refused-code = Wakala amekataa muunganisho, { $code }: { $reason }

refused-code-only = Wakala amekataa muunganisho, { $code }.

closed-producer_shutdown = { $agent } amemaliza kazi.

closed-authentication_expired = Ruhusa yako ya kuingia imeisha muda. Unganisha tena kwa ruhusa mpya.

closed-slow_consumer = Kisomaji hiki kilikuwa polepole mno. Unganisha tena ili kuendelea kilipoishia.

closed-superseded = Kisomaji kingine kimechukua nafasi.

closed-subscriber_shutdown = Kisomaji hiki kimesimama.

closed-rate_violation = Kisomaji hiki kimetuma mengi mno.

closed-protocol_error = Kisomaji hiki kimetuma kitu kisichoruhusiwa.

closed-manifest_invalid = Upande wa pili haukuweza kuthibitisha utambulisho wake.

closed-other = { $agent } amekata muunganisho: { $reason }.

arrived = Wakala mpya: { $agent }.

discover-none = Bado hakuna wakala anayefanya kazi. Kila anayeanza anasikilizwa.

reconnected-name = Imeunganishwa tena na { $agent }.

gap-name = Imeunganishwa tena na { $agent }. Kuna kilichokosekana wakati huo.

connection-lost-name = Muunganisho na { $agent } umepotea. { $reason }

connection-ended-name = Muunganisho na { $agent } umeisha kabisa. { $reason }

waiting-name = Inasubiri { $agent }. Hii itaendelea yenyewe.

no_answers-name = { $agent } hapokei majibu kutoka kwa kisomaji hiki.

unread-name = Hii inahusu { $agent }.

asker-gone = Hakuna tena muunganisho na wakala aliyeuliza.

## Why a connection is refused

refused-version_unsupported = hatumii toleo lolote la itifaki tunalotumia.

refused-manifest_invalid = uthibitisho haukuweza kukaguliwa.

refused-manifest_signature_required = hana uthibitisho wa utambulisho wenye sahihi.

refused-capabilities_incompatible = hawezi kutoa tulichoomba.

refused-rate_limit = anaombwa mengi mno kwa sasa.

refused-authentication_required = hajui sisi ni nani.

refused-authentication_expired = kitambulisho chetu kimeisha muda.

refused-authorization_denied = hatuna ruhusa ya kuingia.

refused-transport_unavailable = hawezi kutumika kwa njia hii kwa sasa.

refused-unknown = hataji sababu.

refused-slow_consumer = tulikuwa polepole mno.

refused-rate_violation = tumetuma mengi mno.

refused-protocol_error = tumetuma kisichoruhusiwa na itifaki.

advice-version_unsupported = Tumia toleo la maktaba hii linaloendana na toleo la upande wa pili.

advice-manifest_invalid = Mwombe anayeendesha wakala uthibitisho unaoweza kukaguliwa.

advice-manifest_signature_required = Mwombe anayeendesha wakala uthibitisho wa utambulisho wenye sahihi.

advice-capabilities_incompatible = Omba machache zaidi, au lugha iliyopo.

advice-rate_limit = Jaribu tena baadaye.

advice-authentication_required = Toa kitambulisho halali kwa { $options }.

advice-authentication_expired = Unganisha tena kwa kitambulisho kipya.

advice-authorization_denied = Mwombe anayeendesha wakala ruhusa ya kuingia.

advice-transport_unavailable = Jaribu tena baadaye, au tumia njia nyingine ya kuunganisha.

advice-slow_consumer = Omba machache zaidi, au soma haraka zaidi.

advice-rate_violation = Tuma majibu na mabadiliko machache zaidi.

advice-unknown = Muulize anayeendesha wakala maana yake.

## At the terminal

attention = Tahadhari. { $text }

greeting-keys = Bonyeza ? kwa msaada, q kuondoka.

greeting-lines = Andika { command-help } na Enter kwa msaada.

greeting-pipe = Bila mazungumzo: amri zinasomwa kutoka ingizo sanifu, moja kwa kila mstari.

greeting-none = Bila mazungumzo: maombi yataonyeshwa na hayatajibiwa.

prompts-shown = Maombi yataonyeshwa na hayatajibiwa.

input-ended = Ingizo sanifu limeisha. Kusikiliza kunaendelea.

goodbye = Kusikiliza kumesimama.

goodbye-open =
    { $count ->
        [one] Swali 1 halikujibiwa.
       *[other] Maswali { $count } hayakujibiwa.
    }

other_session = Kazi nyingine inauliza jambo ambalo halionyeshwi hapa.

typed_before = Kilichoandikwa kabla ya mstari huu hakihesabiwi.

draft = Ulikuwa unaandika: { $text }

nothing_said = Bado hakuna kilichosemwa.

nothing_before = Hakuna kilichosemwa kabla ya hapo.

nothing_after = Hilo lilikuwa la mwisho.

backlog =
    { $count ->
        [one] Taarifa nyingine 1.
       *[other] Taarifa nyingine { $count }.
    }

quiet-begin = Usisumbue. Maswali na maonyo pekee yanasemwa.

quiet-end =
    { $count ->
        [0] Hakuna kilichotokea wakati huo.
        [one] Taarifa 1 wakati huo.
       *[other] Taarifa { $count } wakati huo.
    }

quiet-hear-key = Bonyeza f kusikia ya kwanza.

quiet-hear-line = Andika { command-forward } kusikia ya kwanza.

verbosity =
    { $verbosity ->
        [terse] Kiwango cha maelezo: kifupi.
        [detailed] Kiwango cha maelezo: kirefu.
       *[normal] Kiwango cha maelezo: kawaida.
    }

asking_time = Muda unaoombwa: { $duration }.

sending-accept = Inatumwa: kubali.

sending-reject = Inatumwa: kataa.

sending = Inatumwa: { $answer }

no_time = Wakala hatoi muda zaidi.

unsent = Haikuweza kutumwa. { $reason }

still_open = Ombi bado liko wazi.

may_have_arrived = Imechukua muda mrefu mno, na huenda imefika au haikufika.

not_connected = Bado hakuna muunganisho.

speech-paused = Usemaji umesitishwa kwa muda.

speech-nothing = Hakuna kinachosemwa sasa.

speech-gone = Usemaji umepotea. Maandishi yanaendelea hapa.

speech-back = Usemaji umerudi.

speech-no_voice = Hakuna sauti ya lugha hii hapa: { $language }. Inasomwa kwa sauti ya lugha hii: { $other }.

speech-none = Hakuna kinachosemwa kwa sauti hapa.

speech-unavailable = Speech Dispatcher haijibu. Isakinishe au iwashe.

speech-none-prism = Maktaba ya Prism inahitajika. Isakinishe kwa: pip install prismatoid.

speech-address = SPEECHD_ADDRESS ni { $address }. Andika unix_socket:path au inet_socket:host:port.

speech-refused = Speech Dispatcher haijui { $value }.

braille-unavailable = Hakuna kinachojibu kwenye { $address }. Washa BRLTTY au weka BRLAPI_HOST. Kwenye Debian: apt install brltty.

braille-library = Nukta nundu inahitaji liblouis, ambayo haijasakinishwa. Kwenye Debian: apt install liblouis20 liblouis-data.

speech-rate = Maneno { $count } kwa dakika.

## Answering

help-keys = Vitufe: a kukubali, r kukataa, m kusikia zaidi, s kusikia tena, o kwenda ombi linalofuata lililo wazi.

help-keys-more = v kubadilisha kiwango cha maelezo, t kuomba muda zaidi, q kuondoka, ? kusikia msaada huu.

help-keys-history = b kurudi nyuma, f kwenda mbele. s mara mbili kusikia yote. d kutosumbuliwa.

help-second-key = Kukubali kunahitaji kitufe cha pili ikiwa kuna hatari, au ikiwa maombi kadhaa yako wazi.

help-second-line = Kukubali kunahitaji mstari wa pili ikiwa kuna hatari, au ikiwa maombi kadhaa yako wazi.

help-answer = Jibu swali kwa nambari yake, au y au n, kisha Enter.

help-freetext = Ili kujibu kwa maneno yako bonyeza Enter, andika, na bonyeza Enter tena.

help-lines = Amri, moja kwa kila mstari: { command-accept }, { command-reject }, { command-more }, { command-repeat }, { command-next }, { command-verbosity }, { command-time }, { command-quit }, { command-help }.

help-lines-history = Kwa { command-back } na { command-forward } unapitia yaliyosemwa. Kwa { command-repeat } mara mbili unasikia yote. Kwa { command-quiet } husumbuliwi.

help-next = Kwa { command-next } unaenda ombi linalofuata lililo wazi.

help-answer-lines = Jibu swali kwa nambari yake, { word-yes }, { word-no }, au maneno yako mwenyewe.

help-command-answer = Maneno ambayo ni amri yanatumwa kama jibu kwa kuandika { command-answer } mbele yake.

several_open =
    { $count ->
        [one] Ombi 1 liko wazi. Sasa unajibu hili. { $hint }
       *[other] Maombi { $count } yako wazi. Sasa unajibu hili. { $hint }
    }

prompt-hear-key = Bonyeza o kulisikia.

prompt-hear-line = Andika { command-next } kulisikia.

next-key = Bonyeza o kwa ombi linalofuata.

next-line = Andika { command-next } kwa ombi linalofuata.

still_answering = Bado unajibu hili: { $action }

draft-unsent = Ulichokuwa unaandika hakikutumwa: { $text }

accept-void = Hakuna kilichokubaliwa hapa.

accept-taken_back = Imerudishwa. Hakuna kilichokubaliwa.

accept-second-key = Bado halijakubaliwa. Bonyeza y kukubali hili: { $action } Kitufe kingine chochote kinaghairi.

accept-second-key-long = Bado halijakubaliwa. Bonyeza y kukubali linaloanza hivi: { $action } Kitufe kingine chochote kinaghairi.

accept-second-line = Bado halijakubaliwa. Andika { word-yes } kukubali hili: { $action } Mstari mwingine wowote unaghairi.

accept-second-line-long = Bado halijakubaliwa. Andika { word-yes } kukubali linaloanza hivi: { $action } Mstari mwingine wowote unaghairi.

leaving-open =
    { $count ->
        [one] Swali 1 liko wazi.
       *[other] Maswali { $count } yako wazi.
    }

leaving-keys =
    { $count ->
        [one] Bonyeza l kuliacha wazi, Escape kubaki.
       *[other] Bonyeza l kuyaacha wazi, Escape kubaki.
    }

leaving-keys-refuse =
    { $count ->
        [one] Bonyeza r kulikataa na kuondoka, l kuliacha wazi, Escape kubaki.
       *[other] Bonyeza r kuyakataa na kuondoka, l kuyaacha wazi, Escape kubaki.
    }

leaving-keys-some = Bonyeza r kukataa { $count } tu kati yake na kuondoka, l kuyaacha yote wazi, Escape kubaki.

leaving-lines =
    { $count ->
        [one] Andika { command-leave } kuliacha wazi, { command-stay } kubaki.
       *[other] Andika { command-leave } kuyaacha wazi, { command-stay } kubaki.
    }

leaving-lines-refuse =
    { $count ->
        [one] Andika { command-refuse } kulikataa na kuondoka, { command-leave } kuliacha wazi, { command-stay } kubaki.
       *[other] Andika { command-refuse } kuyakataa na kuondoka, { command-leave } kuyaacha wazi, { command-stay } kubaki.
    }

leaving-lines-some = Andika { command-refuse } kukataa { $count } tu kati yake na kuondoka, { command-leave } kuyaacha yote wazi, { command-stay } kubaki.

stay = Umebaki. Hakuna kilichojibiwa.

keys-several = Vitufe kadhaa vimekuja pamoja. Hakuna kinachohesabiwa. Bonyeza kitufe kimoja kwa wakati.

keys-unknown = Kitufe { $key } hakifanyi chochote hapa. Bonyeza ? kwa msaada.

keys-too_soon = Kitufe hicho kimekuja mapema mno na hakihesabiwi. Subiri kidogo, kisha kibonyeze mara moja.

draft-begin = Andika jibu lako. Enter inalituma. Escape inaliacha bila kutuma.

draft-empty = Hakuna kilichoandikwa. Hakuna kilichotumwa.

draft-left = Umeacha kuandika. Hakuna kilichotumwa.

draft-removed = Ulichoandika kimefutwa. Andika jibu lako.

enter-prompt = Enter pekee haijibu chochote. Bonyeza s kusikia ombi tena.

enter-nothing = Hakuna cha kujibu. Bonyeza ? kwa msaada.

line-empty = Mstari mtupu haujibu chochote.

line-no_prompt = Hakuna ombi, kwa hiyo mstari huo haujibu chochote. Andika { command-help } kwa msaada.

line-unknown = Mstari huo haukueleweka. Hakuna kilichotumwa. Andika { command-accept }, { command-reject } au { command-help }.

no_other = Hakuna ombi jingine lililo wazi.

no_more_time = Hakuna muda zaidi wa kupata.

time_asked = Muda zaidi umeshaombwa.

cannot_reply = Kisomaji hiki hakiwezi kujibu maombi. Hakuna kilichotumwa.

answer_sent = Jibu lako limetumwa. Subiri wakala atasema nini.

nothing_to-accept = Hakuna cha kukubali.

nothing_to-reject = Hakuna cha kukataa.

nothing_to-answer = Hakuna cha kujibu.

nothing_to-time = Hakuna kinachohitaji muda zaidi.

another_open = Ombi jingine liko wazi. { $hint }

is_question = Hili ni swali. { $hint }

answer-word = Ili kutuma neno hilo kama jibu lako, andika { command-answer } mbele yake.

answer-freetext = Bonyeza Enter, andika jibu lako, na bonyeza Enter tena.

answer-own_words = Bonyeza Enter kabla ya kuandika maneno yako mwenyewe.

answer-impossible = Swali hili haliwezi kujibiwa hapa.

answer-forms = Jibu kwa { $forms }, kisha Enter.

answer-or = { $first } au { $second }

answer-number = Nambari ambayo si chaguo inaandikwa na = mbele yake.

answer-unsent = Hakuna kilichotumwa. { $hint }

form-multiple_choice = nambari ya chaguo

form-yes_no = { word-yes } au { word-no }

form-numeric = nambari

form-freetext = maneno yako mwenyewe

help-speech = Nafasi kusimamisha usemaji, p kuusitisha na kuuendeleza, k kuruka hadi sasa, nukta kuongeza kasi, mkato kupunguza kasi.

help-speech-lines = Kwa { command-silence } usemaji unasimama, kwa { command-pause } unasitishwa na kuendelea, kwa { command-skip } unaruka hadi sasa. Kuna pia { command-faster } na { command-slower }.

line-too_soon = Hilo limekuja mapema mno na halihesabiwi. Kwanza sikiliza ombi hadi mwisho.

## Settings

settings-line = Mstari wa { $line } wa mipangilio hausomeki, na hauhesabiwi: { $text }

settings-repeated = Mstari wa { $line } wa mipangilio unataja { $setting } mara ya pili. Ya kwanza ndiyo inayohesabiwa.

settings-unknown = Mstari wa { $line } wa mipangilio unataja { $setting }, na hakuna mpangilio kama huo.

settings-similar = Je, ulimaanisha { $setting }?

settings-value = Mstari wa { $line } wa mipangilio hauhesabiwi: { $setting } lazima iwe { $expected }.

settings-variable = Kigeu { $variable } hakihesabiwi. Lazima kiwe { $expected }.

settings-more =
    { $count ->
        [one] Mstari mwingine 1 wa mipangilio hauhesabiwi.
       *[other] Mistari mingine { $count } ya mipangilio haihesabiwi.
    }

settings-unreadable = Mipangilio haisomeki, kwa hiyo mipangilio chaguomsingi inatumika. { $reason }

settings-missing = Hakuna faili { $file }, kwa hiyo mipangilio chaguomsingi inatumika.

settings-encoding = Mstari wa { $line } una herufi zisizo za UTF-8.

settings-unsafe = Watumiaji wengine wanaweza kubadilisha { $file }, kwa hiyo mipangilio chaguomsingi inatumika. Tekeleza chmod go-w kwenye faili hiyo.

settings-stranger = { $file } ni ya mtumiaji mwingine, kwa hiyo mipangilio chaguomsingi inatumika.

settings-allow = Kanuni za mipangilio yako hazisomeki, kwa hiyo kila jambo linaulizwa. { $reason }

## Words for sounds

earcon-sent = Imetumwa.

earcon-working = Kazi inaendelea.

earcon-done = Tayari.

earcon-needs-you = Zamu yako.

earcon-error = Hitilafu.

## Coding agents

code-started = { $agent } anafanya kazi.

code-run = Tekeleza { $command }.

code-create = Unda { $file }, { $size }: { $text }.

code-change = Badilisha { $file }: kuongeza { $added }, kuondoa { $removed }.

code-change-nothing = Andika { $file } tena bila mabadiliko.

code-hunk-add = Kwenye mstari wa { $line }, ongeza { $text }.

code-hunk-remove = Kwenye mstari wa { $line }, ondoa { $text }.

code-hunk-replace = Kwenye mstari wa { $line }, badilisha { $old } kuwa { $new }.

code-hunk-blank = Tofauti iliyopo hapo ni ya nafasi au mipaka ya mistari pekee.

code-own_words = Wakala hasemi anatekeleza nini, anasema hili tu: { $text }.

code-effect-run = Itatekelezwa ikiwa na haki zako zote.

code-effect-change = Faili itaandikwa.

code-effect-delete = Itatoweka, isipokuwa kama una nakala.

code-effect-move = Itakuwa mahali pengine.

code-effect-read = Wakala na modeli yake wataisoma.

code-effect-search = Wakala na modeli yake watasoma kitakachopatikana.

code-effect-think = Hakuna kinachobadilishwa.

code-effect-fetch = Anwani na kinachotumwa huko vitatoka nje ya mashine hii.

code-effect-switch_mode = Kuanzia hapo huenda wakala akauliza kuhusu mambo machache kuliko sasa.

code-effect-other = Haijulikani hili linabadilisha nini. Lichukulie kuwa la mwisho.

code-running = Anatekeleza { $command }.

code-creating = Anaunda { $file }.

code-changing = Anabadilisha { $file }.

code-reading = Anasoma { $file }.

code-searching = Anatafuta { $text }.

code-described = Kwa maneno yake mwenyewe: { $text }.

code-using = Anatumia zana { $tool }.

code-ruled = Limeruhusiwa na kanuni yako mwenyewe. { $text }

code-unasked = Onyo. Amefanya hili bila kuuliza: { $text }

code-unasked-failed = Onyo. Amejaribu hili bila kuuliza, na limeshindikana: { $text }

code-despite = Onyo. Amefanya hili ingawa lilikataliwa: { $text }

code-stopping = Wakala anasimamishwa.

code-undescribed = jambo lisiloweza kuelezwa

code-too_long = Limekataliwa: ni refu mno kusomwa lote. { $text } Omba hatua ndogo zaidi.

code-unreadable = Limekataliwa: haliwezi kusomwa lote, kwa kuwa linaonekana kuwa na siri. { $text }

code-unofferable = Limekataliwa: wakala hatoi njia ya kuruhusu hili mara moja tu. { $text }

code-between = Limekataliwa: wakala ameomba hili wakati hakuwa kazini. { $text }

code-mode = Hali ya kazi: { $mode }.

code-mode-unasked = Onyo. Katika hali ya kazi { $mode } wakala anatenda bila kuuliza.

code-mode-back = Hali ya awali inarudishwa.

code-mode-unknown = Haijulikani kama wakala huyu huuliza kabla ya kutenda. Anachofanya bila kuuliza kinatajwa, na kinamsimamisha.

code-subagent = Msaidizi { $name }: { $state }.

code-stop-refusal = Modeli inakataa kuendelea.

code-stop-max_tokens = Jibu limekuwa refu mno kwa modeli.

code-stop-max_turn_requests = Amechukua hatua nyingi kuliko anazoruhusiwa.

code-stop-other = Amesimama, na hasemi kwa nini.

code-stop-error = Wakala anaripoti kosa.

code-stop-gone = Programu ya wakala imeisha.

code-stop-stuck = Hakusimama, kwa hiyo programu yake imekatishwa.

code-stop-fault = Kitu fulani katika programu hii kimeshindikana, kwa hiyo wakala amesimamishwa.

code-refused = Wakala amemaliza zamu yake baada ya kukataliwa.

compose-begin = Mwandikie wakala. Enter inatuma. Escape inaacha kwa ajili ya baadaye.

compose-left = Umeacha kuandika. Bonyeza p kuendelea.

compose-left-empty = Umeacha kuandika. Hakuna kilichoandikwa.

compose-removed = Mstari umefutwa.

compose-joined = Mstari uliotangulia:

compose-history-none = Bado hakuna kilichotumwa.

compose-help = p au Enter kumwandikia wakala. Mkwaju wa nyuma mwishoni unaanza mstari mwingine.

compose-help-history = h kuorodhesha ulichotuma. Mshale wa juu kukirudisha. @jina kutaja faili.

compose-help-lines = Mstari mwingine wowote unatumwa kwa wakala, hata baada ya neno prompt. Neno history linaorodhesha ulichotuma.

code-ready = { $agent } yuko tayari. Bonyeza p kumwandikia.

code-ready-lines = { $agent } yuko tayari. Mwandikie.

code-queued = Bado anafanya kazi. Hili litatumwa baada ya hapo.

code-interrupt = Anasimamishwa. Bonyeza Control-C tena kumaliza.

code-interrupt-idle = Bonyeza Control-C tena kumaliza.

code-file = Pamoja na faili { $file }.

code-file-missing = Hakuna faili { $file } hapa. Imetumwa kama neno.

code-error = Wakala anasema: { $text }

code-last_words = Maneno yake ya mwisho ni haya.

code-hint-again = Mwandikie tena ili kuendelea.

code-editor-allowed = Limeruhusiwa kwenye kihariri. { $text }

code-editor-refused = Limekataliwa kwenye kihariri.

code-editor-done = Limemalizika: { $text }

code-editor-failed = Limeshindikana: { $text }

code-editor-only = Hili linaweza kujibiwa kwenye kihariri pekee. { $text }

code-editor-fault = Kitu fulani katika programu hii kimeshindikana. Wakala anaendelea na kihariri.

code-editor-gone = Kihariri kimefungwa.

code-run-long = Tekeleza amri yenye { $size }.

code-create-long = Unda { $file }, { $size }.

code-write-long = Andika { $file }, { $size }.

code-edit-long = Ndani ya { $file }, badilisha { $removed } kuwa { $added }.

code-kilobytes =
    { $count ->
        [one] kilobaiti 1
       *[other] kilobaiti { $count }
    }

code-parts =
    { $count ->
        [one] { $overview } Urefu ni { $size }, katika sehemu 1. Hakuna kitakachofanyika kabla hujaisikia. Je, tuendelee?
       *[other] { $overview } Urefu ni { $size }, katika sehemu { $count }. Hakuna kitakachofanyika kabla hujazisikia zote. Je, tuendelee?
    }

code-part = Sehemu ya { $number } kati ya { $count }. { $text } Je, tuendelee?

code-part-last = { $overview } Hii ni sehemu ya mwisho kati ya { $count }. { $text }

code-part-line = Inaendelea na mstari wa { $line }, unaohesabiwa hapa tena kuanzia 1: { $text }

code-part-word = Inaendelea ndani ya mstari wa { $line }: { $text }

code-part-middle = Inaendelea ndani ya mstari wa { $line }, katikati ya neno: { $text }

code-part-refused = Limekataliwa. Hakuna kilichofanyika. { $text }

## Braille

braille-no_table = Hakuna jedwali la nukta nundu la lugha { $language }. Herufi za Kiingereza zinatumika.

braille-marks = Katika nukta nundu, nukta ya 8 inaonyesha herufi yenye alama ambayo haimo kwenye jedwali.

braille-lost = Kionyeshi cha nukta nundu kimepotea. Kikirudi, maandishi yataonyeshwa tena.

braille-back = Kionyeshi cha nukta nundu kimerudi.

braille-read_on = Kwanza soma hadi mwisho, kisha unaweza kukubali.

braille-choice = Enter inatuma { $choice }

## Hooks of coding agents

hooks-started = { $agent } anafanya kazi.


hooks-write = Andika { $file }, { $size }: { $text }.

hooks-edit = Ndani ya { $file }, badilisha { $old } kuwa { $new }.

hooks-edit-all = Ndani ya { $file }, badilisha kila { $old } kuwa { $new }.






hooks-terminal = Jibu kwenye terminali yake. { $text }

hooks-terminal-unread = Jibu kwenye terminali yake. Anataka kutumia { $tool }, na hilo haliwezi kusomwa lote.

hooks-refused-unread = Limekataliwa. Anataka kutumia { $tool }, na hilo haliwezi kusomwa lote.

hooks-terminal-allowed = Limeruhusiwa kwenye terminali yake. { $text }

hooks-unasked = Onyo. Amefanya hili bila kuuliza. { $text }

hooks-despite = Onyo. Amefanya hili ingawa lilikataliwa. { $text }

hooks-undescribed = Ametumia { $tool }, na hilo haliwezi kusomwa.

hooks-next = Agizo jingine limekuja.

hooks-idle = { $agent } anasubiri agizo lako linalofuata.

hooks-closed = Programu ya { $agent } imefungwa.

## Falling behind

behind-key = Usemaji umebaki nyuma kwa { $duration }. Bonyeza k kuruka hadi sasa.

behind-line = Usemaji umebaki nyuma kwa { $duration }. Andika { command-skip } kuruka hadi sasa.

behind-skipped =
    { $count ->
        [one] Taarifa 1 imerukwa.
       *[other] Taarifa { $count } zimerukwa.
    }

behind-nothing = Hakuna cha kuruka. Unasikia ya sasa.

## Notifications of the desktop

greeting-daemon = Inasikiliza chinichini.

notifications-none = Hakuna arifa hapa: hakuna huduma ya eneo-kazi inayojibu.

notifications-gone = Arifa zimeisha: eneo-kazi limefungwa.

notification-answer = Jibu kwenye terminali: aaep listen

notification-title = { $agent } anauliza

notification-accept = Kubali

notification-reject = Kataa

## Durations

duration-moment = chini ya sekunde moja

duration-days =
    { $count ->
        [one] siku 1
       *[other] siku { $count }
    }

duration-hours =
    { $count ->
        [one] saa 1
       *[other] saa { $count }
    }

duration-minutes =
    { $count ->
        [one] dakika 1
       *[other] dakika { $count }
    }

duration-seconds =
    { $count ->
        [one] sekunde 1
       *[other] sekunde { $count }
    }

duration-pair = { $first } na { $second }

## Words that a person writes

command-accept = kubali

command-reject = kataa

command-refuse = kataa

command-more = zaidi

command-repeat = rudia

command-next = ijayo

command-back = nyuma

command-forward = mbele

command-quiet = kimya

command-verbosity = maelezo

command-time = muda

command-quit = ondoka

command-help = msaada

command-answer = jibu

command-leave = acha

command-stay = baki

word-yes = ndiyo

word-no = hapana

command-silence = nyamaza

command-pause = sitisha

command-skip = ruka

command-faster = haraka

command-slower = polepole

## Putting words together

list = { $first }, { $second }

list-long = { $first }; { $second }

decimal-sign = .

value-marks = nukuu, mwisho wa nukuu, manukuu, nukuliwa

value-own_words = kubali, kukubali, ukikubali, limekubaliwa, litakubaliwa, halijakubaliwa, kukubaliwa, thibitisha, kataa, kukataa, limekataliwa, litakataliwa, tupu, matupu, mstari, ndogo, wastani, kubwa, hapana, hakuna, nukuu, imefichwa, hatari, tendua, kutendua, kutenduliwa, haiwezi, inaweza, ndiyo, swali

expected-word = { $words } au { $last }

expected-whole_number = nambari nzima kuanzia { $lowest } hadi { $highest }

expected-number = nambari kuanzia { $lowest } hadi { $highest }

expected-languages = orodha ya alama za lugha kama en-GB

expected-texts = orodha ya maandishi

expected-text = maandishi

## The language

language-name = Kiswahili

language-none = Kisomaji hiki hakina maneno ya lugha hii: { $languages }. Kinazungumza { language-name }.

## Why a connection is closed, to the other side

close-producer_shutdown = Upande wa wakala unafungwa.

close-authentication_expired = Kitambulisho cha kisomaji hiki hakitambuliwi tena. Unganisha tena kwa kipya.

close-slow_consumer = Kisomaji hakiendi na kasi. Unganisha tena ili kuendelea kilipoishia.

close-superseded = Kisomaji kingine kimechukua nafasi.

close-subscriber_shutdown = Kisomaji kimesimama.

close-rate_violation = Kisomaji kimetuma mengi mno.

close-protocol_error = Kisomaji kimetuma kisichoruhusiwa.

close-manifest_invalid = Uthibitisho haukuweza kuhakikishwa.

close-hub_shutdown = Kitovu kinafungwa.
