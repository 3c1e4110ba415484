# checked-by-speaker: no
# language: ar

## The work

started = بدأ العمل.

part = جزء من: { $parent }

completed = تم.

ended = انتهى العمل.

undone = لم يتم تنفيذ هذا: { $action }.

undone-more =
    { $count ->
        [zero] لم يبق غيره دون تنفيذ.
        [one] وواحد آخر لم ينفذ.
        [two] واثنان آخران لم ينفذا.
        [few] و{ $count } غيرها لم تنفذ.
        [many] و{ $count } غيرها لم تنفذ.
       *[other] و{ $count } غيرها لم تنفذ.
    }

possible = ربما حدث هذا: { $action }.

possible-more =
    { $count ->
        [zero] لا شيء غيره ربما حدث.
        [one] وواحد آخر ربما حدث.
        [two] واثنان آخران ربما حدثا.
        [few] و{ $count } غيرها ربما حدثت.
        [many] و{ $count } غيرها ربما حدثت.
       *[other] و{ $count } غيرها ربما حدثت.
    }

possible-check = يجب التحقق قبل إعادة المحاولة.

undone-failed = فشل: { $action }.

undone-failed-more =
    { $count ->
        [zero] لم يفشل غيره.
        [one] وواحد آخر فشل.
        [two] واثنان آخران فشلا.
        [few] و{ $count } غيرها فشلت.
        [many] و{ $count } غيرها فشلت.
       *[other] و{ $count } غيرها فشلت.
    }

failed-check = يجب التحقق مما تم قبل إعادة المحاولة.

errored = فشل العمل.

cancelled = توقف العمل.

unfinished = العمل لم يكتمل.

tools =
    { $count ->
        [zero] لم تستخدم أي أداة.
        [one] استخدمت أداة واحدة.
        [two] استخدمت أداتان.
        [few] استخدمت { $count } أدوات.
        [many] استخدمت { $count } أداة.
       *[other] استخدمت { $count } أداة.
    }

took = استغرق ذلك { $duration }.

takes = يستغرق هذا حوالي { $duration }.

left = بقي حوالي { $duration }.

by-user = أوقفه المستخدم.

by-producer = أوقفه الوكيل.

by-timeout = استغرق وقتا أطول من اللازم.

by-system = أوقفه النظام.

partial = حتى الآن: { $result }

code = رمز الخطأ { $code }.

category-transient = قد تفيد إعادة المحاولة.

category-permanent = إعادة المحاولة لن تفيد.

category-requires_user = عليك القيام بشيء أولا.

hint-transient = قد تفيد إعادة المحاولة لاحقا.

hint-permanent = إعادة المحاولة لن تفيد. يجب إبلاغ المسؤول عن الوكيل.

hint-requires_user = يجب التحقق من أن هذا مسموح للوكيل، ثم إعادة المحاولة.

hint-unknown = تلزم إعادة المحاولة. إذا تكرر الفشل فيجب إبلاغ المسؤول عن الوكيل.

lost = توقف الوكيل فجأة. العمل لم يكتمل.

lost-hint = يجب التحقق مما تم قبل تشغيله من جديد.

lost-detailed = توقف الوكيل فجأة. العمل لم يكتمل. ما كان قد بدأه ربما حدث.

handoff-human = تسليم العمل إلى شخص.

handoff-specialist_agent = تسليم العمل إلى وكيل آخر.

handoff-escalation_queue = تسليم العمل. سيتولاه أحد ما.

handoff-other = تسليم العمل.

not_taken = لم يتول العمل أحد.

## What goes on

state-idle = لا عمل الآن.

state-thinking = تفكير.

state-thinking-detailed = تفكير في الخطوة التالية.

state-calling_tool = استخدام أداة.

state-writing_output = كتابة.

state-awaiting_input = في انتظارك.

state-deciding = اتخاذ قرار.

state-deciding-detailed = اتخاذ قرار بشأن كيفية المتابعة.

state-handing_off = جار تسليم العمل.

state-other = الآن: { $state }.

state-unnamed = شيء آخر الآن.

resync = ما فاتك حتى الآن.

percent = { $percent } بالمئة.

step = الخطوة { $step }.

step-of = الخطوة { $step } من { $total }.

progress-none = العمل مستمر.

invoked = استدعاء { $tool }.

tool = أداة

with = مع { $arguments }.

undo-warning = لا يمكن التراجع عن هذا.

success = { $tool }: انتهى.

stopped = { $tool }: أوقف.

stopped-early = { $tool }: أوقف قبل نهايته.

success-summary = { $call }: تم.

error-unnamed = خطأ

error-mistake = خلل في الوكيل

error-several =
    { $count ->
        [zero] لا أخطاء: { $name }
        [one] خطأ واحد: { $name }
        [two] خطآن: { $name } وغيره
        [few] { $count } أخطاء: { $name } وغيره
        [many] { $count } خطأ: { $name } وغيره
       *[other] { $count } خطأ: { $name } وغيره
    }

error = { $call }: فشل.

error-reason = { $call }: فشل: { $reason }

timeout = { $call }: لم يكتمل. ربما حدث. يجب التحقق قبل إعادة المحاولة.

status = الحالة المبلغ عنها: { $status }.

skipped = لم يتم تنفيذ هذا: { $action }: الوكيل توقف عن الانتظار.

says = { $agent }:

says-quoted = اقتباس من { $agent }:

agent = الوكيل

agent-named = الوكيل { $name }

session = { $work }: { $text }

notice = إشعار.

notice-type = شيء لا يعرفه هذا القارئ: { $type }.

incomplete = رسالة ناقصة.

incomplete-prompt = لا يمكن قبول هذا أو الرد عليه هنا.

cut =
    { $count ->
        [zero] قطع النص هنا، لم يبق أي حرف.
        [one] قطع النص هنا، بقي حرف واحد.
        [two] قطع النص هنا، بقي حرفان.
        [few] قطع النص هنا، بقيت { $count } أحرف.
        [many] قطع النص هنا، بقي { $count } حرف.
       *[other] قطع النص هنا، بقي { $count } حرف.
    }

## Prompts

confirm = مطلوب تأكيد.

action-none = لا يقول الوكيل ماذا سيفعل.

consequence = في حال القبول: { $consequence }

