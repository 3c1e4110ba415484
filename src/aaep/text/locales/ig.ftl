# checked-by-speaker: no
# language: ig

## The work

started = Ọrụ amalitela.

part = Akụkụ nke: { $parent }

completed = Emechala.

ended = Ọrụ akwụsịla.

undone = Emeghị ya: { $action }.

undone-more = Emeghị { $count } ọzọ.

possible = O nwere ike ịbụ na o mere: { $action }.

possible-more = O nwere ike ịbụ na { $count } ọzọ mere.

possible-check = Lelee tupu ị nwaa ọzọ.

undone-failed = Ọ dara: { $action }.

undone-failed-more = { $count } ọzọ dara.

failed-check = Lelee ihe e mere tupu ị nwaa ọzọ.

errored = Ọrụ dara.

cancelled = A kwụsịrị ọrụ.

unfinished = Ọrụ emechabeghị.

tools = Ọnụọgụ ngwá ọrụ e jiri mee ihe: { $count }.

took = O were { $duration }.

takes = Nke a ga-ewe ihe dị ka { $duration }.

left = Ọ fọdụrụ ihe dị ka { $duration }.

by-user = Onye na-eji ya kwụsịrị ya.

by-producer = Onye nnọchi kwụsịrị ya.

by-timeout = O were oge karịrị akarị.

by-system = Sistemụ kwụsịrị ya.

partial = Ruo ugbu a: { $result }

code = Koodu njehie { $code }.

category-transient = Ịnwa ọzọ nwere ike inye aka.

category-permanent = Ịnwa ọzọ agaghị enye aka.

category-requires_user = Ị ga-ebu ụzọ mee ihe.

hint-transient = Ịnwa ọzọ ma e mechaa nwere ike inye aka.

hint-permanent = Ịnwa ọzọ agaghị enye aka. Gwa onye na-elekọta onye nnọchi.

hint-requires_user = Lelee ma e kwere onye nnọchi mee nke a, wee nwaa ọzọ.

hint-unknown = Nwaa ọzọ. Ọ bụrụ na ọ daa ọzọ, gwa onye na-elekọta onye nnọchi.

lost = Onye nnọchi kwụsịrị na mberede. Ọrụ emechabeghị.

lost-hint = Lelee ihe e mere tupu ị malite ya ọzọ.

lost-detailed = Onye nnọchi kwụsịrị na mberede. Ọrụ emechabeghị. Ihe ọ malitere, o nwere ike ịbụ na o mere.

handoff-human = A na-enyefe mmadụ ọrụ.

handoff-specialist_agent = A na-enyefe onye nnọchi ọzọ ọrụ.

handoff-escalation_queue = A na-enyefe ọrụ. Onye ga-eme ya ga-ewere ya.

handoff-other = A na-enyefe ọrụ.

not_taken = Ọ dịghị onye weere ọrụ ahụ.

## What goes on

state-idle = Enweghị ọrụ ugbu a.

state-thinking = Ọ na-eche echiche.

state-thinking-detailed = Ọ na-eche ihe ọ ga-eme ọzọ.

state-calling_tool = Ọ na-eji ngwá ọrụ.

state-writing_output = Ọ na-ede ihe.

state-awaiting_input = Ọ na-eche gị.

state-deciding = Ọ na-ekpebi.

state-deciding-detailed = Ọ na-ekpebi otu ọ ga-esi gaa n'ihu.

state-handing_off = Ọ na-enyefe ọrụ.

state-other = Ugbu a: { $state }.

state-unnamed = Ihe ọzọ na-eme ugbu a.

resync = Ihe mere ruo ugbu a.

percent = Pasent { $percent }.

step = Nzọụkwụ { $step }.

step-of = Nzọụkwụ { $step } n'ime { $total }.

progress-none = Ọrụ ka na-aga.

invoked = Ọ na-akpọ { $tool }.

tool = otu ngwá ọrụ

with = Ya na { $arguments }.

undo-warning = Enweghị ike ịgbanwe nke a azụ.

success = { $tool }: agwụla.

stopped = { $tool }: a kwụsịrị ya.

stopped-early = { $tool }: a kwụsịrị ya n'oge na-erubeghị.

success-summary = { $call }: emechala.

error-unnamed = otu njehie

error-mistake = njehie dị n'onye nnọchi

error-several = Njehie { $count }, gụnyere: { $name }

error = { $call }: ọ dara.

error-reason = { $call }: ọ dara: { $reason }

timeout = { $call }: emechabeghị. O nwere ike ịbụ na o mere. Lelee tupu ị nwaa ọzọ.

status = Ọnọdụ ọ kọrọ bụ: { $status }.

skipped = Emeghị ya: { $action }: onye nnọchi kwụsịrị ichere.

says = { $agent }:

says-quoted = Okwu e hotara n'aka { $agent }:

agent = Onye nnọchi

agent-named = Onye nnọchi { $name }

session = { $work }: { $text }

notice = Ọkwa.

notice-type = Ihe ngwa ọgụgụ a na-amaghị: { $type }.

incomplete = Ozi ezughị ezu.

incomplete-prompt = Enweghị ike ịnabata ya ma ọ bụ ịza ya ebe a.

cut = E bipụrụ ya ebe a, ọ fọdụrụ mkpụrụ edemede { $count }.

## Prompts

confirm = Achọrọ nkwenye.

action-none = Onye nnọchi ekwughị ihe ọ ga-eme.

consequence = Ọ bụrụ na ị nabata: { $consequence }

consequence-none = Onye nnọchi ekwughị ihe ga-eme.

consequence-unstated = Ọ dịghị onye kwuru ihe nke a ga-agbanwe. Were ya ka ihe a na-agaghị agbanweli azụ.

consequence-unknown = Ekwughị ihe nke a ga-agbanwe.

consequence-again = Ekwughị mmetụta ya.

