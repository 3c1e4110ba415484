# checked-by-speaker: no
# language: hi

## The work

started = काम शुरू हुआ।

part = इसका हिस्सा: { $parent }

completed = पूरा हुआ।

ended = काम समाप्त हुआ।

undone = यह नहीं किया गया: { $action }।

undone-more =
    { $count ->
        [one] { $count } और काम नहीं किया गया।
       *[other] { $count } और काम नहीं किए गए।
    }

possible = हो सकता है यह हो गया हो: { $action }।

possible-more =
    { $count ->
        [one] हो सकता है { $count } और काम हो गया हो।
       *[other] हो सकता है { $count } और काम हो गए हों।
    }

possible-check = दोबारा कोशिश से पहले जाँच लें।

undone-failed = यह विफल रहा: { $action }।

undone-failed-more =
    { $count ->
        [one] { $count } और काम विफल रहा।
       *[other] { $count } और काम विफल रहे।
    }

failed-check = दोबारा कोशिश से पहले जाँच लें कि क्या-क्या हुआ।

errored = काम विफल रहा।

cancelled = काम रोक दिया गया।

unfinished = काम पूरा नहीं हुआ है।

tools =
    { $count ->
        [one] { $count } टूल का उपयोग हुआ।
       *[other] { $count } टूल का उपयोग हुआ।
    }

took = समय लगा: { $duration }।

takes = इसमें लगभग इतना समय लगेगा: { $duration }।

left = लगभग { $duration } बाकी।

by-user = उपयोगकर्ता ने इसे रोका।

by-producer = एजेंट ने इसे रोका।

by-timeout = बहुत ज़्यादा समय लग गया।

by-system = सिस्टम ने इसे रोका।

partial = अब तक: { $result }

code = त्रुटि कोड { $code }।

category-transient = दोबारा कोशिश से काम बन सकता है।

category-permanent = दोबारा कोशिश से काम नहीं बनेगा।

category-requires_user = पहले आपको कुछ करना होगा।

hint-transient = बाद में दोबारा कोशिश से काम बन सकता है।

hint-permanent = दोबारा कोशिश से काम नहीं बनेगा। एजेंट चलाने वाले को बताएँ।

hint-requires_user = जाँचें कि एजेंट को इसकी अनुमति है या नहीं, फिर दोबारा कोशिश करें।

hint-unknown = दोबारा कोशिश करें। फिर भी विफल रहे तो एजेंट चलाने वाले को बताएँ।

lost = एजेंट अचानक बंद हो गया। काम पूरा नहीं हुआ है।

lost-hint = इसे दोबारा शुरू करने से पहले जाँच लें कि क्या-क्या हुआ।

lost-detailed = एजेंट अचानक बंद हो गया। काम पूरा नहीं हुआ है। जो शुरू हुआ था, वह शायद हो गया हो।

handoff-human = काम किसी व्यक्ति को सौंपा जा रहा है।

handoff-specialist_agent = काम दूसरे एजेंट को सौंपा जा रहा है।

handoff-escalation_queue = काम सौंपा जा रहा है। कोई इसे सँभाल लेगा।

handoff-other = काम सौंपा जा रहा है।

not_taken = काम किसी ने नहीं सँभाला।

## What goes on

state-idle = अभी कोई काम नहीं।

state-thinking = सोच-विचार जारी।

state-thinking-detailed = आगे क्या करना है, इस पर सोच-विचार जारी।

state-calling_tool = टूल का उपयोग जारी।

state-writing_output = लिखना जारी।

state-awaiting_input = आपका इंतज़ार है।

state-deciding = फ़ैसला लिया जा रहा है।

state-deciding-detailed = आगे कैसे बढ़ना है, यह फ़ैसला लिया जा रहा है।

state-handing_off = सौंपना जारी।

state-other = अभी: { $state }।

state-unnamed = अभी कुछ और चल रहा है।

resync = अब तक का हाल।

percent = { $percent } प्रतिशत।

step = चरण { $step }।

step-of = { $total } में से चरण { $step }।

progress-none = काम अब भी जारी है।

invoked = { $tool } चलाया जा रहा है।

tool = एक टूल

with = इसके साथ: { $arguments }।

undo-warning = इसे वापस नहीं लिया जा सकता।

success = { $tool }: समाप्त।

stopped = { $tool }: रोक दिया गया।

stopped-early = { $tool }: समय से पहले रोक दिया गया।

success-summary = { $call }: पूरा हुआ।

error-unnamed = कोई त्रुटि

error-mistake = एजेंट में कोई ग़लती

error-several =
    { $count ->
        [one] { $count } त्रुटि: { $name }
       *[other] { $count } त्रुटियाँ: { $name } और दूसरी
    }

error = { $call }: विफल रहा।

error-reason = { $call }: विफल रहा: { $reason }

timeout = { $call }: पूरा नहीं हुआ। हो सकता है यह हो गया हो। दोबारा कोशिश से पहले जाँच लें।

status = इसने यह स्थिति बताई: { $status }।

skipped = यह नहीं किया गया: { $action }: एजेंट ने इंतज़ार करना छोड़ दिया।

says = { $agent }:

says-quoted = { $agent } का उद्धरण:

agent = एजेंट

agent-named = एजेंट { $name }

session = { $work }: { $text }

notice = सूचना।

notice-type = कुछ ऐसा जो यह रीडर नहीं जानता: { $type }।

incomplete = अधूरा संदेश।

incomplete-prompt = इसे यहाँ मंज़ूर नहीं किया जा सकता, न इसका जवाब दिया जा सकता है।

cut =
    { $count ->
        [one] यहाँ काटा गया, { $count } अक्षर बाकी।
       *[other] यहाँ काटा गया, { $count } अक्षर बाकी।
    }

## Prompts

confirm = पुष्टि चाहिए।

action-none = एजेंट नहीं बताता कि वह क्या करेगा।

consequence = मंज़ूर करने पर: { $consequence }

consequence-none = एजेंट नहीं बताता कि क्या होगा।

consequence-unstated = किसी ने नहीं बताया कि इससे क्या बदलेगा। इसे अंतिम मानें।

consequence-unknown = इससे क्या बदलेगा, यह नहीं बताया गया।

