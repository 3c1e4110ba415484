# checked-by-speaker: no
# language: he

## The work

started = העבודה התחילה.

part = חלק מתוך: { $parent }

completed = בוצע.

ended = העבודה הסתיימה.

undone = לא בוצע: { $action }.

undone-more =
    { $count ->
        [one] עוד פעולה אחת לא בוצעה.
        [two] עוד שתי פעולות לא בוצעו.
       *[other] עוד { $count } פעולות לא בוצעו.
    }

possible = ייתכן שזה קרה: { $action }.

possible-more =
    { $count ->
        [one] ייתכן שעוד פעולה אחת קרתה.
        [two] ייתכן שעוד שתי פעולות קרו.
       *[other] ייתכן שעוד { $count } פעולות קרו.
    }

possible-check = יש לבדוק לפני שמנסים שוב.

undone-failed = נכשל: { $action }.

undone-failed-more =
    { $count ->
        [one] עוד פעולה אחת נכשלה.
        [two] עוד שתי פעולות נכשלו.
       *[other] עוד { $count } פעולות נכשלו.
    }

failed-check = יש לבדוק מה בוצע לפני שמנסים שוב.

errored = העבודה נכשלה.

cancelled = העבודה נעצרה.

unfinished = העבודה לא הושלמה.

tools =
    { $count ->
        [one] נעשה שימוש בכלי אחד.
        [two] נעשה שימוש בשני כלים.
       *[other] נעשה שימוש ב-{ $count } כלים.
    }

took = זה ארך { $duration }.

takes = זה אורך בערך { $duration }.

left = הזמן שנשאר הוא בערך { $duration }.

by-user = המשתמש עצר את זה.

by-producer = הסוכן עצר את זה.

by-timeout = זה ארך יותר מדי זמן.

by-system = המערכת עצרה את זה.

partial = עד כה: { $result }

code = קוד שגיאה { $code }.

category-transient = ניסיון נוסף עשוי לעזור.

category-permanent = ניסיון נוסף לא יעזור.

category-requires_user = עליך לעשות משהו קודם.

hint-transient = ניסיון נוסף מאוחר יותר עשוי לעזור.

hint-permanent = ניסיון נוסף לא יעזור. יש להודיע לאחראי על הסוכן.

hint-requires_user = יש לבדוק אם מותר לסוכן לעשות את זה, ואז לנסות שוב.

hint-unknown = יש לנסות שוב. אם זה נכשל שוב, יש להודיע לאחראי על הסוכן.

lost = הסוכן נעצר במפתיע. העבודה לא הושלמה.

lost-hint = יש לבדוק מה בוצע לפני שמפעילים אותו שוב.

lost-detailed = הסוכן נעצר במפתיע. העבודה לא הושלמה. ייתכן שמה שהתחיל קרה.

handoff-human = העבודה מועברת לאדם.

handoff-specialist_agent = העבודה מועברת לסוכן אחר.

handoff-escalation_queue = העבודה מועברת. מישהו יטפל בה.

handoff-other = העבודה מועברת.

not_taken = אף אחד לא לקח את העבודה.

## What goes on

state-idle = אין עבודה כרגע.

state-thinking = חשיבה.

state-thinking-detailed = חשיבה על הצעד הבא.

state-calling_tool = שימוש בכלי.

state-writing_output = כתיבה.

state-awaiting_input = ממתינים לך.

state-deciding = החלטה.

state-deciding-detailed = החלטה איך להמשיך.

state-handing_off = מעבירים את העבודה.

state-other = עכשיו: { $state }.

state-unnamed = עכשיו משהו אחר.

resync = השלמת מה שקרה עד כה.

percent = { $percent } אחוז.

step = שלב { $step }.

step-of = שלב { $step } מתוך { $total }.

progress-none = העבודה נמשכת.

invoked = הפעלת { $tool }.

tool = כלי

with = עם { $arguments }.

undo-warning = אי אפשר לבטל את זה אחר כך.

success = { $tool }: הסתיים.

stopped = { $tool }: נעצר.

stopped-early = { $tool }: נעצר לפני הסוף.

success-summary = { $call }: בוצע.

error-unnamed = שגיאה

error-mistake = תקלה בסוכן

error-several =
    { $count ->
        [one] שגיאה אחת: { $name }
        [two] שתי שגיאות: { $name } ועוד
       *[other] { $count } שגיאות: { $name } ועוד
    }

error = { $call }: נכשל.

error-reason = { $call }: נכשל: { $reason }

timeout = { $call }: לא הסתיים. ייתכן שזה קרה. יש לבדוק לפני שמנסים שוב.

status = המצב שדווח: { $status }.

skipped = לא בוצע: { $action }: הסוכן הפסיק לחכות.

says = { $agent }:

says-quoted = ציטוט של { $agent }:

agent = סוכן

agent-named = הסוכן { $name }

session = { $work }: { $text }

notice = הודעה.

notice-type = משהו שהקורא הזה לא מכיר: { $type }.

incomplete = הודעה חלקית.

incomplete-prompt = אי אפשר לאשר או לענות על זה כאן.

cut =
    { $count ->
        [one] נקטע כאן, נשאר תו אחד.
        [two] נקטע כאן, נשארו שני תווים.
       *[other] נקטע כאן, נשארו { $count } תווים.
    }

## Prompts

confirm = נדרש אישור.

action-none = הסוכן לא אומר מה הוא יעשה.

consequence = במקרה של אישור: { $consequence }

consequence-none = הסוכן לא אומר מה יקרה.

