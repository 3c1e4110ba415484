# checked-by-speaker: no
# language: ha

## The work

started = An fara aiki.

part = Wani ɓangare na: { $parent }

completed = An gama.

ended = Aiki ya ƙare.

undone = Ba a yi ba: { $action }.

undone-more =
    { $count ->
        [one] Ba a yi wani 1 kuma ba.
       *[other] Ba a yi wasu { $count } kuma ba.
    }

possible = Wataƙila ya faru: { $action }.

possible-more =
    { $count ->
        [one] Wataƙila wani 1 kuma ya faru.
       *[other] Wataƙila wasu { $count } kuma sun faru.
    }

possible-check = A bincika kafin a sake gwadawa.

undone-failed = Ya gaza: { $action }.

undone-failed-more =
    { $count ->
        [one] Wani 1 kuma ya gaza.
       *[other] Wasu { $count } kuma sun gaza.
    }

failed-check = A bincika abin da aka yi kafin a sake gwadawa.

errored = Aiki ya gaza.

cancelled = An dakatar da aiki.

unfinished = Ba a gama aikin ba.

tools =
    { $count ->
        [one] An yi amfani da kayan aiki 1.
       *[other] An yi amfani da kayan aiki { $count }.
    }

took = Ya ɗauki { $duration }.

takes = Wannan zai ɗauki kusan { $duration }.

left = Saura kusan { $duration }.

by-user = Mai amfani ne ya dakatar da shi.

by-producer = Wakili ne ya dakatar da shi.

by-timeout = Ya ɗauki lokaci da yawa.

by-system = Tsarin kwamfuta ne ya dakatar da shi.

partial = Zuwa yanzu: { $result }

code = Lambar kuskure { $code }.

category-transient = Sake gwadawa na iya taimakawa.

category-permanent = Sake gwadawa ba zai taimaka ba.

category-requires_user = Sai an fara yin wani abu daga wajen mai amfani.

hint-transient = Sake gwadawa daga baya na iya taimakawa.

hint-permanent = Sake gwadawa ba zai taimaka ba. A gaya wa mai kula da wakili.

hint-requires_user = A duba ko an yarda wakili ya yi wannan, sannan a sake gwadawa.

hint-unknown = A sake gwadawa. Idan ya sake gazawa, a gaya wa mai kula da wakili.

lost = Wakili ya tsaya ba zato. Ba a gama aikin ba.

lost-hint = A bincika abin da aka yi kafin a sake fara shi.

lost-detailed = Wakili ya tsaya ba zato. Ba a gama aikin ba. Abin da ya fara wataƙila ya faru.

handoff-human = Ana miƙa aiki ga mutum.

handoff-specialist_agent = Ana miƙa aiki ga wani wakili.

handoff-escalation_queue = Ana miƙa aiki. Wani zai karɓe shi.

handoff-other = Ana miƙa aiki.

not_taken = Babu wanda ya karɓi aikin.

## What goes on

state-idle = Babu aiki yanzu.

state-thinking = Ana tunani.

state-thinking-detailed = Ana tunani kan mataki na gaba.

state-calling_tool = Ana amfani da kayan aiki.

state-writing_output = Ana rubutu.

state-awaiting_input = Ana jiran amsa daga nan.

state-deciding = Ana yanke shawara.

state-deciding-detailed = Ana yanke shawara kan yadda za a ci gaba.

state-handing_off = Ana cikin miƙa aiki.

state-other = Yanzu: { $state }.

state-unnamed = Wani abu dabam ne yanzu.

resync = Abin da ya wuce zuwa yanzu.

percent = Kashi { $percent } cikin ɗari.

step = Mataki na { $step }.

step-of = Mataki na { $step } cikin { $total }.

progress-none = Aiki na ci gaba.

invoked = Ana kiran { $tool }.

tool = wani kayan aiki

with = Tare da { $arguments }.

undo-warning = Ba za a iya mayar da wannan baya ba.

success = { $tool }: ya gama.

stopped = { $tool }: an dakatar.

stopped-early = { $tool }: an dakatar kafin lokaci.

success-summary = { $call }: an gama.

error-unnamed = wani kuskure

error-mistake = kuskure a cikin wakili

error-several =
    { $count ->
        [one] Kuskure 1: { $name }
       *[other] Kurakurai { $count }: { $name } da wasu
    }

error = { $call }: ya gaza.

error-reason = { $call }: ya gaza: { $reason }

timeout = { $call }: bai ƙare ba. Wataƙila ya faru. A bincika kafin a sake gwadawa.

status = Matsayin da aka bayar: { $status }.

skipped = Ba a yi ba: { $action }: wakili ya daina jira.

says = { $agent }:

says-quoted = Zancen da aka ɗauko daga { $agent }:

agent = Wakili

agent-named = Wakili { $name }

session = { $work }: { $text }

notice = Sanarwa.

notice-type = Abin da wannan makaranci bai sani ba: { $type }.

incomplete = Saƙo bai cika ba.

incomplete-prompt = Ba za a iya amincewa ko amsawa a nan ba.

cut =
    { $count ->
        [one] An yanke a nan, saura harafi 1.
       *[other] An yanke a nan, saura haruffa { $count }.
    }

## Prompts

confirm = Ana neman tabbaci.

action-none = Wakili bai faɗi abin da zai yi ba.

consequence = Idan an amince: { $consequence }