consequence-again = असर नहीं बताया गया।

risk-low = कम जोखिम

risk-medium = मध्यम जोखिम

risk-high = भारी जोखिम

risk-none = जोखिम नहीं बताया गया: इसे भारी मानें

risk-unstated = जोखिम नहीं बताया गया

undo-irreversible = वापस नहीं लिया जा सकता

undo-reversible_with_effort = मेहनत से वापस लिया जा सकता है

undo-reversible = वापस लिया जा सकता है

undo-none = वापसी के बारे में नहीं बताया गया

risk = { $risk }, { $undo }।

default-reject = बिना जवाब { $duration } बीतने पर इनकार माना जाएगा।

default-accept = बिना जवाब { $duration } बीतने पर मंज़ूरी मानी जाएगी।

default-reject-short = { $duration } बीतने पर इनकार।

default-accept-short = { $duration } बीतने पर मंज़ूरी।

expired = जवाब देने का समय बीत चुका है।

unrefusable = इनकार का विकल्प नहीं है।

unacceptable = मंज़ूरी का विकल्प नहीं है।

uncut = मंज़ूर करने से पहले पूरा पाठ सुनना ज़रूरी है: { $key }।

uncut-plain = मंज़ूर करने से पहले पूरा पाठ सुनना ज़रूरी है।

rest = आगे का पाठ: { $text }

rest-action = आगे की कार्रवाई: { $text }

rest-consequence = मंज़ूर करने पर आगे क्या होगा: { $text }

key = { $key } { $effect }

key-accept = मंज़ूर

key-reject = इनकार

key-yes = हाँ

key-no = नहीं

key-more = और सुनें

key-time = और समय

key-close = बाहर निकलें

write = { $words } या { $last } लिखें।

write-one = { $word } लिखें।

question = सवाल।

question-none = एजेंट नहीं बताता कि वह क्या पूछ रहा है।

why = वजह: { $reason }

choice = { $number }: { $label }

kind-freetext = अपने शब्दों में जवाब दें।

kind-yes_no = { word-yes } या { word-no } में जवाब दें।

kind-numeric = किसी संख्या में जवाब दें।

time = जवाब के लिए समय: { $duration }।

time-default = जवाब के लिए समय: { $duration }, वरना: { $answer }

longer = अब आपके पास समय: { $duration }।

countdown = जवाब के लिए बाकी समय: { $duration }। { $action }

time_left = जवाब के लिए बाकी समय: { $duration }।

again = फिर से।

still = अब भी आपका इंतज़ार है।

other = एक और अनुरोध आपका इंतज़ार कर रहा है।

prompt-waiting = एक और सवाल इंतज़ार में है।

about = वह इसके बारे में था: { $action }

flood = बहुत से ज़रूरी संदेश आ रहे हैं। अब से वे अपनी बारी का इंतज़ार करेंगे।

## Values in what is asked

tool-use = { $tool } का उपयोग।

with-nothing = और कुछ नहीं

value-quoted = उद्धरण { $value } उद्धरण समाप्त

value-word = शब्द { $word }

value-line = पंक्ति { $number }: { $text }

value-ending = संख्या जिसके अंत में है { $digits }

value-empty = खाली पाठ

value-blank = केवल खाली जगह वाला पाठ

value-invisible = अदृश्य { $character }

value-private = निजी अक्षर { $character }

value-unknown = अज्ञात अक्षर { $character }

value-times =
    { $count ->
        [one] { $character }
       *[other] { $character }, { $count } बार
    }

value-none = कुछ नहीं

value-yes = हाँ

value-no = नहीं

value-items =
    { $count ->
        [0] खाली सूची
        [one] { $count } आइटम: { $items }
       *[other] { $count } आइटम: { $items }
    }

value-entries =
    { $count ->
        [0] कोई प्रविष्टि नहीं
        [one] { $count } प्रविष्टि: { $items }
       *[other] { $count } प्रविष्टियाँ: { $items }
    }

value-parts =
    { $count ->
        [0] कोई भाग नहीं
        [one] { $count } भाग: { $items }
       *[other] { $count } भाग: { $items }
    }

value-bytes =
    { $count ->
        [one] { $count } बाइट
       *[other] { $count } बाइट
    }

value-digest = { $size }, SHA-256 की शुरुआत { $digest }

value-other = एक { $kind }

## Outcomes of prompts

outcome-accepted = मंज़ूर किया गया।

outcome-rejected = इनकार किया गया।

outcome-answered = जवाब दिया गया।

outcome-accepted-elsewhere = कहीं और से मंज़ूर किया गया।

outcome-rejected-elsewhere = कहीं और से इनकार किया गया।

outcome-answered-elsewhere = कहीं और से जवाब दिया गया।

outcome-timed_out = समय समाप्त हो गया।

outcome-withdrawn = अब यह नहीं पूछा जा रहा।

outcome-unavailable = जवाब देने वाला कोई नहीं बचा।

outcome-no_reply_channel = कोई जवाब नहीं दे सकता।

outcome-other = अनुरोध बंद हो गया।

outcome-modified = कुछ और चाहिए। एजेंट को फिर से पूछना होगा।

outcome-granted = इसे मंज़ूर माना गया।

outcome-defaulted = एजेंट अपने बताए जवाब के साथ आगे बढ़ता है।

outcome-unanswered = एजेंट बिना जवाब के आगे बढ़ता है।

outcome-longer = और समय मिला है। फिर से पूछा जा रहा है।

## Markdown

markdown-heading = शीर्षक: { $text }

markdown-bullet = बुलेट: { $text }

markdown-bullet-nested = उप-बुलेट: { $text }

markdown-number = { $number }: { $text }

markdown-checked = चेक किया हुआ: { $text }

markdown-unchecked = चेक नहीं किया हुआ: { $text }

markdown-quote = उद्धरण: { $text }

markdown-code = कोड

markdown-coming = अभी आ रहा है

markdown-lines =
    { $count ->
        [one] { $count } पंक्ति
       *[other] { $count } पंक्तियाँ
    }

markdown-table = तालिका: { $columns }।

markdown-cell = { $column }: { $cell }

markdown-image = चित्र: { $text }

markdown-picture = चित्र

## The connection

connected = कनेक्शन जुड़ गया।