consequence-unstated = אף אחד לא ציין מה זה משנה. יש להתייחס לזה כסופי.

consequence-unknown = מה שזה משנה לא צוין.

consequence-again = ההשפעה לא צוינה.

risk-low = סיכון נמוך

risk-medium = סיכון בינוני

risk-high = סיכון גבוה

risk-none = הסיכון לא צוין: יש להתייחס אליו כגבוה

risk-unstated = סיכון שלא צוין

undo-irreversible = אי אפשר לבטל אחר כך

undo-reversible_with_effort = אפשר לבטל אחר כך במאמץ

undo-reversible = אפשר לבטל אחר כך

undo-none = לא צוין אם אפשר לבטל

risk = { $risk }, { $undo }.

default-reject = סירוב אוטומטי אחרי { $duration } בלי תשובה.

default-accept = אישור אוטומטי אחרי { $duration } בלי תשובה.

default-reject-short = סירוב אוטומטי אחרי { $duration }.

default-accept-short = אישור אוטומטי אחרי { $duration }.

expired = הזמן לענות עבר.

unrefusable = אין אפשרות לסרב.

unacceptable = אין אפשרות לאשר.

uncut = יש לשמוע את כל הטקסט לפני שאפשר לאשר: { $key }.

uncut-plain = יש לשמוע את כל הטקסט לפני שאפשר לאשר.

rest = ההמשך: { $text }

rest-action = המשך הפעולה: { $text }

rest-consequence = המשך מה שיקרה עם האישור: { $text }

key = { $key } { $effect }

key-accept = אישור

key-reject = סירוב

key-yes = כן

key-no = לא

key-more = עוד

key-time = עוד זמן

key-close = יציאה

write = אפשר לכתוב { $words } או { $last }.

write-one = אפשר לכתוב { $word }.

question = שאלה.

question-none = הסוכן לא אומר מה הוא שואל.

why = הסיבה: { $reason }

choice = { $number }: { $label }

kind-freetext = יש לענות במילים שלך.

kind-yes_no = יש לענות { word-yes } או { word-no }.

kind-numeric = יש לענות במספר.

time = הזמן לענות: { $duration }.

time-default = הזמן לענות: { $duration }, אחרת: { $answer }

longer = יש לך עכשיו { $duration }.

countdown = הזמן שנשאר לענות: { $duration }. { $action }

time_left = הזמן שנשאר לענות: { $duration }.

again = שוב.

still = עדיין ממתינים לך.

other = בקשה אחרת ממתינה לך.

prompt-waiting = שאלה נוספת ממתינה.

about = זה היה לגבי: { $action }

flood = מגיעות הרבה הודעות דחופות. מעכשיו הן מחכות לתורן.

## Values in what is asked

tool-use = שימוש ב: { $tool }.

with-nothing = שום דבר נוסף

value-quoted = ציטוט { $value } סוף ציטוט

value-word = המילה { $word }

value-line = שורה { $number }: { $text }

value-ending = מספר שמסתיים ב-{ $digits }

value-empty = טקסט ריק

value-blank = טקסט של רווחים בלבד

value-invisible = בלתי נראה { $character }

value-private = תו פרטי { $character }

value-unknown = תו לא מוכר { $character }

value-times =
    { $count ->
        [one] { $character }
        [two] { $character }, פעמיים
       *[other] { $character }, { $count } פעמים
    }

value-none = כלום

value-yes = כן

value-no = לא

value-items =
    { $count ->
        [0] רשימה ריקה
        [one] פריט אחד: { $items }
        [two] שני פריטים: { $items }
       *[other] { $count } פריטים: { $items }
    }

value-entries =
    { $count ->
        [0] אין רשומות
        [one] רשומה אחת: { $items }
        [two] שתי רשומות: { $items }
       *[other] { $count } רשומות: { $items }
    }

value-parts =
    { $count ->
        [0] אין חלקים
        [one] חלק אחד: { $items }
        [two] שני חלקים: { $items }
       *[other] { $count } חלקים: { $items }
    }

value-bytes =
    { $count ->
        [one] בית אחד
        [two] שני בתים
       *[other] { $count } בתים
    }

value-digest = { $size }, תחילת SHA-256 היא { $digest }

value-other = ערך מסוג { $kind }

## Outcomes of prompts

outcome-accepted = אושר.

outcome-rejected = סורב.

outcome-answered = נענה.

outcome-accepted-elsewhere = אושר במקום אחר.

outcome-rejected-elsewhere = סורב במקום אחר.

outcome-answered-elsewhere = נענה במקום אחר.

outcome-timed_out = הזמן נגמר.

outcome-withdrawn = זה כבר לא נשאל.

outcome-unavailable = לא נשאר מי שיענה.

outcome-no_reply_channel = אף אחד לא יכול לענות.

outcome-other = הבקשה נסגרה.

outcome-modified = רוצים משהו אחר. הסוכן צריך לשאול שוב.

outcome-granted = זה נחשב כאישור.

outcome-defaulted = הסוכן ממשיך עם התשובה שציין.

outcome-unanswered = הסוכן ממשיך בלי תשובה.

outcome-longer = יש עוד זמן. זה נשאל שוב.

## Markdown

markdown-heading = כותרת: { $text }

markdown-bullet = תבליט: { $text }

markdown-bullet-nested = תבליט משנה: { $text }

markdown-number = { $number }: { $text }

markdown-checked = מסומן: { $text }

markdown-unchecked = לא מסומן: { $text }

markdown-quote = ציטוט: { $text }