consequence-none = لا يقول الوكيل ماذا سيحدث.

consequence-unstated = لم يذكر أحد ما يغيره هذا. يجب اعتباره نهائيا.

consequence-unknown = ما يغيره هذا غير مذكور.

consequence-again = الأثر غير مذكور.

risk-low = خطر منخفض

risk-medium = خطر متوسط

risk-high = خطر مرتفع

risk-none = الخطر غير مذكور: يجب اعتباره مرتفعا

risk-unstated = خطر غير مذكور

undo-irreversible = لا يمكن التراجع عنه

undo-reversible_with_effort = يمكن التراجع عنه بجهد

undo-reversible = يمكن التراجع عنه

undo-none = إمكانية التراجع غير مذكورة

risk = { $risk }، { $undo }.

default-reject = رفض تلقائي بعد { $duration } دون إجابة.

default-accept = قبول تلقائي بعد { $duration } دون إجابة.

default-reject-short = رفض تلقائي بعد { $duration }.

default-accept-short = قبول تلقائي بعد { $duration }.

expired = انتهت مهلة الإجابة.

unrefusable = الرفض غير متاح.

unacceptable = القبول غير متاح.

uncut = يلزم سماع النص كله قبل القبول: { $key }.

uncut-plain = يلزم سماع النص كله قبل القبول.

rest = التتمة: { $text }

rest-action = تتمة الإجراء: { $text }

rest-consequence = تتمة ما يحدث في حال القبول: { $text }

key = { $key } { $effect }

key-accept = قبول

key-reject = رفض

key-yes = نعم

key-no = لا

key-more = المزيد

key-time = وقت إضافي

key-close = خروج

write = يمكنك كتابة { $words } أو { $last }.

write-one = يمكنك كتابة { $word }.

question = سؤال.

question-none = لا يقول الوكيل عم يسأل.

why = السبب: { $reason }

choice = { $number }: { $label }

kind-freetext = الإجابة بكلماتك.

kind-yes_no = الإجابة { word-yes } أو { word-no }.

kind-numeric = الإجابة برقم.

time = أمامك مهلة { $duration } للإجابة.

time-default = أمامك مهلة { $duration } للإجابة، وإلا: { $answer }

longer = أصبحت مهلتك الآن: { $duration }.

countdown = الوقت الباقي للإجابة: { $duration }. { $action }

time_left = الوقت الباقي للإجابة: { $duration }.

again = من جديد.

still = ما زال الوكيل في انتظارك.

other = طلب آخر في انتظارك.

prompt-waiting = سؤال آخر في الانتظار.

about = كان ذلك عن هذا: { $action }

flood = تصل رسائل عاجلة كثيرة. من الآن تنتظر دورها.

## Values in what is asked

tool-use = استخدام { $tool }.

with-nothing = لا شيء غير ذلك

value-quoted = اقتباس { $value } نهاية الاقتباس

value-word = كلمة { $word }

value-line = سطر { $number }: { $text }

value-ending = رقم ينتهي بـ { $digits }

value-empty = نص فارغ

value-blank = نص من مسافات فقط

value-invisible = غير مرئي { $character }

value-private = حرف خاص { $character }

value-unknown = حرف مجهول { $character }

value-times =
    { $count ->
        [zero] { $character }
        [one] { $character }
        [two] { $character }، مرتين
        [few] { $character }، { $count } مرات
        [many] { $character }، { $count } مرة
       *[other] { $character }، { $count } مرة
    }

value-none = لا شيء

value-yes = نعم

value-no = لا

value-items =
    { $count ->
        [0] قائمة فارغة
        [zero] لا عناصر: { $items }
        [one] عنصر واحد: { $items }
        [two] عنصران: { $items }
        [few] { $count } عناصر: { $items }
        [many] { $count } عنصر: { $items }
       *[other] { $count } عنصر: { $items }
    }

value-entries =
    { $count ->
        [0] لا مدخلات
        [zero] لا مدخلات: { $items }
        [one] مدخل واحد: { $items }
        [two] مدخلان: { $items }
        [few] { $count } مدخلات: { $items }
        [many] { $count } مدخل: { $items }
       *[other] { $count } مدخل: { $items }
    }

value-parts =
    { $count ->
        [0] لا أجزاء
        [zero] لا أجزاء: { $items }
        [one] جزء واحد: { $items }
        [two] جزآن: { $items }
        [few] { $count } أجزاء: { $items }
        [many] { $count } جزء: { $items }
       *[other] { $count } جزء: { $items }
    }

value-bytes =
    { $count ->
        [zero] 0 بايت
        [one] بايت واحد
        [two] 2 بايت
        [few] { $count } بايت
        [many] { $count } بايت
       *[other] { $count } بايت
    }

value-digest = { $size }، بداية SHA-256 هي { $digest }

value-other = شيء من نوع { $kind }

## Outcomes of prompts

outcome-accepted = تم القبول.

outcome-rejected = تم الرفض.

outcome-answered = تمت الإجابة.

outcome-accepted-elsewhere = تم القبول من مكان آخر.

outcome-rejected-elsewhere = تم الرفض من مكان آخر.

outcome-answered-elsewhere = تمت الإجابة من مكان آخر.

outcome-timed_out = انتهى الوقت.

outcome-withdrawn = لم يعد الوكيل يطلب ذلك.

outcome-unavailable = لم يبق من يجيب.

outcome-no_reply_channel = لا أحد يستطيع الإجابة.

outcome-other = أغلق الطلب.

outcome-modified = المطلوب شيء آخر. على الوكيل أن يسأل من جديد.

outcome-granted = يعتبر ذلك قبولا.

outcome-defaulted = يتابع الوكيل بالإجابة التي ذكرها.

outcome-unanswered = يتابع الوكيل دون إجابة.

outcome-longer = يوجد وقت إضافي. يطرح الطلب من جديد.

## Markdown

markdown-heading = عنوان: { $text }

markdown-bullet = نقطة: { $text }

markdown-bullet-nested = نقطة فرعية: { $text }

markdown-number = { $number }: { $text }

markdown-checked = محدد: { $text }

markdown-unchecked = غير محدد: { $text }

markdown-quote = اقتباس: { $text }

markdown-code = شفرة

markdown-coming = قيد الكتابة