risk-low = Ihe ize ndụ dị ala

risk-medium = Ihe ize ndụ dị n'etiti

risk-high = Ihe ize ndụ dị elu

risk-none = Ekwughị ihe ize ndụ: were ya ka nke dị elu

risk-unstated = Ihe ize ndụ a na-ekwughị

undo-irreversible = enweghị ike ịgbanwe ya azụ

undo-reversible_with_effort = e nwere ike iji mgbalị gbanwee ya azụ

undo-reversible = e nwere ike ịgbanwe ya azụ

undo-none = ekwughị ma a ga-agbanweli ya azụ

risk = { $risk }, { $undo }.

default-reject = A ga-ajụ ya ajụ mgbe { $duration } gachara na-enweghị azịza.

default-accept = A ga-anabata ya mgbe { $duration } gachara na-enweghị azịza.

default-reject-short = A ga-ajụ ya ajụ mgbe { $duration } gachara.

default-accept-short = A ga-anabata ya mgbe { $duration } gachara.

expired = Oge ịza agafeela.

unrefusable = Enyeghị ohere ịjụ ajụ.

unacceptable = Enyeghị ohere ịnabata.

uncut = Nụrụ ederede ahụ dum tupu ị nwee ike ịnabata: { $key }.

uncut-plain = Nụrụ ederede ahụ dum tupu ị nwee ike ịnabata.

rest = Ọ gara n'ihu: { $text }

rest-action = Ihe a ga-eme gara n'ihu: { $text }

rest-consequence = Ihe ga-eme ma ị nabata gara n'ihu: { $text }

key = { $key } { $effect }

key-accept = nabata

key-reject = jụ ajụ

key-yes = ee

key-no = mba

key-more = nke ọzọ

key-time = oge ọzọ

key-close = pụọ

write = Dee { $words } ma ọ bụ { $last }.

write-one = Dee { $word }.

question = Ajụjụ.

question-none = Onye nnọchi ekwughị ihe ọ na-ajụ.

why = Ihe kpatara ya: { $reason }

choice = { $number }: { $label }

kind-freetext = Jiri okwu nke gị zaa.

kind-yes_no = Zaa { word-yes } ma ọ bụ { word-no }.

kind-numeric = Jiri nọmba zaa.

time = Oge ịza: { $duration }.

time-default = Oge ịza: { $duration }, ma ọ bụghị ya: { $answer }

longer = I nwere { $duration } ugbu a.

countdown = Oge fọdụrụ ịza: { $duration }. { $action }

time_left = Oge fọdụrụ ịza: { $duration }.

again = Ọzọ.

still = Ọ ka na-eche gị.

other = Arịrịọ ọzọ na-eche gị.

prompt-waiting = Ajụjụ ọzọ na-eche.

about = Nke ahụ bụ maka nke a: { $action }

flood = Ọtụtụ ozi ngwa ngwa na-abata. Site ugbu a ha ga-eche oge ha.

## Values in what is asked

tool-use = Jiri { $tool }.

with-nothing = enweghị ihe ọzọ

value-quoted = mmalite nhota { $value } njedebe nhota

value-word = okwu bụ { $word }

value-line = ahịrị { $number }: { $text }

value-ending = nọmba jedebere na { $digits }

value-empty = ederede efu

value-blank = ederede bụ naanị oghere

value-invisible = nke a na-adịghị ahụ anya { $character }

value-private = mkpụrụ nkeonwe { $character }

value-unknown = mkpụrụ a na-amaghị { $character }

value-times = { $character }, ugboro { $count }

value-none = ihe ọ bụla adịghị

value-yes = ee

value-no = mba

value-items =
    { $count ->
        [0] ndepụta efu
       *[other] ihe { $count }: { $items }
    }

value-entries =
    { $count ->
        [0] enweghị ndenye
       *[other] ndenye { $count }: { $items }
    }

value-parts =
    { $count ->
        [0] enweghị akụkụ
       *[other] akụkụ { $count }: { $items }
    }

value-bytes = baịtị { $count }

value-digest = { $size }, SHA-256 bidoro na { $digest }

value-other = otu { $kind }

## Outcomes of prompts

outcome-accepted = Anabatala ya.

outcome-rejected = Ajụla ya ajụ.

outcome-answered = Azaala ya.

outcome-accepted-elsewhere = Anabatala ya n'ebe ọzọ.

outcome-rejected-elsewhere = Ajụla ya ajụ n'ebe ọzọ.

outcome-answered-elsewhere = Azaala ya n'ebe ọzọ.

outcome-timed_out = Oge agwụla.

outcome-withdrawn = A naghị arịọ ya ọzọ.

outcome-unavailable = O nweghị onye fọdụrụ ịza.

outcome-no_reply_channel = O nweghị onye nwere ike ịza.

outcome-other = E mechiela arịrịọ ahụ.

outcome-modified = Achọrọ ihe ọzọ. Onye nnọchi ga-arịọ ọzọ.

outcome-granted = E weere ya ka ihe anabatara.

outcome-defaulted = Onye nnọchi ji azịza ọ kpọrọ aha na-aga n'ihu.

outcome-unanswered = Onye nnọchi na-aga n'ihu na-enweghị azịza.

outcome-longer = Enwere oge ọzọ. A na-arịọ ya ọzọ.

## Markdown

markdown-heading = Isi okwu: { $text }

markdown-bullet = Ntụpọ: { $text }

markdown-bullet-nested = Obere ntụpọ: { $text }

markdown-number = { $number }: { $text }

markdown-checked = Akara ya akara: { $text }

markdown-unchecked = Akaraghị ya akara: { $text }

markdown-quote = Nhota: { $text }

markdown-code = Koodu

markdown-coming = ọ na-abịa

markdown-lines = ahịrị { $count }

markdown-table = Tebụl: { $columns }.