markdown-code = קוד

markdown-coming = עדיין נכתב

markdown-lines =
    { $count ->
        [one] שורה אחת
        [two] שתי שורות
       *[other] { $count } שורות
    }

markdown-table = טבלה: { $columns }.

markdown-cell = { $column }: { $cell }

markdown-image = תמונה: { $text }

markdown-picture = תמונה

## The connection

connected = יש חיבור.

connected-name = יש חיבור אל { $agent }.

reconnected = החיבור חזר.

gap = החיבור חזר. משהו התפספס בינתיים.

connection-lost = החיבור אבד. { $reason }

retrying =
    { $seconds ->
        [one] { $reason } ניסיון נוסף בעוד { $seconds } שנייה.
        [two] { $reason } ניסיון נוסף בעוד שתי שניות.
       *[other] { $reason } ניסיון נוסף בעוד { $seconds } שניות.
    }

gave_up = הניסיונות הופסקו אחרי { $duration } בלי חיבור. { $reason }

resume-slow_consumer = היינו איטיים מדי, וממשיכים מאיפה שהיינו.

resume-authentication_expired = תוקף פרטי הגישה שלנו פג. אנחנו מציגים את מה שיש לנו עכשיו, וממשיכים מאיפה שהיינו.

absent = אין כרגע קשר עם { $agent }.

absent-terse = אין קשר עם { $agent }.

absent-asking = התשובה שלך תגיע כשהקשר יחזור.

returned = שוב יש קשר עם { $agent }.

waiting = ממתינים. זה ממשיך מעצמו.

connection-ended = החיבור הסתיים סופית. { $reason }

unreadable = הגיע משהו שאי אפשר לקרוא. אם הסוכן שואל משהו, ייתכן שהוא מחכה לתשובה.

no_answers = הסוכן לא מקבל תשובות מהקורא הזה.

proven = זה { $agent }, בחתימת המפתח { $key }.

unproven = הזהות לא הוכחה.

unproven-local = החתימה היא של { $agent } עם המפתח { $key }, אבל ייתכן שמשתמש אחר במחשב הזה הוא שמציג אותה.

refused = הסוכן סירב לחיבור: { $reason }

refused-code = הסוכן סירב לחיבור, { $code }: { $reason }

refused-code-only = הסוכן סירב לחיבור, { $code }.

closed-producer_shutdown = { $agent }: הפעילות הסתיימה.

closed-authentication_expired = תוקף הגישה שלך פג. יש להתחבר שוב עם גישה חדשה.

closed-slow_consumer = הקורא הזה היה איטי מדי. יש להתחבר שוב כדי להמשיך מאיפה שנעצר.

closed-superseded = קורא אחר תפס את המקום.

closed-subscriber_shutdown = הקורא הזה נעצר.

closed-rate_violation = הקורא הזה שלח יותר מדי.

closed-protocol_error = הקורא הזה שלח משהו שאסור.

closed-manifest_invalid = הצד השני לא הצליח להוכיח את זהותו.

closed-other = החיבור נסגר על ידי { $agent }: { $reason }.

arrived = סוכן חדש: { $agent }.

discover-none = עדיין לא פועל אף סוכן. תהיה האזנה לכל סוכן שמתחיל.

reconnected-name = החיבור אל { $agent } חזר.

gap-name = החיבור אל { $agent } חזר. משהו התפספס בינתיים.

connection-lost-name = החיבור אל { $agent } אבד. { $reason }

connection-ended-name = החיבור אל { $agent } הסתיים סופית. { $reason }

waiting-name = ממתינים לסוכן { $agent }. זה ממשיך מעצמו.

no_answers-name = { $agent }: אין קבלת תשובות מהקורא הזה.

unread-name = מדובר על { $agent }.

asker-gone = אין יותר חיבור לסוכן ששאל.

## Why a connection is refused

refused-version_unsupported = הוא לא מדבר אף גרסה של הפרוטוקול שאנחנו מדברים.

refused-manifest_invalid = אי אפשר היה לבדוק הוכחה.

refused-manifest_signature_required = אין לו הוכחת זהות חתומה.

refused-capabilities_incompatible = הוא לא יכול לתת את מה שביקשנו.

refused-rate_limit = מבקשים ממנו יותר מדי כרגע.

refused-authentication_required = הוא לא יודע מי אנחנו.

refused-authentication_expired = תוקף פרטי הגישה שלנו פג.

refused-authorization_denied = אין לנו גישה.

refused-transport_unavailable = אי אפשר להשתמש בו כך כרגע.

refused-unknown = הוא לא מציין סיבה.

refused-slow_consumer = היינו איטיים מדי.

refused-rate_violation = שלחנו יותר מדי.

refused-protocol_error = שלחנו מה שהפרוטוקול לא מרשה.

advice-version_unsupported = יש להשתמש בגרסה של הספרייה הזאת שמדברת את הגרסה של הצד השני.

advice-manifest_invalid = יש לבקש מהאחראי על הסוכן הוכחה שאפשר לבדוק.

advice-manifest_signature_required = יש לבקש מהאחראי על הסוכן הוכחת זהות חתומה.

advice-capabilities_incompatible = יש לבקש פחות, או שפה שמוצעת.

advice-rate_limit = יש לנסות שוב מאוחר יותר.

advice-authentication_required = יש לתת פרטי גישה תקפים עם { $options }.

advice-authentication_expired = יש להתחבר שוב עם פרטי גישה חדשים.

advice-authorization_denied = יש לבקש גישה מהאחראי על הסוכן.