consequence-none = Wakili bai faɗi abin da zai faru ba.

consequence-unstated = Babu wanda ya faɗi abin da wannan zai sauya. A ɗauka ba za a iya mayarwa ba.

consequence-unknown = Ba a faɗi abin da wannan zai sauya ba.

consequence-again = Ba a faɗi tasirinsa ba.

risk-low = Ƙaramin haɗari

risk-medium = Matsakaicin haɗari

risk-high = Babban haɗari

risk-none = Ba a faɗi haɗari ba: a ɗauka babba ne

risk-unstated = Haɗarin da ba a faɗa ba

undo-irreversible = ba za a iya mayarwa ba

undo-reversible_with_effort = za a iya mayarwa da wahala

undo-reversible = za a iya mayarwa

undo-none = ba a faɗi ko ana iya mayarwa ba

risk = { $risk }, { $undo }.

default-reject = Za a ƙi bayan { $duration } ba amsa.

default-accept = Za a amince bayan { $duration } ba amsa.

default-reject-short = Za a ƙi bayan { $duration }.

default-accept-short = Za a amince bayan { $duration }.

expired = Lokacin amsawa ya wuce.

unrefusable = Babu zaɓin ƙi.

unacceptable = Babu zaɓin amincewa.

uncut = Sai an ji duk rubutun kafin a iya amincewa: { $key }.

uncut-plain = Sai an ji duk rubutun kafin a iya amincewa.

rest = Ci gaba: { $text }

rest-action = Ci gaban abin da za a yi: { $text }

rest-consequence = Ci gaban abin da zai faru idan an amince: { $text }

key = { $key } { $effect }

key-accept = amincewa

key-reject = ƙi

key-yes = eh

key-no = a'a

key-more = ƙari

key-time = ƙarin lokaci

key-close = fita

write = A rubuta { $words } ko { $last }.

write-one = A rubuta { $word }.

question = Tambaya.

question-none = Wakili bai faɗi abin da yake tambaya ba.

why = Dalili: { $reason }

choice = { $number }: { $label }

kind-freetext = A amsa da kalmomin kai.

kind-yes_no = A amsa { word-yes } ko { word-no }.

kind-numeric = A amsa da lamba.

time = Lokacin amsawa: { $duration }.

time-default = Lokacin amsawa: { $duration }, in ba haka ba: { $answer }

longer = Yanzu akwai { $duration }.

countdown = Sauran lokacin amsawa: { $duration }. { $action }

time_left = Sauran lokacin amsawa: { $duration }.

again = Sake ji.

still = Har yanzu ana jiran amsa.

other = Wata buƙata tana jiran amsa.

prompt-waiting = Wata tambaya tana jira.

about = Wancan game da wannan ne: { $action }

flood = Saƙonnin gaggawa da yawa suna zuwa. Daga yanzu za su jira lokacinsu.

## Values in what is asked

tool-use = A yi amfani da { $tool }.

with-nothing = babu wani abu kuma

value-quoted = buɗe zance { $value } rufe zance

value-word = kalmar { $word }

value-line = layi { $number }: { $text }

value-ending = lamba mai ƙarewa da { $digits }

value-empty = rubutu mara komai

value-blank = rubutun sarari kawai

value-invisible = mara ganuwa { $character }

value-private = harafi na musamman { $character }

value-unknown = harafin da ba a sani ba { $character }

value-times =
    { $count ->
        [one] { $character }
       *[other] { $character }, sau { $count }
    }

value-none = babu komai

value-yes = eh

value-no = a'a

value-items =
    { $count ->
        [0] jeri mara komai
        [one] abu 1: { $items }
       *[other] abubuwa { $count }: { $items }
    }

value-entries =
    { $count ->
        [0] babu shigarwa
        [one] shigarwa 1: { $items }
       *[other] shigarwa { $count }: { $items }
    }

value-parts =
    { $count ->
        [0] babu sassa
        [one] sashe 1: { $items }
       *[other] sassa { $count }: { $items }
    }

value-bytes =
    { $count ->
        [one] bayit 1
       *[other] bayit { $count }
    }

value-digest = { $size }, SHA-256 ya fara da { $digest }

value-other = wani { $kind }

## Outcomes of prompts

outcome-accepted = An amince.

outcome-rejected = An ƙi.

outcome-answered = An amsa.

outcome-accepted-elsewhere = An amince daga wani wuri.

outcome-rejected-elsewhere = An ƙi daga wani wuri.

outcome-answered-elsewhere = An amsa daga wani wuri.

outcome-timed_out = Lokaci ya ƙare.

outcome-withdrawn = Ba a tambayar haka yanzu.

outcome-unavailable = Babu sauran mai amsawa.

outcome-no_reply_channel = Babu wanda zai iya amsawa.

outcome-other = An rufe buƙatar.

outcome-modified = Ana son wani abu dabam. Dole wakili ya sake tambaya.

outcome-granted = An ɗauka an amince.

outcome-defaulted = Wakili na ci gaba da amsar da ya ambata.

outcome-unanswered = Wakili na ci gaba ba tare da amsa ba.

outcome-longer = Akwai ƙarin lokaci. Ana sake tambaya.

## Markdown

markdown-heading = Kan magana: { $text }

markdown-bullet = Ɗigo: { $text }

markdown-bullet-nested = Ƙaramin ɗigo: { $text }

markdown-number = { $number }: { $text }