markdown-lines =
    { $count ->
        [zero] لا أسطر
        [one] سطر واحد
        [two] سطران
        [few] { $count } أسطر
        [many] { $count } سطر
       *[other] { $count } سطر
    }

markdown-table = جدول: { $columns }.

markdown-cell = { $column }: { $cell }

markdown-image = صورة: { $text }

markdown-picture = صورة

## The connection

connected = متصل.

connected-name = متصل مع { $agent }.

reconnected = عاد الاتصال.

gap = عاد الاتصال. فاتك شيء في هذه الأثناء.

connection-lost = انقطع الاتصال. { $reason }

retrying =
    { $seconds ->
        [zero] { $reason } إعادة المحاولة الآن.
        [one] { $reason } إعادة المحاولة بعد ثانية واحدة.
        [two] { $reason } إعادة المحاولة بعد ثانيتين.
        [few] { $reason } إعادة المحاولة بعد { $seconds } ثوان.
        [many] { $reason } إعادة المحاولة بعد { $seconds } ثانية.
       *[other] { $reason } إعادة المحاولة بعد { $seconds } ثانية.
    }

gave_up = توقفت المحاولات بعد { $duration } دون اتصال. { $reason }

resume-slow_consumer = كنا أبطأ من اللازم، ونتابع من حيث كنا.

resume-authentication_expired = انتهت صلاحية بيانات دخولنا. نقدم ما لدينا الآن، ونتابع من حيث كنا.

absent = تعذر الوصول إلى { $agent } في الوقت الحالي.

absent-terse = تعذر الوصول إلى { $agent }.

absent-asking = تصله إجابتك عند عودته.

returned = عاد الوصول إلى { $agent } ممكنا.

waiting = انتظار. تستمر المحاولات تلقائيا.

connection-ended = انتهى الاتصال نهائيا. { $reason }

unreadable = وصل شيء لا يمكن قراءته. إن كان الوكيل يسأل شيئا، فربما ينتظر إجابة.

no_answers = لا يقبل الوكيل إجابات من هذا القارئ.

proven = هذا هو { $agent }، بتوقيع المفتاح { $key }.

unproven = الهوية غير مثبتة.

unproven-local = التوقيع باسم { $agent } بالمفتاح { $key }، لكن قد يكون مستخدم آخر لهذا الجهاز هو من يقدمه.

refused = رفض الوكيل الاتصال: { $reason }

refused-code = رفض الوكيل الاتصال، { $code }: { $reason }

refused-code-only = رفض الوكيل الاتصال، { $code }.

closed-producer_shutdown = { $agent }: انتهى عمله.

closed-authentication_expired = انتهت صلاحية دخولك. يلزم الاتصال من جديد ببيانات دخول جديدة.

closed-slow_consumer = كان هذا القارئ أبطأ من اللازم. يلزم الاتصال من جديد للمتابعة من حيث توقف.

closed-superseded = تولى قارئ آخر المهمة.

closed-subscriber_shutdown = توقف هذا القارئ.

closed-rate_violation = أرسل هذا القارئ أكثر من اللازم.

closed-protocol_error = أرسل هذا القارئ شيئا غير مسموح.

closed-manifest_invalid = لم يستطع الطرف الآخر إثبات هويته.

closed-other = { $agent }: أنهى الاتصال: { $reason }.

arrived = وكيل جديد: { $agent }.

discover-none = لا وكيل يعمل بعد. الاستماع إلى كل وكيل يبدأ.

reconnected-name = عاد الاتصال مع { $agent }.

gap-name = عاد الاتصال مع { $agent }. فاتك شيء في هذه الأثناء.

connection-lost-name = انقطع الاتصال مع { $agent }. { $reason }

connection-ended-name = انتهى الاتصال مع { $agent } نهائيا. { $reason }

waiting-name = انتظار { $agent }. تستمر المحاولات تلقائيا.

no_answers-name = { $agent }: لا قبول لإجابات من هذا القارئ.

unread-name = هذا عن { $agent }.

asker-gone = لم يعد الوكيل الذي سأل متصلا.

## Why a connection is refused

refused-version_unsupported = لا يتكلم أي إصدار من البروتوكول نتكلمه.

refused-manifest_invalid = تعذر التحقق من إثبات.

refused-manifest_signature_required = ليس لديه إثبات موقع لهويته.

refused-capabilities_incompatible = لا يستطيع تقديم ما طلبناه.

refused-rate_limit = الطلبات عليه كثيرة في الوقت الحالي.

refused-authentication_required = لا يعرف من نحن.

refused-authentication_expired = انتهت صلاحية بيانات دخولنا.

refused-authorization_denied = ليس لدينا إذن بالدخول.

refused-transport_unavailable = لا يمكن استخدامه بهذه الطريقة في الوقت الحالي.

refused-unknown = لا يذكر سببا.

refused-slow_consumer = كنا أبطأ من اللازم.

refused-rate_violation = أرسلنا أكثر من اللازم.

refused-protocol_error = أرسلنا ما لا يسمح به البروتوكول.

advice-version_unsupported = يلزم استخدام إصدار من هذه المكتبة يتكلم إصدار الطرف الآخر.

advice-manifest_invalid = يلزم أن تطلب من المسؤول عن الوكيل إثباتا يمكن التحقق منه.

advice-manifest_signature_required = يلزم أن تطلب من المسؤول عن الوكيل إثباتا موقعا لهويته.

advice-capabilities_incompatible = يلزم طلب أقل من ذلك، أو طلب لغة متاحة.

advice-rate_limit = تلزم إعادة المحاولة لاحقا.

advice-authentication_required = يلزم تقديم بيانات دخول صالحة عبر { $options }.

advice-authentication_expired = يلزم الاتصال من جديد ببيانات دخول حديثة.

advice-authorization_denied = يلزم طلب إذن الدخول من المسؤول عن الوكيل.

advice-transport_unavailable = تلزم إعادة المحاولة لاحقا، أو استخدام طريقة اتصال أخرى.

advice-slow_consumer = يلزم طلب أقل من ذلك، أو قراءة أسرع.

advice-rate_violation = يلزم إرسال ردود وتغييرات أقل.

advice-unknown = يلزم سؤال المسؤول عن الوكيل عن معنى ذلك.