advice-transport_unavailable = יש לנסות שוב מאוחר יותר, או להשתמש בדרך חיבור אחרת.

advice-slow_consumer = יש לבקש פחות, או לקרוא מהר יותר.

advice-rate_violation = יש לשלוח פחות תשובות ושינויים.

advice-unknown = יש לשאול את האחראי על הסוכן מה זה אומר.

## At the terminal

attention = לתשומת לבך. { $text }

greeting-keys = המקש ? לעזרה, q ליציאה.

greeting-lines = לעזרה יש לכתוב { command-help } ואז Enter.

greeting-pipe = מצב לא אינטראקטיבי: הפקודות נקראות מהקלט הסטנדרטי, אחת בכל שורה.

greeting-none = מצב לא אינטראקטיבי: הבקשות יוצגו ולא ייענו.

prompts-shown = הבקשות יוצגו ולא ייענו.

input-ended = הקלט הסטנדרטי הסתיים. ההאזנה נמשכת.

goodbye = ההאזנה הופסקה.

goodbye-open =
    { $count ->
        [one] שאלה אחת לא נענתה.
        [two] שתי שאלות לא נענו.
       *[other] { $count } שאלות לא נענו.
    }

other_session = עבודה אחרת שואלת משהו שלא מוצג כאן.

typed_before = מה שהוקלד לפני השורה הזאת לא נחשב.

draft = הטקסט שבכתיבה: { $text }

nothing_said = עדיין לא נאמר דבר.

nothing_before = לא נאמר דבר לפני זה.

nothing_after = זה היה האחרון.

backlog =
    { $count ->
        [one] עוד עדכון אחד.
        [two] עוד שני עדכונים.
       *[other] עוד { $count } עדכונים.
    }

quiet-begin = לא להפריע. נאמרות רק שאלות ואזהרות.

quiet-end =
    { $count ->
        [0] שום דבר לא קרה בינתיים.
        [one] עדכון אחד בינתיים.
        [two] שני עדכונים בינתיים.
       *[other] { $count } עדכונים בינתיים.
    }

quiet-hear-key = המקש f לעדכון הראשון.

quiet-hear-line = לעדכון הראשון יש לכתוב { command-forward }.

verbosity =
    { $verbosity ->
        [terse] רמת פירוט: קצרה.
        [detailed] רמת פירוט: מפורטת.
       *[normal] רמת פירוט: רגילה.
    }

asking_time = מבקשים { $duration }.

sending-accept = שולחים: אישור.

sending-reject = שולחים: סירוב.

sending = שולחים: { $answer }

no_time = הסוכן לא נותן עוד זמן.

unsent = לא ניתן היה לשלוח. { $reason }

still_open = הבקשה עדיין פתוחה.

may_have_arrived = זה ארך יותר מדי זמן, וייתכן שהגיע וייתכן שלא.

not_connected = עדיין אין חיבור.

speech-paused = הדיבור מושהה.

speech-nothing = שום דבר לא נאמר כרגע.

speech-gone = הדיבור נעלם. הטקסט ממשיך כאן.

speech-back = הדיבור חזר.

speech-no_voice = אין כאן קול לשפה { $language }. ההקראה היא בקול של השפה { $other }.

speech-none = אין כאן דיבור.

speech-unavailable = אין מענה מאת Speech Dispatcher. יש להתקין או להפעיל אותו.

speech-none-prism = דרושה הספרייה Prism. מתקינים אותה עם: pip install prismatoid.

speech-address = הערך של SPEECHD_ADDRESS הוא { $address }. יש לכתוב unix_socket:path או inet_socket:host:port.

speech-refused = הערך { $value } לא מוכר אצל Speech Dispatcher.

braille-unavailable = אין מענה בכתובת { $address }. יש להפעיל את BRLTTY או להגדיר את BRLAPI_HOST. ב-Debian: apt install brltty.

braille-library = ברייל צריך את liblouis, שאינו מותקן. ב-Debian: apt install liblouis20 liblouis-data.

speech-rate = { $count } מילים בדקה.

## Answering

help-keys = מקשים: a לאישור, r לסירוב, m לעוד, s לשמוע שוב, o לבקשה הפתוחה הבאה.

help-keys-more = v לשינוי רמת הפירוט, t לבקשת עוד זמן, q ליציאה, ? לעזרה הזאת.

help-keys-history = b אחורה, f קדימה. s פעמיים לשמוע הכול. d לא להפריע.

help-second-key = לאישור נדרש מקש שני אם יש סיכון, או אם כמה בקשות פתוחות.

help-second-line = לאישור נדרשת שורה שנייה אם יש סיכון, או אם כמה בקשות פתוחות.

help-answer = עונים על שאלה במספר שלה, או ב-y או n, ואז Enter.

help-freetext = כדי לענות במילים שלך יש להקיש Enter, לכתוב, ולהקיש Enter שוב.

help-lines = פקודות, אחת בכל שורה: { command-accept }, { command-reject }, { command-more }, { command-repeat }, { command-next }, { command-verbosity }, { command-time }, { command-quit }, { command-help }.

help-lines-history = עם { command-back } ו{ command-forward } עוברים על מה שנאמר. עם { command-repeat } פעמיים שומעים הכול. עם { command-quiet } לא יפריעו לך.

help-next = עם { command-next } עוברים לבקשה הפתוחה הבאה.

help-answer-lines = עונים על שאלה במספר שלה, ב{ word-yes }, ב{ word-no }, או במילים שלך.