connected-name = { $agent } से कनेक्शन जुड़ गया।

reconnected = कनेक्शन फिर से जुड़ गया।

gap = कनेक्शन फिर से जुड़ गया। इस बीच कुछ छूट गया।

connection-lost = कनेक्शन टूट गया। { $reason }

retrying =
    { $seconds ->
        [one] { $reason } { $seconds } सेकंड में दोबारा कोशिश होगी।
       *[other] { $reason } { $seconds } सेकंड में दोबारा कोशिश होगी।
    }

gave_up = बिना कनेक्शन { $duration } बीतने पर कोशिश छोड़ दी गई। { $reason }

resume-slow_consumer = हम बहुत धीमे थे, और वहीं से आगे बढ़ते हैं जहाँ हम थे।

resume-authentication_expired = हमारी लॉगिन जानकारी की अवधि समाप्त हो गई। जो अब हमारे पास है वह दिखाते हैं, और वहीं से आगे बढ़ते हैं जहाँ हम थे।

absent = { $agent } से इस समय संपर्क नहीं हो पा रहा।

absent-terse = { $agent } से संपर्क नहीं।

absent-asking = संपर्क लौटने पर आपका जवाब पहुँच जाएगा।

returned = { $agent } से फिर संपर्क हो गया।

waiting = इंतज़ार जारी। यह अपने आप आगे बढ़ेगा।

connection-ended = कनेक्शन हमेशा के लिए समाप्त हो गया। { $reason }

unreadable = कुछ ऐसा आया जो पढ़ा नहीं जा सका। अगर एजेंट कुछ पूछ रहा है, तो शायद उसे जवाब का इंतज़ार हो।

no_answers = एजेंट इस रीडर से जवाब नहीं लेता।

proven = यह { $agent } है, हस्ताक्षर की कुंजी { $key }।

unproven = पहचान साबित नहीं हुई।

unproven-local = इस पर { $agent } के नाम से कुंजी { $key } का हस्ताक्षर है, पर हो सकता है कि इस मशीन का कोई दूसरा उपयोगकर्ता इसे पेश कर रहा हो।

refused = एजेंट ने कनेक्शन से इनकार किया: { $reason }

refused-code = एजेंट ने कनेक्शन से इनकार किया, { $code }: { $reason }

refused-code-only = एजेंट ने कनेक्शन से इनकार किया, { $code }।

closed-producer_shutdown = { $agent }: काम बंद हुआ।

closed-authentication_expired = आपके प्रवेश की अवधि समाप्त हो गई। नई लॉगिन जानकारी से फिर जुड़ें।

closed-slow_consumer = यह रीडर बहुत धीमा था। जहाँ रुका था वहाँ से आगे बढ़ने के लिए फिर जुड़ें।

closed-superseded = दूसरे रीडर ने जगह ले ली।

closed-subscriber_shutdown = यह रीडर बंद हो गया।

closed-rate_violation = इस रीडर ने बहुत ज़्यादा भेजा।

closed-protocol_error = इस रीडर ने कुछ ऐसा भेजा जिसकी अनुमति नहीं है।

closed-manifest_invalid = दूसरा पक्ष अपनी पहचान साबित नहीं कर सका।

closed-other = { $agent } ने कनेक्शन समाप्त किया: { $reason }।

arrived = नया एजेंट: { $agent }।

discover-none = अभी कोई एजेंट नहीं चल रहा। शुरू होने वाले हर एजेंट को सुना जाएगा।

reconnected-name = { $agent } से कनेक्शन फिर से जुड़ गया।

gap-name = { $agent } से कनेक्शन फिर से जुड़ गया। इस बीच कुछ छूट गया।

connection-lost-name = { $agent } से कनेक्शन टूट गया। { $reason }

connection-ended-name = { $agent } से कनेक्शन हमेशा के लिए समाप्त हो गया। { $reason }

waiting-name = { $agent } का इंतज़ार जारी। यह अपने आप आगे बढ़ेगा।

no_answers-name = { $agent }: इस रीडर से जवाब नहीं लिए जाते।

unread-name = यह { $agent } के बारे में है।

asker-gone = जिस एजेंट ने पूछा था, उससे अब कनेक्शन नहीं है।

## Why a connection is refused

refused-version_unsupported = वह प्रोटोकॉल का ऐसा कोई संस्करण नहीं बोलता जो हम बोलते हैं।

refused-manifest_invalid = एक प्रमाण जाँचा नहीं जा सका।

refused-manifest_signature_required = उसके पास अपनी पहचान का हस्ताक्षर वाला प्रमाण नहीं है।

refused-capabilities_incompatible = वह हमारी माँगी चीज़ नहीं दे सकता।

refused-rate_limit = इस समय उससे बहुत ज़्यादा माँगा जा रहा है।

refused-authentication_required = वह नहीं जानता कि हम कौन हैं।

refused-authentication_expired = हमारी लॉगिन जानकारी की अवधि समाप्त हो गई है।

refused-authorization_denied = हमें प्रवेश की अनुमति नहीं है।

refused-transport_unavailable = इस समय इस तरीके से उसका उपयोग नहीं हो सकता।

refused-unknown = वह कोई वजह नहीं बताता।

refused-slow_consumer = हम बहुत धीमे थे।

refused-rate_violation = हमने बहुत ज़्यादा भेजा।

refused-protocol_error = हमने वह भेजा जिसकी प्रोटोकॉल में अनुमति नहीं है।

advice-version_unsupported = इस लाइब्रेरी का ऐसा संस्करण लें जो दूसरे पक्ष का संस्करण बोलता हो।

advice-manifest_invalid = एजेंट चलाने वाले से ऐसा प्रमाण माँगें जो जाँचा जा सके।

advice-manifest_signature_required = एजेंट चलाने वाले से उसकी पहचान का हस्ताक्षर वाला प्रमाण माँगें।

advice-capabilities_incompatible = कम माँगें, या कोई उपलब्ध भाषा माँगें।

advice-rate_limit = बाद में दोबारा कोशिश करें।

advice-authentication_required = सही लॉगिन जानकारी इससे दें: { $options }।

advice-authentication_expired = ताज़ा लॉगिन जानकारी से फिर जुड़ें।