## At the terminal

attention = تنبيه. { $text }

greeting-keys = المفتاح ? للمساعدة، q للخروج.

greeting-lines = للمساعدة: كتابة { command-help } ثم Enter.

greeting-pipe = وضع غير تفاعلي: تقرأ الأوامر من الإدخال القياسي، أمر في كل سطر.

greeting-none = وضع غير تفاعلي: تعرض الطلبات ولا يجاب عنها.

prompts-shown = تعرض الطلبات ولا يجاب عنها.

input-ended = انتهى الإدخال القياسي. الاستماع مستمر.

goodbye = توقف الاستماع.

goodbye-open =
    { $count ->
        [zero] لم يبق سؤال دون إجابة.
        [one] بقي سؤال واحد دون إجابة.
        [two] بقي سؤالان دون إجابة.
        [few] بقيت { $count } أسئلة دون إجابة.
        [many] بقي { $count } سؤال دون إجابة.
       *[other] بقي { $count } سؤال دون إجابة.
    }

other_session = يسأل عمل آخر شيئا لا يعرض هنا.

typed_before = ما كتب قبل هذا السطر لا يحتسب.

draft = كنت تكتب: { $text }

nothing_said = لم يقل شيء بعد.

nothing_before = لم يقل شيء قبل ذلك.

nothing_after = كان ذلك الأخير.

backlog =
    { $count ->
        [zero] لا تحديثات أخرى.
        [one] تحديث آخر.
        [two] تحديثان آخران.
        [few] { $count } تحديثات أخرى.
        [many] { $count } تحديث آخر.
       *[other] { $count } تحديث آخر.
    }

quiet-begin = عدم الإزعاج. تقال الأسئلة والتحذيرات فقط.

quiet-end =
    { $count ->
        [0] لم يحدث شيء في هذه الأثناء.
        [zero] لم يحدث شيء في هذه الأثناء.
        [one] تحديث واحد في هذه الأثناء.
        [two] تحديثان في هذه الأثناء.
        [few] { $count } تحديثات في هذه الأثناء.
        [many] { $count } تحديث في هذه الأثناء.
       *[other] { $count } تحديث في هذه الأثناء.
    }

quiet-hear-key = المفتاح f لسماع الأول.

quiet-hear-line = لسماع الأول: كتابة { command-forward }.

verbosity =
    { $verbosity ->
        [terse] مستوى التفصيل: موجز.
        [detailed] مستوى التفصيل: مفصل.
       *[normal] مستوى التفصيل: عادي.
    }

asking_time = طلب مهلة { $duration }.

sending-accept = إرسال: قبول.

sending-reject = إرسال: رفض.

sending = إرسال: { $answer }

no_time = لا يمنح الوكيل وقتا إضافيا.

unsent = تعذر الإرسال. { $reason }

still_open = الطلب ما زال مفتوحا.

may_have_arrived = استغرق وقتا أطول من اللازم، وربما وصل وربما لم يصل.

not_connected = لا اتصال بعد.

speech-paused = النطق متوقف مؤقتا.

speech-nothing = لا شيء قيد النطق الآن.

speech-gone = انقطع النطق. يستمر النص هنا.

speech-back = عاد النطق.

speech-no_voice = لا صوت هنا لهذه اللغة: { $language }. القراءة بصوت هذه اللغة: { $other }.

speech-none = لا نطق هنا.

speech-unavailable = لا يستجيب Speech Dispatcher. يلزم تثبيته أو تشغيله.

speech-none-prism = تلزم مكتبة Prism. تثبيتها بالأمر: pip install prismatoid.

speech-address = قيمة SPEECHD_ADDRESS هي { $address }. يلزم كتابة unix_socket:path أو inet_socket:host:port.

speech-refused = لا يعرف Speech Dispatcher هذه القيمة: { $value }.

braille-unavailable = لا شيء يستجيب على العنوان { $address }. يلزم تشغيل BRLTTY أو ضبط BRLAPI_HOST. على Debian: apt install brltty.

braille-library = يحتاج برايل إلى liblouis، وهو غير مثبت. على Debian: apt install liblouis20 liblouis-data.

speech-rate = عدد الكلمات في الدقيقة: { $count }.

## Answering

help-keys = المفاتيح: a للقبول، r للرفض، m لسماع المزيد، s للتكرار، o للطلب المفتوح التالي.

help-keys-more = v لتغيير مستوى التفصيل، t لطلب وقت إضافي، q للخروج، ? لهذه المساعدة.

help-keys-history = b للرجوع، f للتقدم. s مرتين لسماع الكل. d لعدم الإزعاج.

help-second-key = يلزم للقبول مفتاح ثان عند وجود خطر، أو عند وجود عدة طلبات مفتوحة.

help-second-line = يلزم للقبول سطر ثان عند وجود خطر، أو عند وجود عدة طلبات مفتوحة.

help-answer = الإجابة عن سؤال تكون برقمها، أو y أو n، ثم Enter.

help-freetext = للإجابة بكلماتك: Enter، ثم الكتابة، ثم Enter مرة أخرى.

help-lines = الأوامر، أمر في كل سطر: { command-accept }، { command-reject }، { command-more }، { command-repeat }، { command-next }، { command-verbosity }، { command-time }، { command-quit }، { command-help }.

help-lines-history = بالأمرين { command-back } و { command-forward } تنقل فيما قيل. بالأمر { command-repeat } مرتين سماع الكل. بالأمر { command-quiet } عدم الإزعاج.

help-next = بالأمر { command-next } انتقال إلى الطلب المفتوح التالي.

help-answer-lines = الإجابة عن سؤال تكون برقمها، أو { word-yes }، أو { word-no }، أو بكلماتك.

help-command-answer = الكلمات التي هي أوامر ترسل كإجابة بكتابة { command-answer } قبلها.

several_open =
    { $count ->
        [zero] لا طلبات مفتوحة غير هذا. إجابتك الآن عن هذا الطلب. { $hint }
        [one] طلب واحد مفتوح. إجابتك الآن عن هذا الطلب. { $hint }
        [two] طلبان مفتوحان. إجابتك الآن عن هذا الطلب. { $hint }
        [few] { $count } طلبات مفتوحة. إجابتك الآن عن هذا الطلب. { $hint }
        [many] { $count } طلب مفتوح. إجابتك الآن عن هذا الطلب. { $hint }
       *[other] { $count } طلب مفتوح. إجابتك الآن عن هذا الطلب. { $hint }
    }