markdown-cell = { $column }: { $cell }

markdown-image = Onyonyo: { $text }

markdown-picture = Onyonyo

## The connection

connected = Ejikọtala.

connected-name = Ejikọtala na { $agent }.

reconnected = Ejikọtala ọzọ.

gap = Ejikọtala ọzọ. E nwere ihe gafere n'oge ahụ.

connection-lost = Njikọ ebiela. { $reason }

retrying = { $reason } A ga-anwa ọzọ mgbe sekọnd { $seconds } gachara.

gave_up = A kwụsịrị ịnwa mgbe { $duration } gachara na-enweghị njikọ. { $reason }

resume-slow_consumer = Anyị jiri nwayọ karịrị akarị, anyị na-aga n'ihu ebe anyị nọ.

resume-authentication_expired = Oge ihe nbanye anyị agwụla. Anyị na-egosi nke anyị nwere ugbu a, anyị na-aga n'ihu ebe anyị nọ.

absent = A naghị enweta { $agent } ugbu a.

absent-terse = A naghị enweta { $agent }.

absent-asking = Ọ ga-enweta azịza gị mgbe ọ lọtara.

returned = A na-enweta { $agent } ọzọ.

waiting = A na-eche. Nke a ga-aga n'ihu n'onwe ya.

connection-ended = Njikọ akwụsịla kpamkpam. { $reason }

unreadable = Ihe a na-agụtalighị abatala. Ọ bụrụ na onye nnọchi na-ajụ ihe, o nwere ike ịbụ na ọ na-eche azịza.

no_answers = Onye nnọchi anaghị anara azịza n'aka ngwa ọgụgụ a.

proven = Nke a bụ { $agent }, e jiri igodo { $key } bịanye aka.

unproven = Egosipụtabeghị onye ọ bụ.

unproven-local = Ejiri aha { $agent } na igodo { $key } bịanye ya aka, mana ọ pụrụ ịbụ na onye ọzọ na-eji igwe a na-egosi ya.

refused = Onye nnọchi jụrụ njikọ: { $reason }

refused-code = Onye nnọchi jụrụ njikọ, { $code }: { $reason }

refused-code-only = Onye nnọchi jụrụ njikọ, { $code }.

closed-producer_shutdown = { $agent } akwụsịla.

closed-authentication_expired = Oge nbanye gị agwụla. Jiri nke ọhụrụ jikọọ ọzọ.

closed-slow_consumer = Ngwa ọgụgụ a jiri nwayọ karịrị akarị. Jikọọ ọzọ ka ị gaa n'ihu ebe ọ kwụsịrị.

closed-superseded = Ngwa ọgụgụ ọzọ ewerela ọnọdụ ya.

closed-subscriber_shutdown = Ngwa ọgụgụ a akwụsịla.

closed-rate_violation = Ngwa ọgụgụ a zipụrụ ihe karịrị akarị.

closed-protocol_error = Ngwa ọgụgụ a zipụrụ ihe e kweghị.

closed-manifest_invalid = Akụkụ nke ọzọ enweghị ike igosipụta onye ọ bụ.

closed-other = { $agent } kwụsịrị njikọ: { $reason }.

arrived = Onye nnọchi ọhụrụ: { $agent }.

discover-none = Onye nnọchi ọ bụla anaghị arụ ọrụ ugbu a. A ga-ege onye ọ bụla malitere ntị.

reconnected-name = Ejikọtala na { $agent } ọzọ.

gap-name = Ejikọtala na { $agent } ọzọ. E nwere ihe gafere n'oge ahụ.

connection-lost-name = Njikọ na { $agent } ebiela. { $reason }

connection-ended-name = Njikọ na { $agent } akwụsịla kpamkpam. { $reason }

waiting-name = A na-eche { $agent }. Nke a ga-aga n'ihu n'onwe ya.

no_answers-name = { $agent } anaghị anara azịza n'aka ngwa ọgụgụ a.

unread-name = Nke a bụ maka { $agent }.

asker-gone = Enwekwaghị njikọ na onye nnọchi jụrụ ajụjụ.

## Why a connection is refused

refused-version_unsupported = ọ naghị asụ ụdị usoro nkwukọrịta ọ bụla anyị na-asụ.

refused-manifest_invalid = enweghị ike ilele otu ihe akaebe.

refused-manifest_signature_required = o nweghị ihe akaebe a bịanyere aka na-egosi onye ọ bụ.

refused-capabilities_incompatible = o nweghị ike inye ihe anyị rịọrọ.

refused-rate_limit = ihe a na-arịọ ya karịrị akarị ugbu a.

refused-authentication_required = ọ maghị ndị anyị bụ.

refused-authentication_expired = oge ihe nbanye anyị agwụla.

refused-authorization_denied = anyị enweghị ikike ịbanye.

refused-transport_unavailable = enweghị ike iji ya otú a ugbu a.

refused-unknown = o kwughị ihe kpatara ya.

refused-slow_consumer = anyị jiri nwayọ karịrị akarị.

refused-rate_violation = anyị zipụrụ ihe karịrị akarị.

refused-protocol_error = anyị zipụrụ ihe usoro nkwukọrịta ekweghị.

advice-version_unsupported = Jiri ụdị ngwa a nke na-asụ ụdị nke akụkụ ọzọ.

advice-manifest_invalid = Rịọ onye na-elekọta onye nnọchi ihe akaebe a pụrụ ilele.

advice-manifest_signature_required = Rịọ onye na-elekọta onye nnọchi ihe akaebe a bịanyere aka na-egosi onye ọ bụ.

advice-capabilities_incompatible = Rịọ ihe dị ntakịrị, ma ọ bụ asụsụ dị.

advice-rate_limit = Nwaa ọzọ ma e mechaa.

advice-authentication_required = Jiri { $options } nye ihe nbanye ziri ezi.