markdown-checked = An yi wa alama: { $text }

markdown-unchecked = Ba a yi wa alama ba: { $text }

markdown-quote = Zance: { $text }

markdown-code = Lambar shiri

markdown-coming = tana zuwa

markdown-lines =
    { $count ->
        [one] layi 1
       *[other] layuka { $count }
    }

markdown-table = Tebur: { $columns }.

markdown-cell = { $column }: { $cell }

markdown-image = Hoto: { $text }

markdown-picture = Hoto

## The connection

connected = An haɗu.

connected-name = An haɗu da { $agent }.

reconnected = An sake haɗuwa.

gap = An sake haɗuwa. Wani abu ya wuce kafin nan.

connection-lost = Haɗi ya katse. { $reason }

retrying =
    { $seconds ->
        [one] { $reason } Za a sake gwadawa bayan daƙiƙa 1.
       *[other] { $reason } Za a sake gwadawa bayan daƙiƙa { $seconds }.
    }

gave_up = An daina gwadawa bayan { $duration } ba haɗi. { $reason }

resume-slow_consumer = Mun yi jinkiri da yawa, muna ci gaba daga inda muke.

resume-authentication_expired = Shaidar shigarmu ta ƙare. Muna nuna wadda muke da ita yanzu, muna ci gaba daga inda muke.

absent = Ba a samun { $agent } a yanzu.

absent-terse = Ba a samun { $agent }.

absent-asking = Amsa za ta isa idan an dawo.

returned = Ana sake samun { $agent }.

waiting = Ana jira. Wannan zai ci gaba da kansa.

connection-ended = Haɗi ya ƙare gaba ɗaya. { $reason }

unreadable = Wani abu ya zo da ba a iya karantawa ba. Idan wakili yana tambaya, wataƙila yana jiran amsa.

no_answers = Wakili ba ya karɓar amsa daga wannan makaranci.

proven = Wannan { $agent } ne, da sa hannun maɓalli { $key }.

unproven = Ba a tabbatar da ko wane ne ba.

unproven-local = An sa hannu da sunan { $agent } da maɓalli { $key }, amma wani mai amfani da wannan na'ura na iya zama mai gabatar da shi.

refused = Wakili ya ƙi haɗi: { $reason }

refused-code = Wakili ya ƙi haɗi, { $code }: { $reason }

refused-code-only = Wakili ya ƙi haɗi, { $code }.

closed-producer_shutdown = { $agent }: aiki ya ƙare.

closed-authentication_expired = Izinin shiga ya ƙare. A sake haɗawa da sabon izini.

closed-slow_consumer = Wannan makaranci ya yi jinkiri da yawa. A sake haɗawa don ci gaba daga inda ya tsaya.

closed-superseded = Wani makaranci ya karɓi wurin.

closed-subscriber_shutdown = Wannan makaranci ya tsaya.

closed-rate_violation = Wannan makaranci ya aika da yawa.

closed-protocol_error = Wannan makaranci ya aika abin da ba a yarda ba.

closed-manifest_invalid = Ɗaya ɓangaren bai iya tabbatar da ko wane ne ba.

closed-other = Haɗi da { $agent } ya ƙare daga can: { $reason }.

arrived = Sabon wakili: { $agent }.

discover-none = Babu wakilin da ke aiki tukuna. Za a saurari kowane da ya fara.

reconnected-name = An sake haɗuwa da { $agent }.

gap-name = An sake haɗuwa da { $agent }. Wani abu ya wuce kafin nan.

connection-lost-name = Haɗi da { $agent } ya katse. { $reason }

connection-ended-name = Haɗi da { $agent } ya ƙare gaba ɗaya. { $reason }

waiting-name = Ana jiran { $agent }. Wannan zai ci gaba da kansa.

no_answers-name = { $agent }: ba a karɓar amsa daga wannan makaranci.

unread-name = Wannan game da { $agent } ne.

asker-gone = Babu sauran haɗi da wakilin da ya yi tambaya.

## Why a connection is refused

refused-version_unsupported = ba ya amfani da wani nau'in ƙa'idar sadarwa da muke amfani da shi.

refused-manifest_invalid = ba a iya duba wata shaida ba.

refused-manifest_signature_required = ba shi da shaidar ko wane ne mai sa hannu.

refused-capabilities_incompatible = ba zai iya ba da abin da muka nema ba.

refused-rate_limit = ana neman abu da yawa daga gare shi yanzu.

refused-authentication_required = bai san ko mu wane ne ba.

refused-authentication_expired = shaidar shigarmu ta ƙare.

refused-authorization_denied = ba mu da izinin shiga.

refused-transport_unavailable = ba za a iya amfani da shi ta wannan hanya yanzu ba.

refused-unknown = bai faɗi dalili ba.

refused-slow_consumer = mun yi jinkiri da yawa.

refused-rate_violation = mun aika da yawa.

refused-protocol_error = mun aika abin da ƙa'idar sadarwa ba ta yarda ba.

advice-version_unsupported = A yi amfani da nau'in wannan shiri da ya dace da na ɗaya ɓangaren.

advice-manifest_invalid = A nemi shaidar da za a iya dubawa daga mai kula da wakili.

advice-manifest_signature_required = A nemi shaidar ko wane ne mai sa hannu daga mai kula da wakili.

advice-capabilities_incompatible = A nemi abin da ya fi kaɗan, ko harshen da ake da shi.