prompt-hear-key = المفتاح o لسماعه.

prompt-hear-line = لسماعه: كتابة { command-next }.

next-key = المفتاح o للطلب التالي.

next-line = للطلب التالي: كتابة { command-next }.

still_answering = إجابتك ما زالت عن هذا: { $action }

draft-unsent = ما كنت تكتب لم يتم إرساله: { $text }

accept-void = لم يتم قبول أي شيء هنا.

accept-taken_back = تم التراجع. لم يتم قبول أي شيء.

accept-second-key = لم يتم القبول بعد. المفتاح y لقبول هذا: { $action } أي مفتاح آخر يلغي القبول.

accept-second-key-long = لم يتم القبول بعد. المفتاح y لقبول ما بدايته هذا: { $action } أي مفتاح آخر يلغي القبول.

accept-second-line = لم يتم القبول بعد. يلزم كتابة { word-yes } لقبول هذا: { $action } أي سطر آخر يلغي القبول.

accept-second-line-long = لم يتم القبول بعد. يلزم كتابة { word-yes } لقبول ما بدايته هذا: { $action } أي سطر آخر يلغي القبول.

leaving-open =
    { $count ->
        [zero] لا أسئلة مفتوحة.
        [one] سؤال واحد مفتوح.
        [two] سؤالان مفتوحان.
        [few] { $count } أسئلة مفتوحة.
        [many] { $count } سؤال مفتوح.
       *[other] { $count } سؤال مفتوح.
    }

leaving-keys =
    { $count ->
        [zero] المفتاح l للخروج وتركها مفتوحة، Escape للبقاء.
        [one] المفتاح l للخروج وتركه مفتوحا، Escape للبقاء.
        [two] المفتاح l للخروج وتركهما مفتوحين، Escape للبقاء.
        [few] المفتاح l للخروج وتركها مفتوحة، Escape للبقاء.
        [many] المفتاح l للخروج وتركها مفتوحة، Escape للبقاء.
       *[other] المفتاح l للخروج وتركها مفتوحة، Escape للبقاء.
    }

leaving-keys-refuse =
    { $count ->
        [zero] المفتاح r لرفضها والخروج، l للخروج وتركها مفتوحة، Escape للبقاء.
        [one] المفتاح r لرفضه والخروج، l للخروج وتركه مفتوحا، Escape للبقاء.
        [two] المفتاح r لرفضهما والخروج، l للخروج وتركهما مفتوحين، Escape للبقاء.
        [few] المفتاح r لرفضها والخروج، l للخروج وتركها مفتوحة، Escape للبقاء.
        [many] المفتاح r لرفضها والخروج، l للخروج وتركها مفتوحة، Escape للبقاء.
       *[other] المفتاح r لرفضها والخروج، l للخروج وتركها مفتوحة، Escape للبقاء.
    }

leaving-keys-some = المفتاح r لرفض { $count } منها فقط والخروج، l للخروج وتركها كلها مفتوحة، Escape للبقاء.

leaving-lines =
    { $count ->
        [zero] كتابة { command-leave } للخروج وتركها مفتوحة، { command-stay } للبقاء.
        [one] كتابة { command-leave } للخروج وتركه مفتوحا، { command-stay } للبقاء.
        [two] كتابة { command-leave } للخروج وتركهما مفتوحين، { command-stay } للبقاء.
        [few] كتابة { command-leave } للخروج وتركها مفتوحة، { command-stay } للبقاء.
        [many] كتابة { command-leave } للخروج وتركها مفتوحة، { command-stay } للبقاء.
       *[other] كتابة { command-leave } للخروج وتركها مفتوحة، { command-stay } للبقاء.
    }

leaving-lines-refuse =
    { $count ->
        [zero] كتابة { command-refuse } لرفضها والخروج، { command-leave } للخروج وتركها مفتوحة، { command-stay } للبقاء.
        [one] كتابة { command-refuse } لرفضه والخروج، { command-leave } للخروج وتركه مفتوحا، { command-stay } للبقاء.
        [two] كتابة { command-refuse } لرفضهما والخروج، { command-leave } للخروج وتركهما مفتوحين، { command-stay } للبقاء.
        [few] كتابة { command-refuse } لرفضها والخروج، { command-leave } للخروج وتركها مفتوحة، { command-stay } للبقاء.
        [many] كتابة { command-refuse } لرفضها والخروج، { command-leave } للخروج وتركها مفتوحة، { command-stay } للبقاء.
       *[other] كتابة { command-refuse } لرفضها والخروج، { command-leave } للخروج وتركها مفتوحة، { command-stay } للبقاء.
    }

leaving-lines-some = كتابة { command-refuse } لرفض { $count } منها فقط والخروج، { command-leave } للخروج وتركها كلها مفتوحة، { command-stay } للبقاء.

stay = لا خروج. لم يتم إرسال أي إجابة.

keys-several = وصلت عدة مفاتيح معا. لا يحتسب أي منها. يلزم ضغط مفتاح واحد كل مرة.

keys-unknown = المفتاح { $key } لا يفعل شيئا هنا. المفتاح ? للمساعدة.

keys-too_soon = ضغط هذا المفتاح قبل الأوان فلا يحتسب. يلزم الانتظار لحظة، ثم ضغطه مرة واحدة.

draft-begin = كتابة إجابتك الآن. Enter للإرسال. Escape للترك دون إرسال.

draft-empty = لم يكتب شيء. لم يتم إرسال أي شيء.

draft-left = تركت الكتابة. لم يتم إرسال أي شيء.

draft-removed = حذف ما كتبت. كتابة إجابتك من جديد.

enter-prompt = المفتاح Enter وحده لا يجيب عن شيء. المفتاح s لسماع الطلب من جديد.

enter-nothing = لا شيء للإجابة عنه. المفتاح ? للمساعدة.

line-empty = السطر الفارغ لا يجيب عن شيء.

line-no_prompt = لا يوجد طلب، فهذا السطر لا يجيب عن شيء. للمساعدة: كتابة { command-help }.