advice-authorization_denied = एजेंट चलाने वाले से प्रवेश की अनुमति माँगें।

advice-transport_unavailable = बाद में दोबारा कोशिश करें, या जुड़ने का दूसरा तरीका अपनाएँ।

advice-slow_consumer = कम माँगें, या तेज़ पढ़ें।

advice-rate_violation = कम जवाब और बदलाव भेजें।

advice-unknown = एजेंट चलाने वाले से पूछें कि इसका क्या मतलब है।

## At the terminal

attention = ध्यान दें। { $text }

greeting-keys = मदद के लिए ? दबाएँ, बाहर निकलने के लिए q।

greeting-lines = मदद के लिए { command-help } लिखें और Enter दबाएँ।

greeting-pipe = इंटरैक्टिव नहीं: आदेश मानक इनपुट से पढ़े जाते हैं, हर पंक्ति में एक।

greeting-none = इंटरैक्टिव नहीं: अनुरोध दिखाए जाएँगे, उनका जवाब नहीं दिया जाएगा।

prompts-shown = अनुरोध दिखाए जाएँगे, उनका जवाब नहीं दिया जाएगा।

input-ended = मानक इनपुट समाप्त हुआ। सुनना जारी है।

goodbye = सुनना बंद हुआ।

goodbye-open =
    { $count ->
        [one] { $count } सवाल का जवाब नहीं दिया गया।
       *[other] { $count } सवालों के जवाब नहीं दिए गए।
    }

other_session = कोई दूसरा काम कुछ पूछ रहा है जो यहाँ नहीं दिखाया जाता।

typed_before = इस पंक्ति से पहले जो टाइप हुआ वह नहीं गिना जाएगा।

draft = आपका अधूरा लिखा: { $text }

nothing_said = अभी तक कुछ नहीं कहा गया।

nothing_before = उससे पहले कुछ नहीं कहा गया।

nothing_after = वह आख़िरी था।

backlog =
    { $count ->
        [one] { $count } और अपडेट।
       *[other] { $count } और अपडेट।
    }

quiet-begin = परेशान न करें। केवल सवाल और चेतावनियाँ बोली जाएँगी।

quiet-end =
    { $count ->
        [0] इस बीच कुछ नहीं हुआ।
        [one] इस बीच { $count } अपडेट।
       *[other] इस बीच { $count } अपडेट।
    }

quiet-hear-key = पहले अपडेट के लिए f दबाएँ।

quiet-hear-line = पहले अपडेट के लिए { command-forward } लिखें।

verbosity =
    { $verbosity ->
        [terse] विवरण का स्तर: संक्षिप्त।
        [detailed] विवरण का स्तर: विस्तृत।
       *[normal] विवरण का स्तर: सामान्य।
    }

asking_time = और समय माँगा जा रहा है: { $duration }।

sending-accept = भेजा जा रहा है: मंज़ूर।

sending-reject = भेजा जा रहा है: इनकार।

sending = भेजा जा रहा है: { $answer }

no_time = एजेंट और समय नहीं देता।

unsent = इसे भेजा नहीं जा सका। { $reason }

still_open = अनुरोध अब भी खुला है।

may_have_arrived = बहुत ज़्यादा समय लगा, और हो सकता है पहुँचा हो या न पहुँचा हो।

not_connected = अभी तक कोई कनेक्शन नहीं है।

speech-paused = वाचन रुका हुआ है।

speech-nothing = अभी कुछ नहीं बोला जा रहा।

speech-gone = वाचन बंद हो गया। पाठ यहाँ जारी है।

speech-back = वाचन लौट आया।

speech-no_voice = यहाँ इस भाषा की आवाज़ नहीं है: { $language }। इसे इस भाषा की आवाज़ में पढ़ा जाएगा: { $other }।

speech-none = यहाँ कुछ भी बोला नहीं जाता।

speech-unavailable = Speech Dispatcher से उत्तर नहीं मिल रहा। उसे इंस्टॉल या चालू करें।

speech-none-prism = Prism लाइब्रेरी चाहिए। इससे इंस्टॉल करें: pip install prismatoid।

speech-address = SPEECHD_ADDRESS का मान { $address } है। unix_socket:path या inet_socket:host:port लिखें।

speech-refused = Speech Dispatcher इसे नहीं जानता: { $value }।

braille-unavailable = { $address } पर कोई उत्तर नहीं मिल रहा। BRLTTY चालू करें या BRLAPI_HOST सेट करें। Debian पर: apt install brltty।

braille-library = ब्रेल के लिए liblouis चाहिए, जो इंस्टॉल नहीं है। Debian पर: apt install liblouis20 liblouis-data।

speech-rate = हर मिनट { $count } शब्द।

## Answering

help-keys = कुंजियाँ: a मंज़ूर करने के लिए, r इनकार के लिए, m और सुनने के लिए, s दोबारा सुनने के लिए, o अगले खुले अनुरोध के लिए।

help-keys-more = v विवरण का स्तर बदलने के लिए, t और समय माँगने के लिए, q बाहर निकलने के लिए, ? यह मदद सुनने के लिए।

help-keys-history = b पीछे, f आगे। s दो बार दबाने पर सब कुछ सुनाई देगा। d परेशान न करने के लिए।

help-second-key = जोखिम होने पर, या कई अनुरोध खुले होने पर, मंज़ूर करने के लिए दूसरी कुंजी भी ज़रूरी है।

help-second-line = जोखिम होने पर, या कई अनुरोध खुले होने पर, मंज़ूर करने के लिए दूसरी पंक्ति भी ज़रूरी है।

help-answer = सवाल का जवाब उसकी संख्या से, या y या n से दें, फिर Enter दबाएँ।

help-freetext = अपने शब्दों में जवाब देने के लिए Enter दबाएँ, लिखें, और फिर से Enter दबाएँ।

help-lines = आदेश, हर पंक्ति में एक: { command-accept }, { command-reject }, { command-more }, { command-repeat }, { command-next }, { command-verbosity }, { command-time }, { command-quit }, { command-help }।

help-lines-history = { command-back } और { command-forward } से कही गई बातों में आगे-पीछे जाएँ। { command-repeat } दो बार लिखने पर सब कुछ सुनाई देगा। { command-quiet } से आपको परेशान नहीं किया जाएगा।