advice-rate_limit = A sake gwadawa daga baya.

advice-authentication_required = A ba da ingantacciyar shaidar shiga da { $options }.

advice-authentication_expired = A sake haɗawa da sabuwar shaidar shiga.

advice-authorization_denied = A nemi izinin shiga daga mai kula da wakili.

advice-transport_unavailable = A sake gwadawa daga baya, ko a yi amfani da wata hanyar haɗi.

advice-slow_consumer = A nemi abin da ya fi kaɗan, ko a karanta da sauri.

advice-rate_violation = A rage amsoshi da sauye-sauyen da ake aikawa.

advice-unknown = A tambayi mai kula da wakili ma'anarsa.

## At the terminal

attention = A kula. { $text }

greeting-keys = A danna ? don taimako, q don fita.

greeting-lines = A rubuta { command-help } da Enter don taimako.

greeting-pipe = Ba hira: ana karanta umarni daga shigarwa ta asali, ɗaya a kowane layi.

greeting-none = Ba hira: za a nuna buƙatu amma ba za a amsa su ba.

prompts-shown = Za a nuna buƙatu amma ba za a amsa su ba.

input-ended = Shigarwa ta asali ta ƙare. Sauraro na ci gaba.

goodbye = An daina sauraro.

goodbye-open =
    { $count ->
        [one] Ba a amsa tambaya 1 ba.
       *[other] Ba a amsa tambayoyi { $count } ba.
    }

other_session = Wani aiki yana tambayar abin da ba a nunawa a nan.

typed_before = Abin da aka rubuta kafin wannan layi ba a lissafa shi ba.

draft = Rubutun da ake yi: { $text }

nothing_said = Ba a faɗi komai ba tukuna.

nothing_before = Ba a faɗi komai kafin wancan ba.

nothing_after = Wancan ne na ƙarshe.

backlog =
    { $count ->
        [one] Ƙarin labari 1.
       *[other] Ƙarin labarai { $count }.
    }

quiet-begin = Kada a dame. Tambayoyi da gargaɗi kawai za a faɗa.

quiet-end =
    { $count ->
        [0] Babu abin da ya faru kafin nan.
        [one] Labari 1 kafin nan.
       *[other] Labarai { $count } kafin nan.
    }

quiet-hear-key = A danna f don jin na farko.

quiet-hear-line = A rubuta { command-forward } don jin na farko.

verbosity =
    { $verbosity ->
        [terse] Yawan bayani: a taƙaice.
        [detailed] Yawan bayani: dalla-dalla.
       *[normal] Yawan bayani: na al'ada.
    }

asking_time = Ana neman { $duration }.

sending-accept = Ana aikawa: amincewa.

sending-reject = Ana aikawa: ƙi.

sending = Ana aikawa: { $answer }

no_time = Wakili bai ba da ƙarin lokaci ba.

unsent = Ba a iya aikawa ba. { $reason }

still_open = Buƙatar tana buɗe har yanzu.

may_have_arrived = Ya ɗauki lokaci da yawa, wataƙila ya isa ko bai isa ba.

not_connected = Babu haɗi tukuna.

speech-paused = An dakatar da magana na ɗan lokaci.

speech-nothing = Ba a faɗin komai yanzu.

speech-gone = Magana ta ɓace. Rubutu na ci gaba a nan.

speech-back = Magana ta dawo.

speech-no_voice = Babu muryar wannan harshe a nan: { $language }. Ana karantawa da muryar wannan harshe: { $other }.

speech-none = Ba a faɗin komai da murya a nan.

speech-unavailable = Speech Dispatcher ba ya amsawa. A girka shi ko a kunna shi.

speech-none-prism = Ana buƙatar laburaren Prism. A girka shi da: pip install prismatoid.

speech-address = SPEECHD_ADDRESS shi ne { $address }. A rubuta unix_socket:path ko inet_socket:host:port.

speech-refused = Speech Dispatcher bai san { $value } ba.

braille-unavailable = Babu abin da ke amsawa a { $address }. A kunna BRLTTY ko a saita BRLAPI_HOST. A Debian: apt install brltty.

braille-library = Rubutun makafi yana buƙatar liblouis, wanda ba a girka ba. A Debian: apt install liblouis20 liblouis-data.

speech-rate = Kalmomi { $count } a minti ɗaya.

## Answering

help-keys = Maɓallai: a don amincewa, r don ƙi, m don jin ƙari, s don sake ji, o don buƙata ta gaba da ke buɗe.

help-keys-more = v don sauya yawan bayani, t don neman ƙarin lokaci, q don fita, ? don wannan taimako.

help-keys-history = b don baya, f don gaba. s sau biyu don jin duka. d don kada a dame.

help-second-key = Amincewa na buƙatar maɓalli na biyu idan akwai haɗari, ko idan buƙatu da yawa suna buɗe.

help-second-line = Amincewa na buƙatar layi na biyu idan akwai haɗari, ko idan buƙatu da yawa suna buɗe.

help-answer = A amsa tambaya da lambarta, ko y ko n, sannan Enter.

help-freetext = Don amsawa da kalmomin kai a danna Enter, a rubuta, a sake danna Enter.

help-lines = Umarni, ɗaya a kowane layi: { command-accept }, { command-reject }, { command-more }, { command-repeat }, { command-next }, { command-verbosity }, { command-time }, { command-quit }, { command-help }.