advice-authentication_expired = Jiri ihe nbanye ọhụrụ jikọọ ọzọ.

advice-authorization_denied = Rịọ onye na-elekọta onye nnọchi ikike ịbanye.

advice-transport_unavailable = Nwaa ọzọ ma e mechaa, ma ọ bụ jiri ụzọ njikọ ọzọ.

advice-slow_consumer = Rịọ ihe dị ntakịrị, ma ọ bụ gụọ ngwa ngwa karịa.

advice-rate_violation = Zipụ azịza na mgbanwe dị ole na ole.

advice-unknown = Jụọ onye na-elekọta onye nnọchi ihe ọ pụtara.

## At the terminal

attention = Ntị. { $text }

greeting-keys = Pịa ? maka enyemaka, q iji pụọ.

greeting-lines = Dee { command-help } na Enter maka enyemaka.

greeting-pipe = Enweghị mkparịta ụka: a na-agụ iwu site na ntinye nkịtị, otu n'ahịrị ọ bụla.

greeting-none = Enweghị mkparịta ụka: a ga-egosi arịrịọ, a gaghị aza ha.

prompts-shown = A ga-egosi arịrịọ, a gaghị aza ha.

input-ended = Ntinye nkịtị agwụla. Ige ntị na-aga n'ihu.

goodbye = A kwụsịrị ige ntị.

goodbye-open = Ọnụọgụ ajụjụ a zaghị: { $count }.

other_session = Ọrụ ọzọ na-ajụ ihe a na-egosighị ebe a.

typed_before = Ihe e dere tupu ahịrị a agụghị ọnụ.

draft = Ihe ị na-ede: { $text }

nothing_said = Ekwubeghị ihe ọ bụla.

nothing_before = Ekwughị ihe ọ bụla tupu nke ahụ.

nothing_after = Nke ahụ bụ nke ikpeazụ.

backlog = Ozi ọhụrụ { $count } ọzọ.

quiet-begin = Enyela nsogbu. Naanị ajụjụ na ịdọ aka ná ntị ka a ga-ekwu.

quiet-end =
    { $count ->
        [0] Ọ dịghị ihe mere n'oge ahụ.
       *[other] Ozi ọhụrụ { $count } n'oge ahụ.
    }

quiet-hear-key = Pịa f ka ị nụ nke mbụ.

quiet-hear-line = Dee { command-forward } ka ị nụ nke mbụ.

verbosity =
    { $verbosity ->
        [terse] Ogo nkọwa: mkpirikpi.
        [detailed] Ogo nkọwa: zuru ezu.
       *[normal] Ogo nkọwa: nkịtị.
    }

asking_time = A na-arịọ { $duration }.

sending-accept = A na-ezipụ: nabata.

sending-reject = A na-ezipụ: jụ ajụ.

sending = A na-ezipụ: { $answer }

no_time = Onye nnọchi enyeghị oge ọzọ.

unsent = Enweghị ike izipụ ya. { $reason }

still_open = Arịrịọ ahụ ka ghe oghe.

may_have_arrived = O were oge karịrị akarị, o nwere ike ịbụ na o ruru ma ọ bụ na o rughị.

not_connected = Enwebeghị njikọ.

speech-paused = Ịkwu okwu kwụsịtụrụ.

speech-nothing = A naghị ekwu ihe ọ bụla ugbu a.

speech-gone = Ịkwu okwu akwụsịla. Ederede na-aga n'ihu ebe a.

speech-back = Ịkwu okwu alọtala.

speech-no_voice = Enweghị olu maka asụsụ a ebe a: { $language }. A na-eji olu asụsụ a agụ ya: { $other }.

speech-none = A naghị ekwupụta ihe ọ bụla ebe a.

speech-unavailable = Speech Dispatcher anaghị aza. Wụnye ya ma ọ bụ malite ya.

speech-none-prism = Achọrọ ọba Prism. Jiri nke a wụnye ya: pip install prismatoid.

speech-address = SPEECHD_ADDRESS bụ { $address }. Dee unix_socket:path ma ọ bụ inet_socket:host:port.

speech-refused = Speech Dispatcher amaghị { $value }.

braille-unavailable = Ọ dịghị ihe na-aza na { $address }. Malite BRLTTY ma ọ bụ tọọ BRLAPI_HOST. Na Debian: apt install brltty.

braille-library = Braille chọrọ liblouis, nke a na-awụnyeghị. Na Debian: apt install liblouis20 liblouis-data.

speech-rate = Okwu { $count } na nkeji.

## Answering

help-keys = Igodo: a ịnabata, r ịjụ ajụ, m ịnụ karịa, s ịnụ ya ọzọ, o ịga n'arịrịọ na-esote ghere oghe.

help-keys-more = v ịgbanwe ogo nkọwa, t ịrịọ oge ọzọ, q ịpụ, ? ịnụ enyemaka a.

help-keys-history = b ịga azụ, f ịga n'ihu. s ugboro abụọ ịnụ ha niile. d ka a ghara inye nsogbu.

help-second-key = Ịnabata chọrọ igodo nke abụọ ma ọ bụrụ na ihe ize ndụ dị, ma ọ bụ na ọtụtụ arịrịọ ghe oghe.

help-second-line = Ịnabata chọrọ ahịrị nke abụọ ma ọ bụrụ na ihe ize ndụ dị, ma ọ bụ na ọtụtụ arịrịọ ghe oghe.

help-answer = Jiri nọmba ya zaa ajụjụ, ma ọ bụ y ma ọ bụ n, wee pịa Enter.

help-freetext = Iji okwu nke gị zaa, pịa Enter, dee, ma pịa Enter ọzọ.

help-lines = Iwu, otu n'ahịrị ọ bụla: { command-accept }, { command-reject }, { command-more }, { command-repeat }, { command-next }, { command-verbosity }, { command-time }, { command-quit }, { command-help }.