help-next = { command-next } से अगला खुला अनुरोध मिलेगा।

help-answer-lines = सवाल का जवाब उसकी संख्या, { word-yes }, { word-no }, या अपने शब्दों में दें।

help-command-answer = जो शब्द आदेश हैं, उन्हें जवाब के रूप में भेजने के लिए उनके आगे { command-answer } लिखें।

several_open =
    { $count ->
        [one] { $count } अनुरोध खुला है। आपका जवाब अभी इसी का है। { $hint }
       *[other] { $count } अनुरोध खुले हैं। आपका जवाब अभी इसी का है। { $hint }
    }

prompt-hear-key = उसे सुनने के लिए o दबाएँ।

prompt-hear-line = उसे सुनने के लिए { command-next } लिखें।

next-key = अगले अनुरोध के लिए o दबाएँ।

next-line = अगले अनुरोध के लिए { command-next } लिखें।

still_answering = आपका जवाब अब भी इसी का है: { $action }

draft-unsent = आपका अधूरा लिखा भेजा नहीं गया: { $text }

accept-void = यहाँ कुछ मंज़ूर नहीं हुआ।

accept-taken_back = वापस लिया गया। कुछ मंज़ूर नहीं हुआ।

accept-second-key = अभी मंज़ूर नहीं हुआ। इसे मंज़ूर करने के लिए y दबाएँ: { $action } कोई भी दूसरी कुंजी इसे वापस ले लेगी।

accept-second-key-long = अभी मंज़ूर नहीं हुआ। जिसकी शुरुआत यह है, उसे मंज़ूर करने के लिए y दबाएँ: { $action } कोई भी दूसरी कुंजी इसे वापस ले लेगी।

accept-second-line = अभी मंज़ूर नहीं हुआ। इसे मंज़ूर करने के लिए { word-yes } लिखें: { $action } कोई भी दूसरी पंक्ति इसे वापस ले लेगी।

accept-second-line-long = अभी मंज़ूर नहीं हुआ। जिसकी शुरुआत यह है, उसे मंज़ूर करने के लिए { word-yes } लिखें: { $action } कोई भी दूसरी पंक्ति इसे वापस ले लेगी।

leaving-open =
    { $count ->
        [one] { $count } सवाल खुला है।
       *[other] { $count } सवाल खुले हैं।
    }

leaving-keys =
    { $count ->
        [one] इसे खुला छोड़कर निकलने के लिए l दबाएँ, रुकने के लिए Escape।
       *[other] इन्हें खुला छोड़कर निकलने के लिए l दबाएँ, रुकने के लिए Escape।
    }

leaving-keys-refuse =
    { $count ->
        [one] इससे इनकार करके निकलने के लिए r दबाएँ, खुला छोड़कर निकलने के लिए l, रुकने के लिए Escape।
       *[other] इनसे इनकार करके निकलने के लिए r दबाएँ, खुला छोड़कर निकलने के लिए l, रुकने के लिए Escape।
    }

leaving-keys-some = इनमें से केवल { $count } से इनकार करके निकलने के लिए r दबाएँ, सबको खुला छोड़कर निकलने के लिए l, रुकने के लिए Escape।

leaving-lines =
    { $count ->
        [one] इसे खुला छोड़कर निकलने के लिए { command-leave } लिखें, रुकने के लिए { command-stay }।
       *[other] इन्हें खुला छोड़कर निकलने के लिए { command-leave } लिखें, रुकने के लिए { command-stay }।
    }

leaving-lines-refuse =
    { $count ->
        [one] इससे इनकार करके निकलने के लिए { command-refuse } लिखें, खुला छोड़कर निकलने के लिए { command-leave }, रुकने के लिए { command-stay }।
       *[other] इनसे इनकार करके निकलने के लिए { command-refuse } लिखें, खुला छोड़कर निकलने के लिए { command-leave }, रुकने के लिए { command-stay }।
    }

leaving-lines-some = इनमें से केवल { $count } से इनकार करके निकलने के लिए { command-refuse } लिखें, सबको खुला छोड़कर निकलने के लिए { command-leave }, रुकने के लिए { command-stay }।

stay = निकलना रद्द हुआ। कोई जवाब नहीं दिया गया।

keys-several = कई कुंजियाँ एक साथ आईं। उनमें से कोई नहीं गिनी जाएगी। एक बार में एक कुंजी दबाएँ।

keys-unknown = कुंजी { $key } यहाँ कुछ नहीं करती। मदद के लिए ? दबाएँ।

keys-too_soon = वह कुंजी बहुत जल्दी दबी और नहीं गिनी जाएगी। ज़रा रुकें, फिर उसे एक बार दबाएँ।

draft-begin = अपना जवाब लिखें। Enter से भेजा जाएगा। Escape से बिना भेजे छूट जाएगा।

draft-empty = कुछ नहीं लिखा गया। कुछ नहीं भेजा गया।

draft-left = लिखना छोड़ा गया। कुछ नहीं भेजा गया।

draft-removed = आपका लिखा हटा दिया गया। अपना जवाब लिखें।

enter-prompt = केवल Enter से कोई जवाब नहीं जाता। अनुरोध दोबारा सुनने के लिए s दबाएँ।

enter-nothing = जवाब देने के लिए कुछ नहीं है। मदद के लिए ? दबाएँ।

line-empty = खाली पंक्ति से कोई जवाब नहीं जाता।

line-no_prompt = कोई अनुरोध नहीं है, इसलिए उस पंक्ति से कोई जवाब नहीं गया। मदद के लिए { command-help } लिखें।

line-unknown = वह पंक्ति समझ में नहीं आई। कुछ नहीं भेजा गया। { command-accept }, { command-reject } या { command-help } लिखें।

no_other = कोई दूसरा अनुरोध खुला नहीं है।

no_more_time = और समय नहीं मिल सकता।

time_asked = और समय पहले ही माँगा जा चुका है।

cannot_reply = यह रीडर अनुरोधों का जवाब नहीं दे सकता। कुछ नहीं भेजा गया।

answer_sent = आपका जवाब भेज दिया गया। एजेंट के कहने का इंतज़ार करें।

nothing_to-accept = मंज़ूर करने के लिए कुछ नहीं है।