line-unknown = هذا السطر غير مفهوم. لم يتم إرسال أي شيء. يمكنك كتابة { command-accept } أو { command-reject } أو { command-help }.

no_other = لا طلب آخر مفتوح.

no_more_time = لا يمكن الحصول على وقت إضافي.

time_asked = سبق طلب وقت إضافي.

cannot_reply = هذا القارئ لا يستطيع الإجابة عن الطلبات. لم يتم إرسال أي شيء.

answer_sent = أرسلت إجابتك. يلزم انتظار ما يقوله الوكيل.

nothing_to-accept = لا شيء لقبوله.

nothing_to-reject = لا شيء لرفضه.

nothing_to-answer = لا شيء للإجابة عنه.

nothing_to-time = لا شيء يحتاج إلى وقت إضافي.

another_open = طلب آخر مفتوح. { $hint }

is_question = هذا سؤال. { $hint }

answer-word = لإرسال هذه الكلمة كإجابة: كتابة { command-answer } قبلها.

answer-freetext = يلزم Enter، ثم كتابة إجابتك، ثم Enter مرة أخرى.

answer-own_words = يلزم Enter قبل الكتابة بكلماتك.

answer-impossible = لا يمكن الإجابة عن هذا السؤال هنا.

answer-forms = الإجابة تكون: { $forms }، ثم Enter.

answer-or = { $first } أو { $second }

answer-number = الرقم الذي ليس خيارا يكتب وقبله =.

answer-unsent = لم يتم إرسال أي شيء. { $hint }

form-multiple_choice = رقم أحد الخيارات

form-yes_no = { word-yes } أو { word-no }

form-numeric = رقم

form-freetext = كلماتك

help-speech = مفتاح المسافة لإيقاف النطق، p لإيقافه مؤقتا ومتابعته، k للتخطي إلى اللحظة الحالية، النقطة للإسراع، الفاصلة للإبطاء.

help-speech-lines = بالأمر { command-silence } يتوقف النطق، بالأمر { command-pause } يتوقف مؤقتا ثم يستمر، بالأمر { command-skip } يتخطى إلى اللحظة الحالية. وهناك أيضا { command-faster } و { command-slower }.

line-too_soon = وصل هذا قبل الأوان فلا يحتسب. يلزم أولا سماع الطلب إلى آخره.

## Settings

settings-line = السطر { $line } من الإعدادات لا يمكن قراءته ولا يحتسب: { $text }

settings-repeated = السطر { $line } من الإعدادات يذكر { $setting } مرة ثانية. تحتسب المرة الأولى.

settings-unknown = السطر { $line } من الإعدادات يذكر { $setting }، ولا يوجد إعداد بهذا الاسم.

settings-similar = هل المقصود { $setting }؟

settings-value = السطر { $line } من الإعدادات لا يحتسب. القيمة اللازمة لهذا الإعداد، { $setting }: { $expected }.

settings-variable = المتغير { $variable } لا يحتسب. قيمته اللازمة: { $expected }.

settings-more =
    { $count ->
        [zero] لا أسطر أخرى غير محتسبة في الإعدادات.
        [one] وسطر آخر من الإعدادات لا يحتسب.
        [two] وسطران آخران من الإعدادات لا يحتسبان.
        [few] و{ $count } أسطر أخرى من الإعدادات لا تحتسب.
        [many] و{ $count } سطر آخر من الإعدادات لا تحتسب.
       *[other] و{ $count } سطر آخر من الإعدادات لا تحتسب.
    }

settings-unreadable = لا يمكن قراءة الإعدادات، فتسري القيم الافتراضية. { $reason }

settings-missing = لا يوجد ملف { $file }، فتسري القيم الافتراضية.

settings-encoding = في السطر { $line } أحرف ليست من UTF-8.

settings-unsafe = يستطيع مستخدمون آخرون تغيير { $file }، فتسري القيم الافتراضية. يلزم تنفيذ chmod go-w عليه.

settings-stranger = الملف { $file } ملك لمستخدم آخر، فتسري القيم الافتراضية.

settings-allow = لا يمكن قراءة القواعد في إعداداتك، لذلك يطرح عليك السؤال عن كل شيء. { $reason }

## Words for sounds

earcon-sent = تم الإرسال.

earcon-working = العمل جار.

earcon-done = اكتمل العمل.

earcon-needs-you = حان دورك.

earcon-error = خطأ.

## Coding agents

code-started = { $agent }: العمل جار.

code-run = تشغيل { $command }.

code-create = إنشاء { $file }، { $size }: { $text }.

code-change = تغيير { $file }. المضاف: { $added }، المحذوف: { $removed }.

code-change-nothing = كتابة { $file } من جديد دون تغيير.

code-hunk-add = عند السطر { $line }: إضافة { $text }.

code-hunk-remove = عند السطر { $line }: حذف { $text }.

code-hunk-replace = عند السطر { $line }: وضع { $new } مكان { $old }.

code-hunk-blank = الاختلاف هناك في المسافات أو فواصل الأسطر فقط.

code-own_words = لا يقول الوكيل ماذا يشغل، بل هذا فقط: { $text }.

code-effect-run = يتم التشغيل بكل صلاحياتك.

code-effect-change = تتم كتابة الملف.

code-effect-delete = يضيع، إلا إذا كانت لديك نسخة منه.

code-effect-move = يصبح في مكان آخر.

code-effect-read = يقرؤه الوكيل ونموذجه.

code-effect-search = يقرأ الوكيل ونموذجه كل ما يتم العثور عليه.

code-effect-think = لا يتغير شيء.

code-effect-fetch = العنوان وما يرسل إليه يخرجان من هذا الجهاز.

code-effect-switch_mode = ربما يسأل الوكيل بعد ذلك عن أشياء أقل.

code-effect-other = ما يغيره هذا غير معروف. يجب اعتباره نهائيا.

code-running = عملية تشغيل { $command }.

code-creating = عملية إنشاء { $file }.

code-changing = عملية تغيير { $file }.

code-reading = قراءة { $file }.

code-searching = البحث عن { $text }.

code-described = بكلمات الوكيل نفسه: { $text }.

code-using = عملية استخدام { $tool }.

code-ruled = مسموح به حسب قاعدة من قواعدك. { $text }