help-lines-history = Jiri { command-back } na { command-forward } gagharịa n'ihe e kwuru. Jiri { command-repeat } ugboro abụọ nụ ha niile. Jiri { command-quiet } ka a ghara inye gị nsogbu.

help-next = Jiri { command-next } gaa n'arịrịọ na-esote ghere oghe.

help-answer-lines = Jiri nọmba ya, { word-yes }, { word-no }, ma ọ bụ okwu nke gị zaa ajụjụ.

help-command-answer = Iji okwu bụ iwu zipụ dị ka azịza, dee { command-answer } n'ihu ya.

several_open = Arịrịọ { $count } ghe oghe. Ị na-aza nke a ugbu a. { $hint }

prompt-hear-key = Pịa o ka ị nụ ya.

prompt-hear-line = Dee { command-next } ka ị nụ ya.

next-key = Pịa o maka arịrịọ na-esote.

next-line = Dee { command-next } maka arịrịọ na-esote.

still_answering = Ị ka na-aza nke a: { $action }

draft-unsent = Ezipụghị ihe ị na-ede: { $text }

accept-void = Anabataghị ihe ọ bụla ebe a.

accept-taken_back = E weghachiri ya. Anabataghị ihe ọ bụla.

accept-second-key = Anabatabeghị ya. Pịa y ịnabata nke a: { $action } Igodo ọ bụla ọzọ na-akagbu ya.

accept-second-key-long = Anabatabeghị ya. Pịa y ịnabata ihe bidoro otú a: { $action } Igodo ọ bụla ọzọ na-akagbu ya.

accept-second-line = Anabatabeghị ya. Dee { word-yes } ịnabata nke a: { $action } Ahịrị ọ bụla ọzọ na-akagbu ya.

accept-second-line-long = Anabatabeghị ya. Dee { word-yes } ịnabata ihe bidoro otú a: { $action } Ahịrị ọ bụla ọzọ na-akagbu ya.

leaving-open = Ọnụọgụ ajụjụ ghere oghe: { $count }.

leaving-keys =
    { $count ->
       *[other] Pịa l ịhapụ ya na-eghe oghe, Escape ịnọrọ.
    }

leaving-keys-refuse =
    { $count ->
       *[other] Pịa r ịjụ ya ajụ ma pụọ, l ịhapụ ya na-eghe oghe, Escape ịnọrọ.
    }

leaving-keys-some = Pịa r ịjụ naanị { $count } n'ime ha ajụ ma pụọ, l ịhapụ ha niile na-eghe oghe, Escape ịnọrọ.

leaving-lines =
    { $count ->
       *[other] Dee { command-leave } ịhapụ ya na-eghe oghe, { command-stay } ịnọrọ.
    }

leaving-lines-refuse =
    { $count ->
       *[other] Dee { command-refuse } ịjụ ya ajụ ma pụọ, { command-leave } ịhapụ ya na-eghe oghe, { command-stay } ịnọrọ.
    }

leaving-lines-some = Dee { command-refuse } ịjụ naanị { $count } n'ime ha ajụ ma pụọ, { command-leave } ịhapụ ha niile na-eghe oghe, { command-stay } ịnọrọ.

stay = Ị nọrọ. Azaghị ihe ọ bụla.

keys-several = Ọtụtụ igodo batara otu mgbe. Nke ọ bụla n'ime ha agụghị ọnụ. Pịa otu igodo n'otu oge.

keys-unknown = Igodo { $key } anaghị eme ihe ọ bụla ebe a. Pịa ? maka enyemaka.

keys-too_soon = Igodo ahụ batara ngwa ngwa, ọ gụghị ọnụ. Chere ntakịrị, wee pịa ya otu ugboro.

draft-begin = Dee azịza gị. Enter na-ezipụ ya. Escape na-ahapụ ya na-ezipụghị.

draft-empty = Edeghị ihe ọ bụla. Ezipụghị ihe ọ bụla.

draft-left = A hapụrụ ya. Ezipụghị ihe ọ bụla.

draft-removed = E wepụrụ ihe i dere. Dee azịza gị.

enter-prompt = Naanị Enter anaghị aza ihe ọ bụla. Pịa s ịnụ arịrịọ ahụ ọzọ.

enter-nothing = Enweghị ihe a ga-aza. Pịa ? maka enyemaka.

line-empty = Ahịrị efu anaghị aza ihe ọ bụla.

line-no_prompt = Enweghị arịrịọ, ya mere ahịrị ahụ azaghị ihe ọ bụla. Dee { command-help } maka enyemaka.

line-unknown = Aghọtaghị ahịrị ahụ. Ezipụghị ihe ọ bụla. Dee { command-accept }, { command-reject } ma ọ bụ { command-help }.

no_other = Enweghị arịrịọ ọzọ ghere oghe.

no_more_time = Enweghị oge ọzọ a ga-enweta.

time_asked = A rịọlarị oge ọzọ.

cannot_reply = Ngwa ọgụgụ a enweghị ike ịza arịrịọ. Ezipụghị ihe ọ bụla.

answer_sent = Ezipụla azịza gị. Chere ihe onye nnọchi ga-ekwu.

nothing_to-accept = Enweghị ihe a ga-anabata.

nothing_to-reject = Enweghị ihe a ga-ajụ ajụ.

nothing_to-answer = Enweghị ihe a ga-aza.

nothing_to-time = Enweghị ihe chọrọ oge ọzọ.

another_open = Arịrịọ ọzọ ghe oghe. { $hint }

is_question = Nke a bụ ajụjụ. { $hint }

answer-word = Iji okwu ahụ zipụ dị ka azịza gị, dee { command-answer } n'ihu ya.

answer-freetext = Pịa Enter, dee azịza gị, ma pịa Enter ọzọ.