nothing_to-reject = इनकार करने के लिए कुछ नहीं है।

nothing_to-answer = जवाब देने के लिए कुछ नहीं है।

nothing_to-time = ऐसा कुछ नहीं है जिसके लिए और समय चाहिए।

another_open = एक और अनुरोध खुला है। { $hint }

is_question = यह एक सवाल है। { $hint }

answer-word = उस शब्द को अपने जवाब के रूप में भेजने के लिए उसके आगे { command-answer } लिखें।

answer-freetext = Enter दबाएँ, अपना जवाब लिखें, और फिर से Enter दबाएँ।

answer-own_words = अपने शब्द लिखने से पहले Enter दबाएँ।

answer-impossible = इस सवाल का जवाब यहाँ नहीं दिया जा सकता।

answer-forms = इनमें से जवाब दें: { $forms }, फिर Enter दबाएँ।

answer-or = { $first } या { $second }

answer-number = जो संख्या विकल्पों में नहीं है, उसके आगे = लिखें।

answer-unsent = कुछ नहीं भेजा गया। { $hint }

form-multiple_choice = किसी विकल्प की संख्या

form-yes_no = { word-yes } या { word-no }

form-numeric = कोई संख्या

form-freetext = आपके अपने शब्द

help-speech = स्पेस से वाचन बंद, p से वाचन रुकता और फिर चलता है, k से बीच का छोड़कर अभी पर, फ़ुल स्टॉप से तेज़, कॉमा से धीमा।

help-speech-lines = { command-silence } से वाचन बंद होता है, { command-pause } से रुकता और फिर चलता है, { command-skip } से बीच का छोड़कर अभी पर आता है। { command-faster } और { command-slower } भी हैं।

line-too_soon = वह बहुत जल्दी आया और नहीं गिना जाएगा। पहले अनुरोध अंत तक सुनें।

## Settings

settings-line = सेटिंग की पंक्ति { $line } पढ़ी नहीं जा सकती, और नहीं गिनी जाएगी: { $text }

settings-repeated = सेटिंग की पंक्ति { $line } में { $setting } दूसरी बार आया है। पहली बार वाला गिना जाएगा।

settings-unknown = सेटिंग की पंक्ति { $line } में { $setting } लिखा है, पर ऐसी कोई सेटिंग नहीं है।

settings-similar = क्या आपका मतलब { $setting } था?

settings-value = सेटिंग की पंक्ति { $line } नहीं गिनी जाएगी। { $setting } का मान यह होना चाहिए: { $expected }।

settings-variable = वेरिएबल { $variable } नहीं गिना जाएगा। उसका मान यह होना चाहिए: { $expected }।

settings-more =
    { $count ->
        [one] सेटिंग की { $count } और पंक्ति नहीं गिनी जाएगी।
       *[other] सेटिंग की { $count } और पंक्तियाँ नहीं गिनी जाएँगी।
    }

settings-unreadable = सेटिंग पढ़ी नहीं जा सकती, इसलिए डिफ़ॉल्ट मान लागू हैं। { $reason }

settings-missing = फ़ाइल { $file } नहीं है, इसलिए डिफ़ॉल्ट मान लागू हैं।

settings-encoding = पंक्ति { $line } में ऐसे अक्षर हैं जो UTF-8 के नहीं हैं।

settings-unsafe = दूसरे उपयोगकर्ता { $file } को बदल सकते हैं, इसलिए डिफ़ॉल्ट मान लागू हैं। उस पर chmod go-w चलाएँ।

settings-stranger = फ़ाइल { $file } किसी दूसरे उपयोगकर्ता की है, इसलिए डिफ़ॉल्ट मान लागू हैं।

settings-allow = आपकी सेटिंग के नियम पढ़े नहीं जा सकते, इसलिए हर बात पूछी जाएगी। { $reason }

## Words for sounds

earcon-sent = भेजा गया।

earcon-working = काम जारी।

earcon-done = समाप्त।

earcon-needs-you = आपकी बारी।

earcon-error = त्रुटि।

## Coding agents

code-started = { $agent } का काम जारी है।

code-run = चलाना: { $command }।

code-create = { $file } बनाना, { $size }: { $text }।

code-change = { $file } बदलना: { $added } जोड़ना, { $removed } हटाना।

code-change-nothing = { $file } को बिना बदलाव फिर से लिखना।

code-hunk-add = पंक्ति { $line } पर जोड़ना: { $text }।

code-hunk-remove = पंक्ति { $line } पर हटाना: { $text }।

code-hunk-replace = पंक्ति { $line } पर, { $old } की जगह { $new } लिखना।

code-hunk-blank = वहाँ केवल खाली जगह या पंक्ति बदलने का फ़र्क है।

code-own_words = एजेंट नहीं बताता कि वह क्या चलाएगा, केवल यह कहता है: { $text }।

code-effect-run = यह आपके सभी अधिकारों के साथ चलेगा।

code-effect-change = फ़ाइल लिखी जाएगी।

code-effect-delete = यह मिट जाएगा। केवल आपकी कॉपी बचेगी, अगर कोई है।

code-effect-move = फिर यह कहीं और होगा।

code-effect-read = एजेंट और उसका मॉडल इसे पढ़ेंगे।

code-effect-search = जो मिलेगा, उसे एजेंट और उसका मॉडल पढ़ेंगे।

code-effect-think = कुछ नहीं बदलेगा।

code-effect-fetch = पता और वहाँ जो भेजा जाएगा, दोनों इस मशीन से बाहर जाएँगे।

code-effect-switch_mode = हो सकता है इसके बाद एजेंट कम बातों के बारे में पूछे।

code-effect-other = इससे क्या बदलेगा, यह पता नहीं है। इसे अंतिम मानें।

code-running = { $command } चलाने का काम।

code-creating = { $file } बनाने का काम।

code-changing = { $file } बदलने का काम।

code-reading = { $file } पढ़ने का काम।

code-searching = { $text } खोजने का काम।

code-described = एजेंट के अपने शब्दों में: { $text }।

code-using = { $tool } से काम।

code-ruled = आपके अपने नियम से अनुमति मिली। { $text }

code-unasked = चेतावनी। एजेंट ने बिना पूछे यह किया: { $text }