help-command-answer = מילים שהן פקודות נשלחות כתשובה עם { command-answer } לפניהן.

several_open =
    { $count ->
        [one] בקשה אחת פתוחה. התשובה שלך עכשיו היא על זו. { $hint }
        [two] שתי בקשות פתוחות. התשובה שלך עכשיו היא על זו. { $hint }
       *[other] { $count } בקשות פתוחות. התשובה שלך עכשיו היא על זו. { $hint }
    }

prompt-hear-key = המקש o כדי לשמוע אותה.

prompt-hear-line = כדי לשמוע אותה יש לכתוב { command-next }.

next-key = המקש o לבקשה הבאה.

next-line = לבקשה הבאה יש לכתוב { command-next }.

still_answering = התשובה שלך היא עדיין על זה: { $action }

draft-unsent = מה שהיה בכתיבה לא נשלח: { $text }

accept-void = שום דבר לא אושר כאן.

accept-taken_back = האישור בוטל. שום דבר לא אושר.

accept-second-key = עדיין לא אושר. המקש y מאשר את זה: { $action } כל מקש אחר מבטל את האישור.

accept-second-key-long = עדיין לא אושר. המקש y מאשר את מה שמתחיל כך: { $action } כל מקש אחר מבטל את האישור.

accept-second-line = עדיין לא אושר. יש לכתוב { word-yes } כדי לאשר את זה: { $action } כל שורה אחרת מבטלת את האישור.

accept-second-line-long = עדיין לא אושר. יש לכתוב { word-yes } כדי לאשר את מה שמתחיל כך: { $action } כל שורה אחרת מבטלת את האישור.

leaving-open =
    { $count ->
        [one] שאלה אחת פתוחה.
        [two] שתי שאלות פתוחות.
       *[other] { $count } שאלות פתוחות.
    }

leaving-keys =
    { $count ->
        [one] המקש l לצאת ולהשאיר אותה פתוחה, Escape להישאר.
        [two] המקש l לצאת ולהשאיר אותן פתוחות, Escape להישאר.
       *[other] המקש l לצאת ולהשאיר אותן פתוחות, Escape להישאר.
    }

leaving-keys-refuse =
    { $count ->
        [one] המקש r לסרב לה ולצאת, l לצאת ולהשאיר אותה פתוחה, Escape להישאר.
        [two] המקש r לסרב להן ולצאת, l לצאת ולהשאיר אותן פתוחות, Escape להישאר.
       *[other] המקש r לסרב להן ולצאת, l לצאת ולהשאיר אותן פתוחות, Escape להישאר.
    }

leaving-keys-some = המקש r לסרב רק ל-{ $count } מהן ולצאת, l לצאת ולהשאיר את כולן פתוחות, Escape להישאר.

leaving-lines =
    { $count ->
        [one] יש לכתוב { command-leave } כדי לצאת ולהשאיר אותה פתוחה, { command-stay } כדי להישאר.
        [two] יש לכתוב { command-leave } כדי לצאת ולהשאיר אותן פתוחות, { command-stay } כדי להישאר.
       *[other] יש לכתוב { command-leave } כדי לצאת ולהשאיר אותן פתוחות, { command-stay } כדי להישאר.
    }

leaving-lines-refuse =
    { $count ->
        [one] יש לכתוב { command-refuse } כדי לסרב לה ולצאת, { command-leave } כדי לצאת ולהשאיר אותה פתוחה, { command-stay } כדי להישאר.
        [two] יש לכתוב { command-refuse } כדי לסרב להן ולצאת, { command-leave } כדי לצאת ולהשאיר אותן פתוחות, { command-stay } כדי להישאר.
       *[other] יש לכתוב { command-refuse } כדי לסרב להן ולצאת, { command-leave } כדי לצאת ולהשאיר אותן פתוחות, { command-stay } כדי להישאר.
    }

leaving-lines-some = יש לכתוב { command-refuse } כדי לסרב רק ל-{ $count } מהן ולצאת, { command-leave } כדי לצאת ולהשאיר את כולן פתוחות, { command-stay } כדי להישאר.

stay = נשארים. לא נשלחה שום תשובה.

keys-several = כמה מקשים הגיעו בבת אחת. אף אחד מהם לא נחשב. יש להקיש מקש אחד בכל פעם.

keys-unknown = המקש { $key } לא עושה כאן כלום. המקש ? לעזרה.

keys-too_soon = המקש הזה הגיע מוקדם מדי ולא נחשב. יש לחכות רגע, ואז להקיש אותו פעם אחת.

draft-begin = יש לכתוב את התשובה. Enter שולח אותה. Escape משאיר אותה בלי לשלוח.

draft-empty = לא נכתב דבר. שום דבר לא נשלח.

draft-left = הכתיבה הופסקה. שום דבר לא נשלח.

draft-removed = מה שכתבת נמחק. יש לכתוב את התשובה.

enter-prompt = המקש Enter לבדו לא עונה על כלום. המקש s לשמוע שוב את הבקשה.

enter-nothing = אין על מה לענות. המקש ? לעזרה.

line-empty = שורה ריקה לא עונה על כלום.

line-no_prompt = אין בקשה, ולכן השורה הזאת לא עונה על כלום. לעזרה יש לכתוב { command-help }.

line-unknown = השורה הזאת לא הובנה. שום דבר לא נשלח. אפשר לכתוב { command-accept }, { command-reject } או { command-help }.

no_other = אין בקשה פתוחה אחרת.

no_more_time = אי אפשר לקבל עוד זמן.

time_asked = כבר ביקשנו עוד זמן.