answer-own_words = Pịa Enter tupu i dee okwu nke gị.

answer-impossible = Enweghị ike ịza ajụjụ a ebe a.

answer-forms = Jiri { $forms } zaa, wee pịa Enter.

answer-or = { $first } ma ọ bụ { $second }

answer-number = Nọmba na-abụghị nhọrọ, dee ya na = n'ihu ya.

answer-unsent = Ezipụghị ihe ọ bụla. { $hint }

form-multiple_choice = nọmba nke otu nhọrọ

form-yes_no = { word-yes } ma ọ bụ { word-no }

form-numeric = otu nọmba

form-freetext = okwu nke gị

help-speech = Oghere ịkwụsị ịkwu okwu, p ịkwụsịtụ ya na ịga n'ihu, k iji wụpụ ruo ugbu a, kpọm ime ya ngwa ngwa karịa, rikom ibelata ọsọ ya.

help-speech-lines = Jiri { command-silence } kwụsị ịkwu okwu, jiri { command-pause } kwụsịtụ ya ma gaa n'ihu, jiri { command-skip } wụpụ ruo ugbu a. E nwekwara { command-faster } na { command-slower }.

line-too_soon = Nke ahụ batara ngwa ngwa, ọ gụghị ọnụ. Buru ụzọ nụrụ arịrịọ ahụ ruo ọgwụgwụ.

## Settings

settings-line = Enweghị ike ịgụ ahịrị { $line } nke ntọala, e jighị ya eme ihe: { $text }

settings-repeated = Ahịrị { $line } nke ntọala kpọrọ { $setting } aha nke ugboro abụọ. Nke mbụ ka e ji eme ihe.

settings-unknown = Ahịrị { $line } nke ntọala kpọrọ { $setting } aha, mana enweghị ntọala dị otú ahụ.

settings-similar = Ọ bụ { $setting } ka ị chọrọ ikwu?

settings-value = E jighị ahịrị { $line } nke ntọala eme ihe: { $setting } ga-abụrịrị { $expected }.

settings-variable = E jighị ihe mgbanwe { $variable } eme ihe. Ọ ga-abụrịrị { $expected }.

settings-more = E jighị ahịrị { $count } ọzọ nke ntọala eme ihe.

settings-unreadable = Enweghị ike ịgụ ntọala, ya mere a na-eji ntọala ndabara. { $reason }

settings-missing = Enweghị faịlụ { $file }, ya mere a na-eji ntọala ndabara.

settings-encoding = Ahịrị { $line } nwere mkpụrụ edemede na-abụghị nke UTF-8.

settings-unsafe = Ndị ọzọ na-eji igwe a nwere ike ịgbanwe { $file }, ya mere a na-eji ntọala ndabara. Mezuo iwu chmod go-w na ya.

settings-stranger = { $file } bụ nke onye ọzọ na-eji igwe a, ya mere a na-eji ntọala ndabara.

settings-allow = Enweghị ike ịgụ ụkpụrụ dị na ntọala gị, ya mere a ga-arịọ ikike maka ihe niile. { $reason }

## Words for sounds

earcon-sent = Ezipụla.

earcon-working = Ọrụ na-aga.

earcon-done = Ọrụ agwụla.

earcon-needs-you = O ruola gị.

earcon-error = Njehie.

## Coding agents

code-started = { $agent } na-arụ ọrụ.

code-run = Mezuo iwu { $command }.

code-create = Mepụta { $file }, { $size }: { $text }.

code-change = Gbanwee { $file }: tinye { $added }, wepụ { $removed }.

code-change-nothing = Dee { $file } ọzọ na-agbanweghị ihe ọ bụla.

code-hunk-add = N'ahịrị { $line }, tinye { $text }.

code-hunk-remove = N'ahịrị { $line }, wepụ { $text }.

code-hunk-replace = N'ahịrị { $line }, jiri { $new } dochie { $old }.

code-hunk-blank = Naanị oghere ma ọ bụ njedebe ahịrị dị iche n'ebe ahụ.

code-own_words = Onye nnọchi ekwughị iwu ọ ga-emezu, naanị nke a ka o kwuru: { $text }.

code-effect-run = Ọ ga-eji ikike gị niile rụọ ọrụ.

code-effect-change = A ga-ede faịlụ ahụ.

code-effect-delete = Ọ ga-efu, belụsọ ma i nwere oyiri ya.

code-effect-move = Ọ ga-anọ n'ebe ọzọ.

code-effect-read = Onye nnọchi na modelụ ya ga-agụ ya.

code-effect-search = Onye nnọchi na modelụ ya ga-agụ ihe a hụrụ.

code-effect-think = Ọ dịghị ihe ga-agbanwe.

code-effect-fetch = Adreesị ahụ na ihe e zigara ebe ahụ ga-apụ n'igwe a.

code-effect-switch_mode = Site mgbe ahụ, onye nnọchi nwere ike ibelata ihe ọ na-arịọ ikike maka ya.

code-effect-other = Amaghị ihe nke a ga-agbanwe. Were ya ka ihe a na-agaghị agbanweli azụ.

code-running = Ọ na-emezu iwu { $command }.

code-creating = Ọ na-emepụta { $file }.

code-changing = Ọ na-agbanwe { $file }.

code-reading = Ọ na-agụ { $file }.

code-searching = Ọ na-achọ { $text }.

code-described = N'okwu nke onye nnọchi: { $text }.

code-using = Ọ na-eji { $tool }.

code-ruled = Ụkpụrụ nke gị nyere ikike. { $text }

code-unasked = Ịdọ aka ná ntị. O mere nke a na-arịọghị ikike: { $text }

code-unasked-failed = Ịdọ aka ná ntị. Ọ nwara nke a na-arịọghị ikike, ọ dara: { $text }