code-unasked-failed = चेतावनी। एजेंट ने बिना पूछे इसकी कोशिश की, और यह विफल रहा: { $text }

code-despite = चेतावनी। इनकार के बावजूद एजेंट ने यह किया: { $text }

code-stopping = एजेंट को रोका जा रहा है।

code-undescribed = कुछ ऐसा जो बताया नहीं जा सकता

code-too_long = इनकार किया गया: यह इतना लंबा है कि पूरा पढ़कर नहीं सुनाया जा सकता। { $text } छोटे चरणों में काम माँगें।

code-unreadable = इनकार किया गया: यह पूरा पढ़कर नहीं सुनाया जा सकता, क्योंकि लगता है कि इसमें कोई गुप्त जानकारी है। { $text }

code-unofferable = इनकार किया गया: एजेंट इसकी अनुमति केवल एक बार के लिए देने का कोई तरीका नहीं देता। { $text }

code-between = इनकार किया गया: एजेंट ने यह तब माँगा जब उसका काम नहीं चल रहा था। { $text }

code-mode = मोड: { $mode }।

code-mode-unasked = चेतावनी। मोड { $mode } में एजेंट बिना पूछे काम करता है।

code-mode-back = पिछला मोड वापस लाया जा रहा है।

code-mode-unknown = यह एजेंट कुछ करने से पहले पूछता है या नहीं, यह पता नहीं है। बिना पूछे वह जो करेगा, उसे बताया जाएगा, और उससे एजेंट रोक दिया जाएगा।

code-subagent = सहायक एजेंट { $name }: { $state }।

code-stop-refusal = मॉडल आगे बढ़ने से इनकार करता है।

code-stop-max_tokens = जवाब मॉडल के लिए बहुत लंबा हो गया।

code-stop-max_turn_requests = एजेंट ने अनुमति से ज़्यादा चरण लिए।

code-stop-other = एजेंट रुक गया, और वजह नहीं बताता।

code-stop-error = एजेंट ने एक त्रुटि बताई है।

code-stop-gone = एजेंट का प्रोग्राम बंद हो गया।

code-stop-stuck = एजेंट नहीं रुका, इसलिए उसका प्रोग्राम बंद कर दिया गया।

code-stop-fault = इस प्रोग्राम में कुछ विफल रहा, इसलिए एजेंट को रोक दिया गया।

code-refused = इनकार के बाद एजेंट ने अपनी बारी समाप्त कर दी।

compose-begin = एजेंट को लिखें। Enter से भेजा जाएगा। Escape से बाद के लिए रखा जाएगा।

compose-left = बाद के लिए रखा गया। लिखना जारी रखने के लिए p दबाएँ।

compose-left-empty = लिखना छोड़ा गया। कुछ नहीं लिखा गया।

compose-removed = पंक्ति हटा दी गई।

compose-joined = पिछली पंक्ति:

compose-history-none = अभी तक कुछ नहीं भेजा गया।

compose-help = एजेंट को लिखने के लिए p या Enter दबाएँ। अंत में बैकस्लैश से एक और पंक्ति शुरू होती है।

compose-help-history = h आपके भेजे हुए की सूची सुनने के लिए। ऊपर तीर कुंजी उसे वापस लाने के लिए। @ के बाद नाम लिखकर फ़ाइल बताएँ।

compose-help-lines = बाकी कोई भी पंक्ति एजेंट को भेजी जाती है, शब्द prompt के बाद भी। शब्द history से आपके भेजे हुए की सूची मिलेगी।

code-ready = { $agent } तैयार है। उसे लिखने के लिए p दबाएँ।

code-ready-lines = { $agent } तैयार है। उसे लिखें।

code-queued = काम अब भी चल रहा है। यह इसके ठीक बाद भेजा जाएगा।

code-interrupt = रोका जा रहा है। बाहर निकलने के लिए फिर से Control+C दबाएँ।

code-interrupt-idle = बाहर निकलने के लिए फिर से Control+C दबाएँ।

code-file = फ़ाइल { $file } के साथ।

code-file-missing = यहाँ फ़ाइल { $file } नहीं है। इसे एक शब्द के रूप में भेजा गया।

code-error = एजेंट कहता है: { $text }

code-last_words = उसके आख़िरी शब्द ये थे।

code-hint-again = आगे बढ़ने के लिए उसे फिर से लिखें।

code-editor-allowed = एडिटर में अनुमति दी गई। { $text }

code-editor-refused = एडिटर में इनकार किया गया।

code-editor-done = समाप्त: { $text }

code-editor-failed = विफल: { $text }

code-editor-only = इसका जवाब केवल एडिटर में दिया जा सकता है। { $text }

code-editor-fault = इस प्रोग्राम में कुछ विफल रहा। एजेंट एडिटर के साथ आगे बढ़ता है।

code-editor-gone = एडिटर बंद हो गया।

code-run-long = चलाना: एक आदेश, { $size }।

code-create-long = { $file } बनाना, { $size }।

code-write-long = { $file } लिखना, { $size }।

code-edit-long = { $file } में, { $removed } हटाकर वहाँ { $added } लिखना।

code-kilobytes =
    { $count ->
        [one] { $count } किलोबाइट
       *[other] { $count } किलोबाइट
    }

code-parts =
    { $count ->
        [one] { $overview } यह { $size } लंबा है, { $count } भाग में। आपके इसे सुन लेने से पहले कुछ नहीं किया जाएगा। आगे बढ़ें?
       *[other] { $overview } यह { $size } लंबा है, { $count } भागों में। आपके सभी भाग सुन लेने से पहले कुछ नहीं किया जाएगा। आगे बढ़ें?
    }

code-part = { $count } में से भाग { $number }। { $text } आगे बढ़ें?

code-part-last = { $overview } यह { $count } में से आख़िरी भाग है। { $text }

code-part-line = आगे का पाठ पंक्ति { $line } से है, जिसकी गिनती यहाँ फिर 1 से होती है: { $text }

code-part-word = आगे का पाठ पंक्ति { $line } में है: { $text }

code-part-middle = आगे का पाठ पंक्ति { $line } में है, एक शब्द के बीच से: { $text }

code-part-refused = इनकार किया गया। कुछ नहीं किया गया। { $text }