cannot_reply = הקורא הזה לא יכול לענות על בקשות. שום דבר לא נשלח.

answer_sent = התשובה שלך נשלחה. יש לחכות למה שהסוכן יגיד.

nothing_to-accept = אין מה לאשר.

nothing_to-reject = אין למה לסרב.

nothing_to-answer = אין על מה לענות.

nothing_to-time = אין דבר שצריך עבורו עוד זמן.

another_open = בקשה אחרת פתוחה. { $hint }

is_question = זאת שאלה. { $hint }

answer-word = כדי לשלוח את המילה הזאת כתשובה, יש לכתוב { command-answer } לפניה.

answer-freetext = יש להקיש Enter, לכתוב את התשובה, ולהקיש Enter שוב.

answer-own_words = יש להקיש Enter לפני שכותבים במילים שלך.

answer-impossible = אי אפשר לענות על השאלה הזאת כאן.

answer-forms = התשובה היא { $forms }, ואז Enter.

answer-or = { $first } או { $second }

answer-number = מספר שאינו אחת האפשרויות נכתב עם = לפניו.

answer-unsent = שום דבר לא נשלח. { $hint }

form-multiple_choice = מספר של אפשרות

form-yes_no = { word-yes } או { word-no }

form-numeric = מספר

form-freetext = מילים שלך

help-speech = רווח עוצר את הדיבור, p משהה אותו וממשיך, k מדלג לרגע הנוכחי, נקודה מאיצה, פסיק מאט.

help-speech-lines = עם { command-silence } הדיבור נעצר, עם { command-pause } הוא מושהה וממשיך, עם { command-skip } מדלגים לרגע הנוכחי. יש גם { command-faster } וגם { command-slower }.

line-too_soon = זה הגיע מוקדם מדי ולא נחשב. קודם יש לשמוע את הבקשה עד הסוף.

## Settings

settings-line = שורה { $line } בהגדרות לא ניתנת לקריאה ולא נחשבת: { $text }

settings-repeated = שורה { $line } בהגדרות מציינת את { $setting } בפעם השנייה. הפעם הראשונה קובעת.

settings-unknown = שורה { $line } בהגדרות מציינת את { $setting }, ואין הגדרה כזאת.

settings-similar = האם הכוונה הייתה { $setting }?

settings-value = שורה { $line } בהגדרות לא נחשבת: הערך של { $setting } צריך להיות { $expected }.

settings-variable = המשתנה { $variable } לא נחשב. הערך שלו צריך להיות { $expected }.

settings-more =
    { $count ->
        [one] עוד שורה אחת בהגדרות לא נחשבת.
        [two] עוד שתי שורות בהגדרות לא נחשבות.
       *[other] עוד { $count } שורות בהגדרות לא נחשבות.
    }

settings-unreadable = אי אפשר לקרוא את ההגדרות, ולכן ברירות המחדל קובעות. { $reason }

settings-missing = אין קובץ { $file }, ולכן ברירות המחדל קובעות.

settings-encoding = בשורה { $line } יש תווים שאינם UTF-8.

settings-unsafe = משתמשים אחרים יכולים לשנות את { $file }, ולכן ברירות המחדל קובעות. יש להריץ עליו chmod go-w.

settings-stranger = הקובץ { $file } שייך למשתמש אחר, ולכן ברירות המחדל קובעות.

settings-allow = אי אפשר לקרוא את הכללים בהגדרות שלך, ולכן תהיה שאלה על כל דבר. { $reason }

## Words for sounds

earcon-sent = נשלח.

earcon-working = בעבודה.

earcon-done = הסתיים.

earcon-needs-you = תורך.

earcon-error = שגיאה.

## Coding agents

code-started = { $agent }: בעבודה.

code-run = להריץ { $command }.

code-create = ליצור את { $file }, { $size }: { $text }.

code-change = לשנות את { $file }: { $added } להוספה, { $removed } להסרה.

code-change-nothing = לכתוב שוב את { $file } בלי שינוי.

code-hunk-add = בשורה { $line }, להוסיף { $text }.

code-hunk-remove = בשורה { $line }, להסיר { $text }.

code-hunk-replace = בשורה { $line }, במקום { $old } לכתוב { $new }.

code-hunk-blank = ההבדל שם הוא רק ברווחים או במעברי שורה.

code-own_words = הסוכן לא אומר מה הוא מריץ, אלא רק את זה: { $text }.

code-effect-run = זה ירוץ עם כל ההרשאות שלך.

code-effect-change = הקובץ ייכתב.

code-effect-delete = זה ייעלם, אלא אם יש לך עותק.

code-effect-move = זה יהיה במקום אחר.

code-effect-read = הסוכן והמודל שלו יקראו את זה.

code-effect-search = הסוכן והמודל שלו יקראו את מה שיימצא.

code-effect-think = שום דבר לא ישתנה.

code-effect-fetch = הכתובת ומה שנשלח אליה יצאו מהמחשב הזה.

code-effect-switch_mode = ייתכן שמאותו רגע הסוכן ישאל על פחות דברים.

code-effect-other = לא ידוע מה זה משנה. יש להתייחס לזה כסופי.

code-running = הרצת { $command }.

code-creating = יצירת { $file }.

code-changing = שינוי { $file }.

code-reading = קריאת { $file }.

code-searching = חיפוש { $text }.

code-described = במילים של הסוכן: { $text }.

code-using = שימוש בכלי { $tool }.

code-ruled = הותר לפי כלל שלך. { $text }