code-despite = Ịdọ aka ná ntị. O mere nke a n'agbanyeghị na a jụrụ ya ajụ: { $text }

code-stopping = A na-akwụsị onye nnọchi.

code-undescribed = ihe a na-enweghị ike ịkọwa

code-too_long = Ajụla ya ajụ: o toro ogologo nke na enweghị ike ịgụpụta ya dum. { $text } Rịọ ka e were nzọụkwụ ndị pere mpe.

code-unreadable = Ajụla ya ajụ: enweghị ike ịgụpụta ya dum, n'ihi na o yiri ka o nwere ihe nzuzo. { $text }

code-unofferable = Ajụla ya ajụ: onye nnọchi enyeghị ụzọ a ga-esi kwe nke a naanị otu ugboro. { $text }

code-between = Ajụla ya ajụ: onye nnọchi rịọrọ nke a mgbe ọ na-anọghị n'ọrụ. { $text }

code-mode = Usoro ọrụ: { $mode }.

code-mode-unasked = Ịdọ aka ná ntị. N'usoro ọrụ { $mode }, onye nnọchi na-eme ihe na-arịọghị ikike.

code-mode-back = A na-eweghachi ya n'usoro mbụ.

code-mode-unknown = Amaghị ma onye nnọchi a ọ na-arịọ ikike tupu o mee ihe. A ga-ekwu ihe o mere na-arịọghị ikike, a ga-akwụsịkwa ya n'ihi ya.

code-subagent = Onye enyemaka { $name }: { $state }.

code-stop-refusal = Modelụ jụrụ ịga n'ihu.

code-stop-max_tokens = Azịza ahụ toro ogologo karịa ike modelụ.

code-stop-max_turn_requests = O were nzọụkwụ karịrị nke e kwere ya.

code-stop-other = Ọ kwụsịrị, o kwughị ihe kpatara ya.

code-stop-error = Onye nnọchi kọrọ njehie.

code-stop-gone = Ngwanrọ onye nnọchi akwụsịla.

code-stop-stuck = Ọ kwụsịghị, ya mere e mechiri ngwanrọ ya.

code-stop-fault = Otu ihe dara na ngwanrọ a, ya mere a kwụsịrị onye nnọchi.

code-refused = Onye nnọchi kwụsịrị oge ọrụ ya mgbe a jụrụ ihe ọ rịọrọ ajụ.

compose-begin = Degara onye nnọchi ozi. Enter na-ezipụ ya. Escape na-ahapụ ya ruo oge ọzọ.

compose-left = A hapụrụ ya. Pịa p ka ị gaa n'ihu na ya.

compose-left-empty = A hapụrụ ya. Edeghị ihe ọ bụla.

compose-removed = E wepụrụ ahịrị ahụ.

compose-joined = Ahịrị bu ụzọ:

compose-history-none = Ezipụbeghị ihe ọ bụla.

compose-help = p ma ọ bụ Enter idegara onye nnọchi ozi. Backslash n'ọgwụgwụ na-amalite ahịrị ọzọ.

compose-help-history = h ịnụ ndepụta ihe i zipụrụ. Igodo akụ elu iweghachi ya. @aha ịkpọ faịlụ aha.

compose-help-lines = A na-ezigara onye nnọchi ahịrị ọ bụla ọzọ, gụnyere nke sochiri okwu bụ prompt. Dee history ịnụ ndepụta ihe i zipụrụ.

code-ready = { $agent } dị njikere. Pịa p idegara ya ozi.

code-ready-lines = { $agent } dị njikere. Degara ya ozi.

code-queued = Ọ ka na-arụ ọrụ. Nke a ka a ga-ezipụ na-esote.

code-interrupt = A na-akwụsị ya. Pịa Control-C ọzọ iji mechie.

code-interrupt-idle = Pịa Control-C ọzọ iji mechie.

code-file = Ya na faịlụ { $file }.

code-file-missing = Enweghị faịlụ { $file } ebe a. E zipụrụ ya dị ka okwu nkịtị.

code-error = Onye nnọchi kwuru: { $text }

code-last_words = Okwu ikpeazụ ya bụ ndị a.

code-hint-again = Degara ya ozi ọzọ iji gaa n'ihu.

code-editor-allowed = E nyere ikike na ngwa ndezi. { $text }

code-editor-refused = Ajụla ya ajụ na ngwa ndezi.

code-editor-done = Agwụla: { $text }

code-editor-failed = Ọ dara: { $text }

code-editor-only = Naanị na ngwa ndezi ka e nwere ike ịza nke a. { $text }

code-editor-fault = Otu ihe dara na ngwanrọ a. Onye nnọchi na ngwa ndezi na-aga n'ihu.

code-editor-gone = Ngwa ndezi akwụsịla.

code-run-long = Mezuo iwu nwere { $size }.

code-create-long = Mepụta { $file }, { $size }.

code-write-long = Dee { $file }, { $size }.

code-edit-long = N'ime { $file }, jiri { $added } dochie { $removed }.

code-kilobytes = kilobaịtị { $count }

code-parts = { $overview } Ogologo ya bụ { $size }, n'akụkụ { $count }. Agaghị eme ihe ọ bụla tupu ị nụchaa ya dum. Ka anyị gaa n'ihu?

code-part = Akụkụ { $number } n'ime { $count }. { $text } Ka anyị gaa n'ihu?

code-part-last = { $overview } Nke a bụ akụkụ ikpeazụ n'ime { $count }. { $text }

code-part-line = Ọ gara n'ihu site n'ahịrị { $line }, ebe a nọmba ahịrị na-amalite ọzọ na 1: { $text }

code-part-word = Ọ gara n'ihu n'ime ahịrị { $line }: { $text }

code-part-middle = Ọ gara n'ihu n'ime ahịrị { $line }, n'etiti okwu: { $text }

code-part-refused = Ajụla ya ajụ. Emeghị ihe ọ bụla. { $text }