## Braille

braille-no_table = इस भाषा की ब्रेल तालिका नहीं है: { $language }। अंग्रेज़ी अक्षर दिखाए जाएँगे।

braille-marks = ब्रेल में बिंदु 8 ऐसे अक्षर को दिखाता है जिस पर लगा चिह्न तालिका में नहीं है।

braille-lost = ब्रेल डिस्प्ले का संपर्क टूट गया। उसके लौटने पर फिर से दिखाया जाएगा।

braille-back = ब्रेल डिस्प्ले लौट आया।

braille-read_on = पहले अंत तक पढ़ें, फिर मंज़ूर किया जा सकता है।

braille-choice = Enter से { $choice } भेजा जाएगा

## Hooks of coding agents

hooks-started = { $agent } का काम जारी है।


hooks-write = { $file } लिखना, { $size }: { $text }।

hooks-edit = { $file } में, { $old } की जगह { $new } लिखना।

hooks-edit-all = { $file } में, हर { $old } की जगह { $new } लिखना।






hooks-terminal = एजेंट के टर्मिनल में जवाब दें। { $text }

hooks-terminal-unread = एजेंट के टर्मिनल में जवाब दें। एजेंट { $tool } का उपयोग करना चाहता है, और वह पूरा पढ़कर नहीं सुनाया जा सकता।

hooks-refused-unread = इनकार किया गया। एजेंट { $tool } का उपयोग करना चाहता है, और वह पूरा पढ़कर नहीं सुनाया जा सकता।

hooks-terminal-allowed = एजेंट के टर्मिनल में अनुमति दी गई। { $text }

hooks-unasked = चेतावनी। एजेंट ने बिना पूछे यह किया। { $text }

hooks-despite = चेतावनी। इनकार के बावजूद एजेंट ने यह किया। { $text }

hooks-undescribed = एजेंट ने { $tool } का उपयोग किया, और वह पढ़कर नहीं सुनाया जा सकता।

hooks-next = एक और निर्देश आया।

hooks-idle = { $agent } को आपके अगले निर्देश का इंतज़ार है।

hooks-closed = { $agent } को बंद कर दिया गया।

## Falling behind

behind-key = वाचन पीछे चल रहा है: { $duration } का पाठ बाकी है। बीच का छोड़कर अभी पर आने के लिए k दबाएँ।

behind-line = वाचन पीछे चल रहा है: { $duration } का पाठ बाकी है। बीच का छोड़कर अभी पर आने के लिए { command-skip } लिखें।

behind-skipped = छोड़े गए संदेश: { $count }।

behind-nothing = छोड़ने के लिए कुछ नहीं है। यही अभी का हाल है।

## Notifications of the desktop

greeting-daemon = पृष्ठभूमि में सुनना जारी।

notifications-none = यहाँ सूचनाएँ नहीं मिलतीं: डेस्कटॉप की कोई सेवा जवाब नहीं देती।

notifications-gone = सूचनाएँ समाप्त हो गईं: डेस्कटॉप बंद हो गया।

notification-answer = टर्मिनल में जवाब दें: aaep listen

notification-title = { $agent } का सवाल

notification-accept = मंज़ूर करें

notification-reject = इनकार करें

## Durations

duration-moment = एक सेकंड से कम

duration-days =
    { $count ->
        [one] { $count } दिन
       *[other] { $count } दिन
    }

duration-hours =
    { $count ->
        [one] { $count } घंटा
       *[other] { $count } घंटे
    }

duration-minutes =
    { $count ->
        [one] { $count } मिनट
       *[other] { $count } मिनट
    }

duration-seconds =
    { $count ->
        [one] { $count } सेकंड
       *[other] { $count } सेकंड
    }

duration-pair = { $first } और { $second }

## Words that a person writes

command-accept = मंज़ूर

command-reject = इनकार

command-refuse = इनकार

command-more = और

command-repeat = दोबारा

command-next = अगला

command-back = पीछे

command-forward = आगे

command-quiet = शांत

command-verbosity = विवरण

command-time = समय

command-quit = बाहर

command-help = मदद

command-answer = जवाब

command-leave = छोड़ें

command-stay = रुकें

word-yes = हाँ

word-no = नहीं

command-silence = चुप

command-pause = विराम

command-skip = लांघें

command-faster = तेज़

command-slower = धीमा

## Putting words together

list = { $first }, { $second }

list-long = { $first }; { $second }

decimal-sign = .

value-marks = उद्धरण, उद्धरण समाप्त, उद्धरणों, उद्धरण-चिह्न

value-own_words = मंज़ूर, मंज़ूरी, मंजूर, मंजूरी, पुष्टि, इनकार, इंकार, खाली, अंतिम, पंक्ति, कम, मध्यम, भारी, नहीं, हाँ, हां, कुछ, उद्धरण, समाप्त, छिपाया, वापस, वापसी, जोखिम, सवाल

expected-word = { $words } या { $last }

expected-whole_number = { $lowest } से { $highest } तक की पूर्ण संख्या

expected-number = { $lowest } से { $highest } तक की संख्या

expected-languages = en-GB जैसे भाषा कोड की सूची

expected-texts = पाठों की सूची

expected-text = एक पाठ

## The language

language-name = हिन्दी

language-none = इस रीडर के पास इस भाषा के शब्द नहीं हैं: { $languages }। यह { language-name } बोलता है।

## Why a connection is closed, to the other side

close-producer_shutdown = एजेंट का पक्ष बंद हो रहा है।

close-authentication_expired = इस रीडर की लॉगिन जानकारी अब मान्य नहीं है। नई जानकारी से फिर जुड़ें।

close-slow_consumer = रीडर साथ नहीं चल पा रहा। जहाँ रुका था वहाँ से आगे बढ़ने के लिए फिर जुड़ें।

close-superseded = दूसरे रीडर ने जगह ले ली।

close-subscriber_shutdown = रीडर बंद हो गया है।

close-rate_violation = रीडर ने बहुत ज़्यादा भेजा।

close-protocol_error = रीडर ने वह भेजा जिसकी अनुमति नहीं है।

close-manifest_invalid = एक प्रमाण की पुष्टि नहीं हो सकी।

close-hub_shutdown = हब बंद हो रहा है।