help-lines-history = Da { command-back } da { command-forward } ana bin abin da aka faɗa. Da { command-repeat } sau biyu ana jin duka. Da { command-quiet } ba za a dame ba.

help-next = Da { command-next } ana zuwa buƙata ta gaba da ke buɗe.

help-answer-lines = A amsa tambaya da lambarta, { word-yes }, { word-no }, ko kalmomin kai.

help-command-answer = Don aika kalmar umarni a matsayin amsa, a rubuta { command-answer } a gabanta.

several_open =
    { $count ->
        [one] Buƙata 1 tana buɗe. Yanzu ana amsa wannan. { $hint }
       *[other] Buƙatu { $count } suna buɗe. Yanzu ana amsa wannan. { $hint }
    }

prompt-hear-key = A danna o don jin ta.

prompt-hear-line = A rubuta { command-next } don jin ta.

next-key = A danna o don buƙata ta gaba.

next-line = A rubuta { command-next } don buƙata ta gaba.

still_answering = Har yanzu ana amsa wannan: { $action }

draft-unsent = Ba a aika rubutun da ake yi ba: { $text }

accept-void = Ba a amince da komai a nan ba.

accept-taken_back = An janye. Ba a amince da komai ba.

accept-second-key = Ba a amince ba tukuna. A danna y don amincewa da wannan: { $action } Kowane maɓalli dabam zai janye.

accept-second-key-long = Ba a amince ba tukuna. A danna y don amincewa da abin da ya fara haka: { $action } Kowane maɓalli dabam zai janye.

accept-second-line = Ba a amince ba tukuna. A rubuta { word-yes } don amincewa da wannan: { $action } Kowane layi dabam zai janye.

accept-second-line-long = Ba a amince ba tukuna. A rubuta { word-yes } don amincewa da abin da ya fara haka: { $action } Kowane layi dabam zai janye.

leaving-open =
    { $count ->
        [one] Tambaya 1 tana buɗe.
       *[other] Tambayoyi { $count } suna buɗe.
    }

leaving-keys =
    { $count ->
        [one] A danna l don barin ta a buɗe, Escape don zama.
       *[other] A danna l don barin su a buɗe, Escape don zama.
    }

leaving-keys-refuse =
    { $count ->
        [one] A danna r don ƙin ta da fita, l don barin ta a buɗe, Escape don zama.
       *[other] A danna r don ƙin su da fita, l don barin su a buɗe, Escape don zama.
    }

leaving-keys-some = A danna r don ƙin { $count } kawai daga cikinsu da fita, l don barin su duka a buɗe, Escape don zama.

leaving-lines =
    { $count ->
        [one] A rubuta { command-leave } don barin ta a buɗe, { command-stay } don zama.
       *[other] A rubuta { command-leave } don barin su a buɗe, { command-stay } don zama.
    }

leaving-lines-refuse =
    { $count ->
        [one] A rubuta { command-refuse } don ƙin ta da fita, { command-leave } don barin ta a buɗe, { command-stay } don zama.
       *[other] A rubuta { command-refuse } don ƙin su da fita, { command-leave } don barin su a buɗe, { command-stay } don zama.
    }

leaving-lines-some = A rubuta { command-refuse } don ƙin { $count } kawai daga cikinsu da fita, { command-leave } don barin su duka a buɗe, { command-stay } don zama.

stay = An zauna. Ba a amsa komai ba.

keys-several = Maɓallai da yawa sun zo lokaci ɗaya. Ba a lissafa ko ɗaya ba. A danna maɓalli ɗaya a lokaci ɗaya.

keys-unknown = Maɓallin { $key } ba ya yin komai a nan. A danna ? don taimako.

keys-too_soon = Maɓallin ya zo da wuri, ba a lissafa shi ba. A jira kaɗan, sannan a danna shi sau ɗaya.

draft-begin = A rubuta amsa. Enter zai aika. Escape zai bar ta ba a aika ba.

draft-empty = Ba a rubuta komai ba. Ba a aika komai ba.

draft-left = An bar rubutu. Ba a aika komai ba.

draft-removed = An goge abin da aka rubuta. A rubuta amsa.

enter-prompt = Enter kaɗai ba ya amsa komai. A danna s don sake jin buƙatar.

enter-nothing = Babu abin da za a amsa. A danna ? don taimako.

line-empty = Layi mara komai ba ya amsa komai.

line-no_prompt = Babu buƙata, don haka wannan layi bai amsa komai ba. A rubuta { command-help } don taimako.

line-unknown = Ba a fahimci wannan layi ba. Ba a aika komai ba. A rubuta { command-accept }, { command-reject } ko { command-help }.

no_other = Babu wata buƙata da ke buɗe.

no_more_time = Babu ƙarin lokaci da za a samu.

time_asked = An riga an nemi ƙarin lokaci.

cannot_reply = Wannan makaranci ba zai iya amsa buƙatu ba. Ba a aika komai ba.

answer_sent = An aika amsa. A jira abin da wakili zai faɗa.

nothing_to-accept = Babu abin da za a amince da shi.

nothing_to-reject = Babu abin da za a ƙi.

nothing_to-answer = Babu abin da za a amsa.

nothing_to-time = Babu abin da yake buƙatar ƙarin lokaci.

another_open = Wata buƙata tana buɗe. { $hint }

is_question = Wannan tambaya ce. { $hint }