code-unasked = אזהרה. הסוכן עשה את זה בלי לשאול: { $text }

code-unasked-failed = אזהרה. הסוכן ניסה לעשות את זה בלי לשאול, וזה נכשל: { $text }

code-despite = אזהרה. הסוכן עשה את זה למרות הסירוב: { $text }

code-stopping = עוצרים את הסוכן.

code-undescribed = משהו שאי אפשר לתאר

code-too_long = סורב: זה ארוך מדי להקראה מלאה. { $text } יש לבקש צעדים קטנים יותר.

code-unreadable = סורב: אי אפשר להקריא את זה במלואו, כי נראה שיש בזה סוד. { $text }

code-unofferable = סורב: הסוכן לא מציע דרך להתיר את זה לפעם אחת בלבד. { $text }

code-between = סורב: הסוכן ביקש את זה כשלא היה בעבודה. { $text }

code-mode = מצב: { $mode }.

code-mode-unasked = אזהרה. במצב { $mode } הסוכן פועל בלי לשאול.

code-mode-back = חוזרים למצב הקודם.

code-mode-unknown = לא ידוע אם הסוכן הזה שואל לפני שהוא פועל. מה שהוא עושה בלי לשאול נאמר, ועוצר אותו.

code-subagent = סוכן עוזר { $name }: { $state }.

code-stop-refusal = המודל מסרב להמשיך.

code-stop-max_tokens = התשובה נעשתה ארוכה מדי בשביל המודל.

code-stop-max_turn_requests = הסוכן עשה יותר צעדים ממה שמותר לו.

code-stop-other = הסוכן נעצר, ולא אומר למה.

code-stop-error = הסוכן מדווח על שגיאה.

code-stop-gone = התוכנה של הסוכן נסגרה.

code-stop-stuck = הסוכן לא נעצר, ולכן סגרנו את התוכנה שלו.

code-stop-fault = משהו בתוכנה שלנו נכשל, ולכן הסוכן נעצר.

code-refused = הסוכן סיים את תורו אחרי סירוב.

compose-begin = יש לכתוב לסוכן. Enter שולח את הטקסט. Escape שומר אותו להמשך.

compose-left = נשמר להמשך. המקש p להמשך הכתיבה.

compose-left-empty = הכתיבה הופסקה. לא נכתב דבר.

compose-removed = השורה נמחקה.

compose-joined = השורה הקודמת:

compose-history-none = עדיין לא נשלח דבר.

compose-help = המקש p או Enter לכתיבה לסוכן. לוכסן אחורי בסוף מתחיל שורה נוספת.

compose-help-history = המקש h לרשימת מה ששלחת. חץ למעלה מחזיר אותו. הסימן @ ואחריו שם מציינים קובץ.

compose-help-lines = כל שורה אחרת נשלחת לסוכן, גם אחרי המילה prompt. המילה history לרשימת מה ששלחת.

code-ready = הכול מוכן. המקש p לכתיבה אל { $agent }.

code-ready-lines = הכול מוכן. אפשר לכתוב אל { $agent }.

code-queued = עדיין בעבודה. זה יישלח מיד אחר כך.

code-interrupt = עוצרים. ליציאה יש להקיש Control+C שוב.

code-interrupt-idle = ליציאה יש להקיש Control+C שוב.

code-file = עם הקובץ { $file }.

code-file-missing = אין כאן קובץ { $file }. זה נשלח כמילה.

code-error = הסוכן אומר: { $text }

code-last_words = אלה היו המילים האחרונות שלו.

code-hint-again = כדי להמשיך יש לכתוב לו שוב.

code-editor-allowed = הותר בעורך הקוד. { $text }

code-editor-refused = סורב בעורך הקוד.

code-editor-done = הסתיים: { $text }

code-editor-failed = נכשל: { $text }

code-editor-only = אפשר לענות על זה רק בעורך הקוד. { $text }

code-editor-fault = משהו בתוכנה שלנו נכשל. הסוכן ממשיך עם עורך הקוד.

code-editor-gone = עורך הקוד נסגר.

code-run-long = להריץ פקודה באורך { $size }.

code-create-long = ליצור את { $file }, { $size }.

code-write-long = לכתוב את { $file }, { $size }.

code-edit-long = בקובץ { $file }, במקום { $removed } לכתוב { $added }.

code-kilobytes =
    { $count ->
        [one] קילובייט אחד
        [two] שני קילובייט
       *[other] { $count } קילובייט
    }

code-parts =
    { $count ->
        [one] { $overview } האורך הוא { $size }, בחלק אחד. שום דבר לא יבוצע לפני ששמעת אותו. להמשיך?
        [two] { $overview } האורך הוא { $size }, בשני חלקים. שום דבר לא יבוצע לפני ששמעת את שניהם. להמשיך?
       *[other] { $overview } האורך הוא { $size }, ב-{ $count } חלקים. שום דבר לא יבוצע לפני ששמעת את כולם. להמשיך?
    }

code-part = חלק { $number } מתוך { $count }. { $text } להמשיך?

code-part-last = { $overview } זה החלק האחרון מתוך { $count }. { $text }

code-part-line = ההמשך מתחיל בשורה { $line }, והספירה כאן שוב מ-1: { $text }

code-part-word = ההמשך בתוך שורה { $line }: { $text }

code-part-middle = ההמשך בתוך שורה { $line }, באמצע מילה: { $text }

code-part-refused = סורב. שום דבר לא בוצע. { $text }

## Braille

braille-no_table = אין טבלת ברייל לשפה { $language }. נעשה שימוש באותיות אנגליות.