code-unasked = تحذير. فعل الوكيل هذا دون سؤال: { $text }

code-unasked-failed = تحذير. حاول الوكيل هذا دون سؤال، وفشلت المحاولة: { $text }

code-despite = تحذير. فعل الوكيل هذا مع أن الطلب كان مرفوضا: { $text }

code-stopping = جار إيقاف الوكيل.

code-undescribed = شيء لا يمكن وصفه

code-too_long = تم الرفض: النص أطول من أن يقرأ كاملا. { $text } يلزم طلب خطوات أصغر.

code-unreadable = تم الرفض: لا يمكن قراءته كاملا، إذ يبدو أنه يحتوي على سر. { $text }

code-unofferable = تم الرفض: لا يتيح الوكيل السماح بهذا مرة واحدة فقط. { $text }

code-between = تم الرفض: طلب الوكيل هذا في وقت لم يكن يعمل فيه. { $text }

code-mode = الوضع: { $mode }.

code-mode-unasked = تحذير. في الوضع { $mode } يتصرف الوكيل دون سؤال.

code-mode-back = تتم العودة إلى الوضع السابق.

code-mode-unknown = من غير المعروف هل يسأل هذا الوكيل قبل أن يتصرف. ما يفعله دون سؤال يتم إعلانه، ويؤدي إلى إيقافه.

code-subagent = الوكيل المساعد { $name }: { $state }.

code-stop-refusal = يرفض النموذج المتابعة.

code-stop-max_tokens = أصبحت الإجابة أطول مما يتحمله النموذج.

code-stop-max_turn_requests = تجاوز الوكيل عدد الخطوات المسموح به.

code-stop-other = توقف الوكيل ولا يقول لماذا.

code-stop-error = يبلغ الوكيل عن خطأ.

code-stop-gone = انتهى برنامج الوكيل.

code-stop-stuck = لم يتوقف الوكيل، فتم إنهاء برنامجه.

code-stop-fault = حدث خلل في هذا البرنامج، فتم إيقاف الوكيل.

code-refused = أنهى الوكيل دوره بعد رفض.

compose-begin = الكتابة إلى الوكيل الآن. Enter للإرسال. Escape للحفظ إلى وقت لاحق.

compose-left = تم الحفظ إلى وقت لاحق. المفتاح p لمتابعة الكتابة.

compose-left-empty = تركت الكتابة. لم يكتب شيء.

compose-removed = تم حذف السطر.

compose-joined = السطر السابق:

compose-history-none = لم يتم إرسال أي شيء بعد.

compose-help = المفتاح p أو Enter للكتابة إلى الوكيل. الشرطة المائلة العكسية في النهاية تبدأ سطرا آخر.

compose-help-history = المفتاح h لسماع قائمة ما أرسلت. السهم العلوي لاسترجاعه. كتابة @ وبعدها اسم تحدد ملفا.

compose-help-lines = أي سطر آخر يتم إرساله إلى الوكيل، وكذلك بعد كلمة prompt. كلمة history لسماع قائمة ما أرسلت.

code-ready = كل شيء جاهز. المفتاح p للكتابة إلى { $agent }.

code-ready-lines = كل شيء جاهز. يمكنك الكتابة إلى { $agent }.

code-queued = العمل ما زال جاريا. سيتم إرسال هذا بعده.

code-interrupt = جار الإيقاف. للخروج: Control+C مرة أخرى.

code-interrupt-idle = للخروج: Control+C مرة أخرى.

code-file = مع الملف { $file }.

code-file-missing = لا يوجد هنا ملف { $file }. تم إرساله ككلمة.

code-error = يقول الوكيل: { $text }

code-last_words = كانت هذه آخر كلماته.

code-hint-again = للمتابعة: الكتابة إليه من جديد.

code-editor-allowed = تم السماح في برنامج التحرير. { $text }

code-editor-refused = تم الرفض في برنامج التحرير.

code-editor-done = انتهى: { $text }

code-editor-failed = فشل: { $text }

code-editor-only = لا يمكن الرد على هذا إلا في برنامج التحرير. { $text }

code-editor-fault = حدث خلل في هذا البرنامج. يتابع الوكيل مع برنامج التحرير.

code-editor-gone = انتهى برنامج التحرير.

code-run-long = تشغيل أمر طوله { $size }.

code-create-long = إنشاء { $file }، { $size }.

code-write-long = كتابة { $file }، { $size }.

code-edit-long = في { $file }: وضع نص مكان نص. الجديد: { $added }، القديم: { $removed }.

code-kilobytes =
    { $count ->
        [zero] 0 كيلوبايت
        [one] كيلوبايت واحد
        [two] 2 كيلوبايت
        [few] { $count } كيلوبايت
        [many] { $count } كيلوبايت
       *[other] { $count } كيلوبايت
    }

code-parts =
    { $count ->
        [zero] { $overview } الطول { $size }، بلا أجزاء. لا يتم تنفيذ أي شيء قبل سماعك له. هل نتابع؟
        [one] { $overview } الطول { $size }، في جزء واحد. لا يتم تنفيذ أي شيء قبل سماعك له. هل نتابع؟
        [two] { $overview } الطول { $size }، في جزأين. لا يتم تنفيذ أي شيء قبل سماعك لهما كليهما. هل نتابع؟
        [few] { $overview } الطول { $size }، في { $count } أجزاء. لا يتم تنفيذ أي شيء قبل سماعك لها كلها. هل نتابع؟
        [many] { $overview } الطول { $size }، في { $count } جزء. لا يتم تنفيذ أي شيء قبل سماعك لها كلها. هل نتابع؟
       *[other] { $overview } الطول { $size }، في { $count } جزء. لا يتم تنفيذ أي شيء قبل سماعك لها كلها. هل نتابع؟
    }

code-part = الجزء { $number } من { $count }. { $text } هل نتابع؟

code-part-last = { $overview } هذا هو الجزء الأخير من أصل { $count }. { $text }

code-part-line = التتمة من السطر { $line }، والعد هنا يبدأ من 1 من جديد: { $text }

code-part-word = التتمة داخل السطر { $line }: { $text }

code-part-middle = التتمة داخل السطر { $line }، في وسط كلمة: { $text }

code-part-refused = تم الرفض. لم يتم تنفيذ أي شيء. { $text }