answer-word = Don aika wannan kalma a matsayin amsa, a rubuta { command-answer } a gabanta.

answer-freetext = A danna Enter, a rubuta amsa, a sake danna Enter.

answer-own_words = A danna Enter kafin a rubuta kalmomin kai.

answer-impossible = Ba za a iya amsa wannan tambaya a nan ba.

answer-forms = A amsa da { $forms }, sannan Enter.

answer-or = { $first } ko { $second }

answer-number = Lambar da ba zaɓi ba ana rubuta ta da = a gabanta.

answer-unsent = Ba a aika komai ba. { $hint }

form-multiple_choice = lambar wani zaɓi

form-yes_no = { word-yes } ko { word-no }

form-numeric = lamba

form-freetext = kalmomin kai

help-speech = Maɓallin sarari don tsai da magana, p don dakatar da ita da ci gaba, k don tsallakewa zuwa yanzu, aya don ƙara sauri, waƙafi don rage sauri.

help-speech-lines = Da { command-silence } magana tana tsayawa, da { command-pause } tana dakatawa ta ci gaba, da { command-skip } ana tsallakewa zuwa yanzu. Akwai kuma { command-faster } da { command-slower }.

line-too_soon = Wannan ya zo da wuri, ba a lissafa shi ba. Sai an ji buƙatar har ƙarshe tukuna.

## Settings

settings-line = Ba a iya karanta layi na { $line } na saituna ba, ba a lissafa shi ba: { $text }

settings-repeated = Layi na { $line } na saituna ya ambaci { $setting } a karo na biyu. Na farko ne ake lissafawa.

settings-unknown = Layi na { $line } na saituna ya ambaci { $setting }, amma babu irin wannan saiti.

settings-similar = Ko { $setting } ake nufi?

settings-value = Ba a lissafa layi na { $line } na saituna ba: dole { $setting } ya zama { $expected }.

settings-variable = Ba a lissafa mai sauyawa { $variable } ba. Dole ya zama { $expected }.

settings-more =
    { $count ->
        [one] Ba a lissafa wani layi 1 kuma na saituna ba.
       *[other] Ba a lissafa wasu layuka { $count } kuma na saituna ba.
    }

settings-unreadable = Ba a iya karanta saituna ba, don haka ana amfani da saitunan asali. { $reason }

settings-missing = Babu fayil { $file }, don haka ana amfani da saitunan asali.

settings-encoding = Layi na { $line } yana da haruffan da ba na UTF-8 ba.

settings-unsafe = Wasu masu amfani za su iya sauya { $file }, don haka ana amfani da saitunan asali. A gudanar da chmod go-w a kansa.

settings-stranger = { $file } na wani mai amfani ne, don haka ana amfani da saitunan asali.

settings-allow = Ba a iya karanta dokokin saituna ba, don haka za a yi tambaya kan komai. { $reason }

## Words for sounds

earcon-sent = An aika.

earcon-working = Ana aiki.

earcon-done = An kammala.

earcon-needs-you = Lokacin amsawa ya yi.

earcon-error = Kuskure.

## Coding agents

code-started = { $agent }: ana aiki.

code-run = A gudanar da { $command }.

code-create = A ƙirƙiri { $file }, { $size }: { $text }.

code-change = A sauya { $file }: a ƙara { $added }, a cire { $removed }.

code-change-nothing = A sake rubuta { $file } ba tare da sauyi ba.

code-hunk-add = A layi na { $line }, a ƙara { $text }.

code-hunk-remove = A layi na { $line }, a cire { $text }.

code-hunk-replace = A layi na { $line }, a maye gurbin { $old } da { $new }.

code-hunk-blank = Bambancin da ke wurin na sarari ko ƙarshen layi ne kawai.

code-own_words = Wakili bai faɗi abin da zai gudanar ba, sai wannan kawai: { $text }.

code-effect-run = Zai gudana da dukkan haƙƙoƙin wannan mai amfani.

code-effect-change = Za a rubuta fayil ɗin.

code-effect-delete = Zai ɓace, sai dai idan akwai kwafi.

code-effect-move = Zai koma wani wuri.

code-effect-read = Wakili da samfurinsa za su karanta shi.

code-effect-search = Wakili da samfurinsa za su karanta abin da aka samu.

code-effect-think = Ba za a sauya komai ba.

code-effect-fetch = Adireshin da abin da aka aika can za su fita daga wannan na'ura.

code-effect-switch_mode = Daga nan wakili na iya rage abubuwan da yake tambaya a kansu.

code-effect-other = Ba a san abin da wannan zai sauya ba. A ɗauka ba za a iya mayarwa ba.

code-running = Ana gudanar da { $command }.

code-creating = Ana ƙirƙirar { $file }.

code-changing = Ana sauya { $file }.

code-reading = Ana karanta { $file }.

code-searching = Ana bincike don samun { $text }.

code-described = Kamar yadda wakili ya faɗa: { $text }.

code-using = Ana amfani da { $tool }.

code-ruled = Dokar mai amfani ce ta ba da izini. { $text }

code-unasked = Gargaɗi. Wakili ya yi wannan ba tare da tambaya ba: { $text }

code-unasked-failed = Gargaɗi. Wakili ya gwada wannan ba tare da tambaya ba, kuma ya gaza: { $text }

code-despite = Gargaɗi. Wakili ya yi wannan duk da cewa an ƙi: { $text }