## Braille

braille-no_table = Enweghị tebụl Braille maka asụsụ { $language }. A na-eji mkpụrụ edemede Bekee.

braille-marks = Na Braille, ntụpọ 8 na-egosi mkpụrụ edemede nwere akara na-adịghị na tebụl.

braille-lost = Ihuenyo Braille apụọla. A ga-egosi ederede ọzọ mgbe ọ lọtara.

braille-back = Ihuenyo Braille alọtala.

braille-read_on = Buru ụzọ gụruo ọgwụgwụ, mgbe ahụ ị ga-enwe ike ịnabata.

braille-choice = Enter na-ezipụ { $choice }

## Hooks of coding agents

hooks-started = { $agent } na-arụ ọrụ.


hooks-write = Dee { $file }, { $size }: { $text }.

hooks-edit = N'ime { $file }, jiri { $new } dochie { $old }.

hooks-edit-all = N'ime { $file }, jiri { $new } dochie { $old } niile.






hooks-terminal = Zaa na tẹminal onye nnọchi. { $text }

hooks-terminal-unread = Zaa na tẹminal onye nnọchi. Ọ chọrọ iji { $tool }, mana enweghị ike ịgụpụta ya dum.

hooks-refused-unread = Ajụla ya ajụ. Ọ chọrọ iji { $tool }, mana enweghị ike ịgụpụta ya dum.

hooks-terminal-allowed = E nyere ikike na tẹminal onye nnọchi. { $text }

hooks-unasked = Ịdọ aka ná ntị. O mere nke a na-arịọghị ikike. { $text }

hooks-despite = Ịdọ aka ná ntị. O mere nke a n'agbanyeghị na a jụrụ ya ajụ. { $text }

hooks-undescribed = O jiri { $tool }, mana enweghị ike ịgụpụta ya.

hooks-next = Ọrụ ọzọ abịala.

hooks-idle = { $agent } na-eche ọrụ ọzọ ị ga-enye ya.

hooks-closed = E mechiela { $agent }.

## Falling behind

behind-key = Ịkwu okwu nọ n'azụ: { $duration } ka na-eche. Pịa k iji wụpụ ruo ugbu a.

behind-line = Ịkwu okwu nọ n'azụ: { $duration } ka na-eche. Dee { command-skip } iji wụpụ ruo ugbu a.

behind-skipped = A wụpụrụ ozi ọhụrụ { $count }.

behind-nothing = Enweghị ihe a ga-awụpụ. Nke a bụ nke ugbu a.

## Notifications of the desktop

greeting-daemon = A na-ege ntị n'azụ.

notifications-none = Enweghị ọkwa ebe a: ọ dịghị ọrụ desktọọpụ na-aza.

notifications-gone = Ọkwa akwụsịla: e mechiela desktọọpụ.

notification-answer = Zaa na tẹminal: aaep listen

notification-title = Arịrịọ sitere n'aka { $agent }

notification-accept = Nabata

notification-reject = Jụ ajụ

## Durations

duration-moment = ihe na-erughị otu sekọnd

duration-days = ụbọchị { $count }

duration-hours = awa { $count }

duration-minutes = nkeji { $count }

duration-seconds = sekọnd { $count }

duration-pair = { $first } na { $second }

## Words that a person writes

command-accept = nabata

command-reject = ju

command-refuse = ju

command-more = karia

command-repeat = kwughachi

command-next = osote

command-back = azu

command-forward = ihu

command-quiet = nwayo

command-verbosity = nkowa

command-time = oge

command-quit = puo

command-help = enyemaka

command-answer = aziza

command-leave = hapu

command-stay = noro

word-yes = ee

word-no = mba

command-silence = kwusi

command-pause = chere

command-skip = wupu

command-faster = ngwa

command-slower = belata

## Putting words together

list = { $first }, { $second }

list-long = { $first }; { $second }

decimal-sign = .

value-marks = nhota, mmalite nhota, njedebe nhota, hota, hotara

value-own_words = nabata, ịnabata, anabata, anabatala, anabatara, anabatabeghị, nkwenye, jụ, ju, ịjụ, ajụ, ajụla, efu, oghere, ahịrị, ala, etiti, elu, mba, ihe, nhota, zoro, ize, ndụ, azụ, ịgbanwe, gbanwee, ee, ajụjụ

expected-word = { $words } ma ọ bụ { $last }

expected-whole_number = ọnụọgụ zuru ezu site na { $lowest } ruo { $highest }

expected-number = ọnụọgụ site na { $lowest } ruo { $highest }

expected-languages = ndepụta koodu asụsụ dịka en-GB

expected-texts = ndepụta ederede

expected-text = ederede

## The language

language-name = Igbo

language-none = Ngwa ọgụgụ a enweghị okwu n'asụsụ a: { $languages }. Ọ na-asụ { language-name }.

## Why a connection is closed, to the other side

close-producer_shutdown = Akụkụ onye nnọchi na-emechi.

close-authentication_expired = Ihe nbanye nke ngwa ọgụgụ a anaghị arụ ọrụ ọzọ. Jiri nke ọhụrụ jikọọ ọzọ.

close-slow_consumer = Ngwa ọgụgụ anaghị agbasoli. Jikọọ ọzọ ka ị gaa n'ihu ebe ọ kwụsịrị.

close-superseded = Ngwa ọgụgụ ọzọ ewerela ọnọdụ ya.

close-subscriber_shutdown = Ngwa ọgụgụ akwụsịla.

close-rate_violation = Ngwa ọgụgụ zipụrụ ihe karịrị akarị.

close-protocol_error = Ngwa ọgụgụ zipụrụ ihe e kweghị.

close-manifest_invalid = Enweghị ike ikwenye otu ihe akaebe.

close-hub_shutdown = Ebe njikọ na-emechi.