## Braille

braille-no_table = لا يوجد جدول برايل لهذه اللغة: { $language }. تستخدم الحروف الإنجليزية.

braille-marks = في برايل، النقطة 8 تميز حرفا عليه علامة غير موجودة في الجدول.

braille-lost = انقطع سطر برايل الإلكتروني. يعود العرض عليه عند رجوعه.

braille-back = عاد سطر برايل الإلكتروني.

braille-read_on = تلزم القراءة إلى النهاية أولا، ثم يمكنك القبول.

braille-choice = المفتاح Enter يرسل { $choice }

## Hooks of coding agents

hooks-started = { $agent }: العمل جار.


hooks-write = كتابة { $file }، { $size }: { $text }.

hooks-edit = في { $file }: وضع { $new } مكان { $old }.

hooks-edit-all = في { $file }: وضع { $new } مكان كل { $old }.






hooks-terminal = تلزم الإجابة في طرفية الوكيل. { $text }

hooks-terminal-unread = تلزم الإجابة في طرفية الوكيل. يريد الوكيل استخدام { $tool }، ولا يمكن قراءة ذلك كاملا.

hooks-refused-unread = تم الرفض. يريد الوكيل استخدام { $tool }، ولا يمكن قراءة ذلك كاملا.

hooks-terminal-allowed = تم السماح في طرفية الوكيل. { $text }

hooks-unasked = تحذير. فعل الوكيل هذا دون سؤال. { $text }

hooks-despite = تحذير. فعل الوكيل هذا مع أن الطلب كان مرفوضا. { $text }

hooks-undescribed = استخدم الوكيل { $tool }، ولا يمكن قراءة ذلك.

hooks-next = وصلت مهمة أخرى.

hooks-idle = { $agent } في انتظار مهمتك التالية.

hooks-closed = { $agent }: تم إغلاق البرنامج.

## Falling behind

behind-key = النطق متأخر بمقدار { $duration }. المفتاح k للتخطي إلى اللحظة الحالية.

behind-line = النطق متأخر بمقدار { $duration }. للتخطي إلى اللحظة الحالية: كتابة { command-skip }.

behind-skipped = عدد ما تم تخطيه: { $count }.

behind-nothing = لا شيء لتخطيه. هذه هي اللحظة الحالية.

## Notifications of the desktop

greeting-daemon = استماع في الخلفية.

notifications-none = لا إشعارات هنا: لا تستجيب أي خدمة من سطح المكتب.

notifications-gone = انتهت الإشعارات: تم إغلاق سطح المكتب.

notification-answer = الإجابة في طرفية: aaep listen

notification-title = سؤال من { $agent }

notification-accept = قبول

notification-reject = رفض

## Durations

duration-moment = أقل من ثانية

duration-days =
    { $count ->
        [zero] 0 يوم
        [one] يوم واحد
        [two] يومين
        [few] { $count } أيام
        [many] { $count } يوم
       *[other] { $count } يوم
    }

duration-hours =
    { $count ->
        [zero] 0 ساعة
        [one] ساعة واحدة
        [two] ساعتين
        [few] { $count } ساعات
        [many] { $count } ساعة
       *[other] { $count } ساعة
    }

duration-minutes =
    { $count ->
        [zero] 0 دقيقة
        [one] دقيقة واحدة
        [two] دقيقتين
        [few] { $count } دقائق
        [many] { $count } دقيقة
       *[other] { $count } دقيقة
    }

duration-seconds =
    { $count ->
        [zero] 0 ثانية
        [one] ثانية واحدة
        [two] ثانيتين
        [few] { $count } ثوان
        [many] { $count } ثانية
       *[other] { $count } ثانية
    }

duration-pair = { $first } و { $second }

## Words that a person writes

command-accept = قبول

command-reject = رفض

command-refuse = رفض

command-more = المزيد

command-repeat = تكرار

command-next = التالي

command-back = رجوع

command-forward = تقدم

command-quiet = صمت

command-verbosity = تفصيل

command-time = وقت

command-quit = خروج

command-help = مساعدة

command-answer = إجابة

command-leave = ترك

command-stay = بقاء

word-yes = نعم

word-no = لا

command-silence = إسكات

command-pause = وقفة

command-skip = تخطي

command-faster = أسرع

command-slower = أبطأ

## Putting words together

list = { $first }، { $second }

list-long = { $first }؛ { $second }

decimal-sign = .

value-marks = اقتباس, الاقتباس, نهاية الاقتباس, واقتباس, والاقتباس, بالاقتباس, للاقتباس, اقتباسات, الاقتباسات

value-own_words = قبول, القبول, قبولا, يقبل, قبوله, يتم, لقبول, مطلوب, تأكيد, التأكيد, رفض, الرفض, لرفض, خطر, الخطر, منخفض, متوسط, مرتفع, مرتفعا, تراجع, التراجع, نهائي, نهائيا, تلقائي, مذكور, فارغ, مسافات, سطر, محجوب, اقتباس, الاقتباس, نعم, لا, شيء, سؤال

expected-word = { $words } أو { $last }

expected-whole_number = عدد صحيح من { $lowest } إلى { $highest }

expected-number = عدد من { $lowest } إلى { $highest }

expected-languages = قائمة من رموز اللغات مثل en-GB

expected-texts = قائمة من النصوص

expected-text = نص

## The language

language-name = العربية

language-none = ليس لدى هذا القارئ كلمات باللغة { $languages }. لغته هي { language-name }.

## Why a connection is closed, to the other side

close-producer_shutdown = جهة الوكيل تتوقف عن العمل.

close-authentication_expired = بيانات دخول هذا القارئ لم تعد صالحة. يلزم الاتصال من جديد ببيانات جديدة.

close-slow_consumer = القارئ لا يواكب. يلزم الاتصال من جديد للمتابعة من حيث توقف.

close-superseded = تولى قارئ آخر المهمة.

close-subscriber_shutdown = توقف القارئ.

close-rate_violation = أرسل القارئ أكثر من اللازم.

close-protocol_error = أرسل القارئ ما هو غير مسموح.

close-manifest_invalid = تعذر التحقق من إثبات الهوية.

close-hub_shutdown = مركز الربط يتوقف عن العمل.