code-stopping = Ana dakatar da wakili.

code-undescribed = wani abu da ba za a iya bayyanawa ba

code-too_long = An ƙi: ya yi tsawo da yawa, ba za a iya karanta shi duka ba. { $text } A nemi ƙananan matakai.

code-unreadable = An ƙi: ba za a iya karanta shi duka ba, domin da alama akwai sirri a ciki. { $text }

code-unofferable = An ƙi: wakili bai ba da hanyar yin izinin wannan sau ɗaya kawai ba. { $text }

code-between = An ƙi: wakili ya nemi wannan a lokacin da ba ya aiki. { $text }

code-mode = Yanayin aiki: { $mode }.

code-mode-unasked = Gargaɗi. A yanayin aiki na { $mode }, wakili yana yin abu ba tare da tambaya ba.

code-mode-back = Ana komawa yanayin aiki na baya.

code-mode-unknown = Ba a san ko wannan wakili yana tambaya kafin ya yi abu ba. Za a faɗi abin da ya yi ba tare da tambaya ba, kuma za a dakatar da shi saboda haka.

code-subagent = Mataimaki { $name }: { $state }.

code-stop-refusal = Samfurin ya ƙi ci gaba.

code-stop-max_tokens = Amsar ta yi wa samfurin tsawo da yawa.

code-stop-max_turn_requests = Matakan da wakili ya ɗauka sun wuce yadda aka yarda.

code-stop-other = Wakili ya tsaya, bai faɗi dalili ba.

code-stop-error = Wakili ya ba da rahoton kuskure.

code-stop-gone = Shirin wakili ya ƙare.

code-stop-stuck = Wakili bai tsaya ba, don haka aka rufe shirinsa.

code-stop-fault = Wani abu ya gaza a cikin wannan shiri, don haka aka dakatar da wakili.

code-refused = Wakili ya ƙare zagayen aikinsa bayan an ƙi.

compose-begin = A rubuta wa wakili. Enter zai aika. Escape zai bar shi sai daga baya.

compose-left = An bar rubutu. A danna p don ci gaba da shi.

compose-left-empty = An bar rubutu. Ba a rubuta komai ba.

compose-removed = An goge layin.

compose-joined = Layin da ya gabata:

compose-history-none = Ba a aika komai ba tukuna.

compose-help = p ko Enter don rubuta wa wakili. Backslash a ƙarshe yana fara wani layi.

compose-help-history = h don jerin abin da aka aika. Kibiyar sama don dawo da shi. @suna don ambatar fayil.

compose-help-lines = Kowane layi dabam ana aika shi ga wakili, har da wanda ya biyo bayan kalmar prompt. A rubuta history don jerin abin da aka aika.

code-ready = { $agent }: an shirya. A danna p don rubuta saƙo.

code-ready-lines = { $agent }: an shirya. A rubuta saƙo.

code-queued = Har yanzu ana aiki. Za a aika wannan bayan haka.

code-interrupt = Ana dakatarwa. A sake danna Control-C don ƙarewa.

code-interrupt-idle = A sake danna Control-C don ƙarewa.

code-file = Tare da fayil { $file }.

code-file-missing = Babu fayil { $file } a nan. An aika shi a matsayin kalma.

code-error = Wakili ya ce: { $text }

code-last_words = Ga kalmominsa na ƙarshe.

code-hint-again = A sake rubuta wa wakili don ci gaba.

code-editor-allowed = An ba da izini a manhajar gyara. { $text }

code-editor-refused = An ƙi a manhajar gyara.

code-editor-done = Ya ƙare: { $text }

code-editor-failed = Ya gaza: { $text }

code-editor-only = A manhajar gyara kawai za a iya amsa wannan. { $text }

code-editor-fault = Wani abu ya gaza a cikin wannan shiri. Wakili na ci gaba da aiki tare da manhajar gyara.

code-editor-gone = Manhajar gyara ta rufe.

code-run-long = A gudanar da umarni mai { $size }.

code-create-long = A ƙirƙiri { $file }, { $size }.

code-write-long = A rubuta { $file }, { $size }.

code-edit-long = A cikin { $file }, a maye gurbin { $removed } da { $added }.

code-kilobytes =
    { $count ->
        [one] kilobayit 1
       *[other] kilobayit { $count }
    }

code-parts =
    { $count ->
        [one] { $overview } Tsawonsa { $size }, a sashe 1. Ba za a yi komai ba kafin a gama sauraron sa. A ci gaba?
       *[other] { $overview } Tsawonsa { $size }, a sassa { $count }. Ba za a yi komai ba kafin a gama sauraron su duka. A ci gaba?
    }

code-part = Sashe na { $number } cikin { $count }. { $text } A ci gaba?

code-part-last = { $overview } Wannan shi ne sashe na ƙarshe cikin { $count }. { $text }

code-part-line = Ci gaba daga layi na { $line }, a nan an sake ƙirgawa daga 1: { $text }

code-part-word = Ci gaba a cikin layi na { $line }: { $text }

code-part-middle = Ci gaba a cikin layi na { $line }, a tsakiyar kalma: { $text }

code-part-refused = An ƙi. Ba a yi komai ba. { $text }

## Braille

braille-no_table = Babu jadawalin rubutun makafi na harshen { $language }. Ana amfani da haruffan Turanci.