braille-marks = בברייל, נקודה 8 מסמנת אות עם סימן שחסר בטבלה.

braille-lost = צג הברייל נעלם. התצוגה בו תחזור כשהוא יחזור.

braille-back = צג הברייל חזר.

braille-read_on = קודם יש לקרוא עד הסוף, ואז אפשר לאשר.

braille-choice = המקש Enter שולח { $choice }

## Hooks of coding agents

hooks-started = { $agent }: בעבודה.


hooks-write = לכתוב את { $file }, { $size }: { $text }.

hooks-edit = בקובץ { $file }, במקום { $old } לכתוב { $new }.

hooks-edit-all = בקובץ { $file }, במקום כל { $old } לכתוב { $new }.






hooks-terminal = יש לענות במסוף של הסוכן. { $text }

hooks-terminal-unread = יש לענות במסוף של הסוכן. הוא רוצה להשתמש בכלי { $tool }, ואי אפשר להקריא את זה במלואו.

hooks-refused-unread = סורב. הסוכן רוצה להשתמש בכלי { $tool }, ואי אפשר להקריא את זה במלואו.

hooks-terminal-allowed = הותר במסוף של הסוכן. { $text }

hooks-unasked = אזהרה. הסוכן עשה את זה בלי לשאול. { $text }

hooks-despite = אזהרה. הסוכן עשה את זה למרות הסירוב. { $text }

hooks-undescribed = הסוכן השתמש בכלי { $tool }, ואי אפשר להקריא את זה.

hooks-next = הגיעה משימה אחרת.

hooks-idle = { $agent }: ממתינים למשימה הבאה שלך.

hooks-closed = { $agent }: התוכנה נסגרה.

## Falling behind

behind-key = הדיבור באיחור: { $duration } בהמתנה. המקש k לדילוג לרגע הנוכחי.

behind-line = הדיבור באיחור: { $duration } בהמתנה. לדילוג לרגע הנוכחי יש לכתוב { command-skip }.

behind-skipped = הודעות שדילגנו עליהן: { $count }.

behind-nothing = אין על מה לדלג. זה הרגע הנוכחי.

## Notifications of the desktop

greeting-daemon = האזנה ברקע.

notifications-none = אין כאן התראות: אף שירות של שולחן העבודה לא עונה.

notifications-gone = ההתראות הסתיימו: שולחן העבודה נסגר.

notification-answer = יש לענות במסוף: aaep listen

notification-title = שאלה מאת { $agent }

notification-accept = אישור

notification-reject = סירוב

## Durations

duration-moment = פחות משנייה

duration-days =
    { $count ->
        [one] יום אחד
        [two] יומיים
       *[other] { $count } ימים
    }

duration-hours =
    { $count ->
        [one] שעה אחת
        [two] שעתיים
       *[other] { $count } שעות
    }

duration-minutes =
    { $count ->
        [one] דקה אחת
        [two] שתי דקות
       *[other] { $count } דקות
    }

duration-seconds =
    { $count ->
        [one] שנייה אחת
        [two] שתי שניות
       *[other] { $count } שניות
    }

duration-pair = { $first } ו-{ $second }

## Words that a person writes

command-accept = אישור

command-reject = סירוב

command-refuse = סירוב

command-more = עוד

command-repeat = שוב

command-next = הבא

command-back = אחורה

command-forward = קדימה

command-quiet = שקט

command-verbosity = פירוט

command-time = זמן

command-quit = יציאה

command-help = עזרה

command-answer = תשובה

command-leave = לצאת

command-stay = להישאר

word-yes = כן

word-no = לא

command-silence = השתקה

command-pause = השהיה

command-skip = דלג

command-faster = מהר

command-slower = לאט

## Putting words together

list = { $first }, { $second }

list-long = { $first }; { $second }

decimal-sign = .

value-marks = ציטוט, הציטוט, סוף ציטוט, סוף הציטוט, וציטוט, בציטוט, לציטוט, ציטוטים, הציטוטים

value-own_words = אישור, האישור, לאשר, מאשר, אושר, נדרש, ריק, רווחים, סופי, שורה, נמוך, בינוני, גבוה, כגבוה, לא, כלום, דבר, ציטוט, מוסתר, סירוב, לסרב, סורב, סיכון, הסיכון, לבטל, ביטול, אפשר, אוטומטי, כן, שאלה

expected-word = { $words } או { $last }

expected-whole_number = מספר שלם מ-{ $lowest } עד { $highest }

expected-number = מספר מ-{ $lowest } עד { $highest }

expected-languages = רשימה של קודי שפה כמו en-GB

expected-texts = רשימה של טקסטים

expected-text = טקסט

## The language

language-name = עברית

language-none = לקורא הזה אין מילים בשפה { $languages }. השפה שלו היא { language-name }.

## Why a connection is closed, to the other side

close-producer_shutdown = הצד של הסוכן נסגר.

close-authentication_expired = פרטי הגישה של הקורא הזה כבר לא תקפים. יש להתחבר שוב עם חדשים.

close-slow_consumer = הקורא לא עומד בקצב. יש להתחבר שוב כדי להמשיך מאיפה שנעצר.

close-superseded = קורא אחר תפס את המקום.

close-subscriber_shutdown = הקורא נעצר.

close-rate_violation = הקורא שלח יותר מדי.

close-protocol_error = הקורא שלח מה שאסור.

close-manifest_invalid = אי אפשר היה לאמת הוכחה.

close-hub_shutdown = הרכזת נסגרת.