braille-marks = A rubutun makafi, ɗigo na 8 yana nuna harafi mai alamar da babu ta a jadawali.

braille-lost = Na'urar rubutun makafi ta ɓace. Idan ta dawo, za a sake nuna rubutu.

braille-back = Na'urar rubutun makafi ta dawo.

braille-read_on = Sai an karanta har ƙarshe tukuna, sannan za a iya amincewa.

braille-choice = Enter zai aika { $choice }

## Hooks of coding agents

hooks-started = { $agent }: ana aiki.


hooks-write = A rubuta { $file }, { $size }: { $text }.

hooks-edit = A cikin { $file }, a maye gurbin { $old } da { $new }.

hooks-edit-all = A cikin { $file }, a maye gurbin kowane { $old } da { $new }.






hooks-terminal = A amsa a tashar umarni ta wakili. { $text }

hooks-terminal-unread = A amsa a tashar umarni ta wakili. Yana son amfani da { $tool }, kuma ba za a iya karanta hakan duka ba.

hooks-refused-unread = An ƙi. Wakili yana son amfani da { $tool }, kuma ba za a iya karanta hakan duka ba.

hooks-terminal-allowed = An ba da izini a tashar umarni ta wakili. { $text }

hooks-unasked = Gargaɗi. Wakili ya yi wannan ba tare da tambaya ba. { $text }

hooks-despite = Gargaɗi. Wakili ya yi wannan duk da cewa an ƙi. { $text }

hooks-undescribed = Wakili ya yi amfani da { $tool }, kuma ba za a iya karanta hakan ba.

hooks-next = An ba da wani sabon aiki.

hooks-idle = { $agent }: ana jiran a ba da aiki na gaba.

hooks-closed = An rufe { $agent }.

## Falling behind

behind-key = Magana ta makara da { $duration }. A danna k don tsallakewa zuwa yanzu.

behind-line = Magana ta makara da { $duration }. A rubuta { command-skip } don tsallakewa zuwa yanzu.

behind-skipped =
    { $count ->
        [one] An tsallake labari 1.
       *[other] An tsallake labarai { $count }.
    }

behind-nothing = Babu abin da za a tsallake. Wannan ne na yanzu.

## Notifications of the desktop

greeting-daemon = Ana sauraro a bayan fage.

notifications-none = Babu sanarwa a nan: babu shirin fuskar kwamfuta da ya amsa.

notifications-gone = Sanarwa ta ƙare: an rufe fuskar kwamfuta.

notification-answer = A amsa a tashar umarni: aaep listen

notification-title = Tambaya daga { $agent }

notification-accept = Amincewa

notification-reject = Ƙi

## Durations

duration-moment = ƙasa da daƙiƙa ɗaya

duration-days =
    { $count ->
        [one] kwana 1
       *[other] kwanaki { $count }
    }

duration-hours =
    { $count ->
        [one] awa 1
       *[other] awanni { $count }
    }

duration-minutes =
    { $count ->
        [one] minti 1
       *[other] mintuna { $count }
    }

duration-seconds =
    { $count ->
        [one] daƙiƙa 1
       *[other] daƙiƙa { $count }
    }

duration-pair = { $first } da { $second }

## Words that a person writes

command-accept = amince

command-reject = ki

command-refuse = ki

command-more = kari

command-repeat = maimaita

command-next = nagaba

command-back = baya

command-forward = gaba

command-quiet = shiru

command-verbosity = bayani

command-time = lokaci

command-quit = fita

command-help = taimako

command-answer = amsa

command-leave = bari

command-stay = zauna

word-yes = eh

word-no = a'a

command-silence = tsit

command-pause = dakata

command-skip = tsallake

command-faster = sauri

command-slower = hankali

## Putting words together

list = { $first }, { $second }

list-long = { $first }; { $second }

decimal-sign = .

value-marks = zance, zancen, zantuka, buɗe zance, rufe zance, bude zance

value-own_words = amince, amincewa, tabbaci, ƙi, ki, ƙin, komai, sarari, layi, ƙaramin, matsakaicin, babban, babba, haɗari, haɗarin, babu, zance, ɓoyewa, mayarwa, mayar, eh, a'a, tambaya

expected-word = { $words } ko { $last }

expected-whole_number = cikakkiyar lamba daga { $lowest } zuwa { $highest }

expected-number = lamba daga { $lowest } zuwa { $highest }

expected-languages = jerin alamun harshe kamar en-GB

expected-texts = jerin rubutu

expected-text = rubutu

## The language

language-name = Hausa

language-none = Wannan makaranci ba shi da kalmomi a wannan harshe: { $languages }. Yana magana da { language-name }.

## Why a connection is closed, to the other side

close-producer_shutdown = Ɓangaren wakili yana rufewa.

close-authentication_expired = Shaidar shigar wannan makaranci ta daina aiki. A sake haɗawa da sabuwa.

close-slow_consumer = Makaranci ba ya iya bin sauri. A sake haɗawa don ci gaba daga inda ya tsaya.

close-superseded = Wani makaranci ya karɓi wurin.

close-subscriber_shutdown = Makaranci ya tsaya.

close-rate_violation = Makaranci ya aika da yawa.

close-protocol_error = Makaranci ya aika abin da ba a yarda ba.

close-manifest_invalid = Ba a iya tabbatar da wata shaida ba.

close-hub_shutdown = Cibiyar haɗi tana rufewa.
