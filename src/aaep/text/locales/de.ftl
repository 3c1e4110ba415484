# checked-by-speaker: no
# language: de

## The work

started = Begonnen.

part = Teil von: { $parent }

completed = Fertig.

ended = Beendet.

undone = { $action }: nicht ausgeführt.

undone-more =
    { $count ->
        [one] 1 weitere Aktion wurde nicht ausgeführt.
       *[other] { $count } weitere Aktionen wurden nicht ausgeführt.
    }

possible = { $action }: möglicherweise ausgeführt.

possible-more =
    { $count ->
        [one] 1 weitere Aktion wurde möglicherweise ausgeführt.
       *[other] { $count } weitere Aktionen wurden möglicherweise ausgeführt.
    }

possible-check = Prüfen Sie das, bevor Sie es erneut versuchen.

undone-failed = { $action }: fehlgeschlagen.

undone-failed-more =
    { $count ->
        [one] 1 weitere Aktion ist fehlgeschlagen.
       *[other] { $count } weitere Aktionen sind fehlgeschlagen.
    }

failed-check = Prüfen Sie, was getan wurde, bevor Sie es erneut versuchen.

errored = Fehlgeschlagen.

cancelled = Gestoppt.

unfinished = Die Arbeit ist nicht fertig.

tools =
    { $count ->
        [one] 1 Werkzeug wurde benutzt.
       *[other] { $count } Werkzeuge wurden benutzt.
    }

took = Es dauerte { $duration }.

takes = Das dauert etwa { $duration }.

left = Noch etwa { $duration }.

by-user = Gestoppt von der Person, die den Agenten nutzt.

by-producer = Der Agent hat es gestoppt.

by-timeout = Es dauerte zu lange.

by-system = Das System hat es gestoppt.

partial = Bisher: { $result }

code = Fehlercode { $code }.

category-transient = Ein neuer Versuch kann helfen.

category-permanent = Ein neuer Versuch hilft nicht.

category-requires_user = Sie müssen zuerst etwas tun.

hint-transient = Ein späterer Versuch kann helfen.

hint-permanent = Ein neuer Versuch hilft nicht. Sagen Sie es denen, die den Agenten betreiben.

hint-requires_user = Prüfen Sie, ob der Agent das darf, und versuchen Sie es dann erneut.

hint-unknown = Versuchen Sie es erneut. Schlägt es wieder fehl, sagen Sie es denen, die den Agenten betreiben.

lost = Der Agent hat unerwartet aufgehört. Die Arbeit ist nicht fertig.

lost-hint = Prüfen Sie, was getan wurde, bevor Sie ihn neu starten.

lost-detailed = Der Agent hat unerwartet aufgehört. Die Arbeit ist nicht fertig. Was er begonnen hatte, wurde möglicherweise ausgeführt.

handoff-human = Übergabe an einen Menschen.

handoff-specialist_agent = Übergabe an einen anderen Agenten.

handoff-escalation_queue = Übergabe. Jemand wird sich darum kümmern.

handoff-other = Übergabe.

not_taken = Niemand hat übernommen.

## What goes on

state-idle = Untätig.

state-thinking = Denkt nach.

state-thinking-detailed = Denkt nach, was als Nächstes zu tun ist.

state-calling_tool = Benutzt ein Werkzeug.

state-writing_output = Schreibt.

state-awaiting_input = Wartet auf Sie.

state-deciding = Entscheidet.

state-deciding-detailed = Entscheidet, wie es weitergeht.

state-handing_off = Übergabe.

state-other = Jetzt: { $state }.

state-unnamed = Jetzt etwas anderes.

resync = Der Stand bisher.

percent = { $percent } Prozent.

step = Schritt { $step }.

step-of = Schritt { $step } von { $total }.

progress-none = Arbeitet weiter.

invoked = Aufruf: { $tool }.

tool = ein Werkzeug

with = Mit { $arguments }.

undo-warning = Das kann nicht rückgängig gemacht werden.

success = { $tool }: beendet.

stopped = { $tool }: gestoppt.

stopped-early = { $tool }: vorzeitig gestoppt.

success-summary = { $call }: fertig.

error-unnamed = ein Fehler

error-mistake = ein Fehler im Agenten

error-several =
    { $count ->
        [one] 1 Fehler: { $name }
       *[other] { $count } Fehler: { $name } und andere
    }

error = { $call } ist fehlgeschlagen.

error-reason = { $call } ist fehlgeschlagen: { $reason }

timeout = { $call }: nicht zu Ende gekommen. Möglicherweise wurde es ausgeführt. Prüfen Sie das, bevor Sie es erneut versuchen.

status = Gemeldet wurde der Status { $status }.

skipped = { $action }: nicht ausgeführt, denn der Agent wartet nicht mehr.

says = { $agent }:

says-quoted = Zitat von { $agent }:

agent = Der Agent

agent-named = Der Agent { $name }

session = { $work }: { $text }

notice = Hinweis.

notice-type = Etwas, das dieses Leseprogramm nicht kennt: { $type }.

incomplete = Unvollständige Nachricht.

incomplete-prompt = Hier kann man das weder annehmen noch beantworten.

cut =
    { $count ->
        [one] Hier gekürzt, noch 1 Zeichen.
       *[other] Hier gekürzt, noch { $count } Zeichen.
    }

## Prompts

confirm = Bestätigen.

action-none = Der Agent sagt nicht, was er tun würde.

consequence = Wenn Sie annehmen: { $consequence }

consequence-none = Der Agent sagt nicht, was geschehen würde.

consequence-unstated = Niemand hat angegeben, was das ändert. Betrachten Sie es als endgültig.

consequence-unknown = Was das ändert, ist nicht angegeben.

consequence-again = Wirkung nicht angegeben.

risk-low = Geringes Risiko

risk-medium = Mittleres Risiko

risk-high = Hohes Risiko

risk-none = Risiko nicht angegeben: als hoch betrachten

risk-unstated = Risiko ohne Angabe

undo-irreversible = nicht rückgängig zu machen

undo-reversible_with_effort = mit Aufwand rückgängig zu machen

undo-reversible = kann rückgängig gemacht werden

undo-none = keine Angabe zum Rückgängigmachen

risk = { $risk }, { $undo }.

default-reject = Wird abgelehnt nach { $duration } ohne Antwort.

default-accept = Wird angenommen nach { $duration } ohne Antwort.

default-reject-short = Wird abgelehnt nach { $duration }.

default-accept-short = Wird angenommen nach { $duration }.

expired = Die Zeit zum Antworten ist vorbei.

unrefusable = Ablehnen wird nicht angeboten.

unacceptable = Annehmen wird nicht angeboten.

uncut = Hören Sie den ganzen Text, bevor Sie annehmen können: { $key }.

uncut-plain = Hören Sie den ganzen Text, bevor Sie annehmen können.

rest = Es geht weiter: { $text }

rest-action = Die Aktion geht weiter: { $text }

rest-consequence = Was geschieht, wenn Sie annehmen, geht weiter: { $text }

key = { $key } { $effect }

key-accept = annehmen

key-reject = ablehnen

key-yes = ja

key-no = nein

key-more = mehr

key-time = mehr Zeit

key-close = beenden

write = Schreiben Sie { $words } oder { $last }.

write-one = Schreiben Sie { $word }.

question = Frage.

question-none = Der Agent sagt nicht, was er fragt.

why = Grund: { $reason }

choice = { $number }: { $label }

kind-freetext = Antworten Sie mit eigenen Worten.

kind-yes_no = Antworten Sie { word-yes } oder { word-no }.

kind-numeric = Antworten Sie mit einer Zahl.

time = { $duration } Zeit zum Antworten.

time-default = { $duration } Zeit zum Antworten, sonst: { $answer }

longer = Sie haben jetzt { $duration }.

countdown = Noch { $duration } zum Antworten. { $action }

time_left = Noch { $duration } zum Antworten.

again = Noch einmal.

still = Es wird noch auf Sie gewartet.

other = Eine weitere Anfrage wartet auf Sie.

prompt-waiting = Eine weitere Frage wartet.

about = Dabei ging es um Folgendes: { $action }

flood = Es kommen viele dringende Nachrichten. Ab jetzt warten sie, bis sie an der Reihe sind.

## Values in what is asked

tool-use = { $tool } benutzen.

with-nothing = nichts weiter

value-quoted = Zitat { $value } Zitat Ende

value-word = das Wort { $word }

value-line = Zeile { $number }: { $text }

value-ending = Nummer mit den letzten Ziffern { $digits }

value-empty = leerer Text

value-blank = Text nur aus Leerzeichen

value-invisible = unsichtbares Zeichen { $character }

value-private = privates Zeichen { $character }

value-unknown = unbekanntes Zeichen { $character }

value-times =
    { $count ->
        [one] { $character }
       *[other] { $character }, { $count } Mal
    }

value-none = nichts

value-yes = ja

value-no = nein

value-items =
    { $count ->
        [0] leere Liste
        [one] 1 Element: { $items }
       *[other] { $count } Elemente: { $items }
    }

value-entries =
    { $count ->
        [0] keine Einträge
        [one] 1 Eintrag: { $items }
       *[other] { $count } Einträge: { $items }
    }

value-parts =
    { $count ->
        [0] keine Teile
        [one] 1 Teil: { $items }
       *[other] { $count } Teile: { $items }
    }

value-bytes =
    { $count ->
        [one] 1 Byte
       *[other] { $count } Byte
    }

value-digest = { $size }, SHA-256 beginnt mit { $digest }

value-other = etwas der Art { $kind }

## Outcomes of prompts

outcome-accepted = Angenommen.

outcome-rejected = Abgelehnt.

outcome-answered = Beantwortet.

outcome-accepted-elsewhere = Anderswo angenommen.

outcome-rejected-elsewhere = Anderswo abgelehnt.

outcome-answered-elsewhere = Anderswo beantwortet.

outcome-timed_out = Zeit abgelaufen.

outcome-withdrawn = Wird nicht mehr gefragt.

outcome-unavailable = Niemand ist mehr da, um zu antworten.

outcome-no_reply_channel = Niemand kann antworten.

outcome-other = Die Anfrage ist geschlossen.

outcome-modified = Etwas anderes ist gewünscht. Der Agent muss erneut fragen.

outcome-granted = Es gilt als angenommen.

outcome-defaulted = Der Agent macht mit der Antwort weiter, die er genannt hat.

outcome-unanswered = Der Agent macht ohne Antwort weiter.

outcome-longer = Es gibt mehr Zeit. Es wird noch einmal gefragt.

## Markdown

markdown-heading = Überschrift: { $text }

markdown-bullet = Aufzählungspunkt: { $text }

markdown-bullet-nested = Unterpunkt: { $text }

markdown-number = { $number }: { $text }

markdown-checked = Aktiviert: { $text }

markdown-unchecked = Nicht aktiviert: { $text }

markdown-quote = Zitat: { $text }

markdown-code = Code

markdown-coming = kommt noch

markdown-lines =
    { $count ->
        [one] 1 Zeile
       *[other] { $count } Zeilen
    }

markdown-table = Tabelle: { $columns }.

markdown-cell = { $column }: { $cell }

markdown-image = Bild: { $text }

markdown-picture = Bild

## The connection

connected = Verbunden.

connected-name = Verbunden mit { $agent }.

reconnected = Wieder verbunden.

gap = Wieder verbunden. Inzwischen wurde etwas verpasst.

connection-lost = Die Verbindung ist verloren. { $reason }

retrying =
    { $seconds ->
        [one] { $reason } Neuer Versuch in 1 Sekunde.
       *[other] { $reason } Neuer Versuch in { $seconds } Sekunden.
    }

gave_up = Aufgegeben nach { $duration } ohne Verbindung. { $reason }

resume-slow_consumer = Wir waren zu langsam und machen dort weiter, wo wir waren.

resume-authentication_expired = Unsere Zugangsdaten sind abgelaufen. Wir zeigen die, die wir jetzt haben, und machen dort weiter, wo wir waren.

absent = { $agent } ist im Moment nicht erreichbar.

absent-terse = { $agent } ist nicht erreichbar.

absent-asking = Ihre Antwort kommt an, sobald die Verbindung wieder da ist.

returned = { $agent } ist wieder erreichbar.

waiting = Wartet. Das geht von selbst weiter.

connection-ended = Die Verbindung ist endgültig beendet. { $reason }

unreadable = Es kam etwas, das nicht gelesen werden konnte. Falls der Agent etwas fragt, wartet er vielleicht auf eine Antwort.

no_answers = Der Agent nimmt keine Antworten von diesem Leseprogramm an.

proven = Das ist { $agent }, signiert mit dem Schlüssel { $key }.

unproven = Identität nicht bewiesen.

unproven-local = Signiert als { $agent } mit dem Schlüssel { $key }, aber eine andere Person an diesem Rechner könnte das vorzeigen.

refused = Der Agent hat die Verbindung abgelehnt: { $reason }

refused-code = Der Agent hat die Verbindung abgelehnt, { $code }: { $reason }

refused-code-only = Der Agent hat die Verbindung abgelehnt, { $code }.

closed-producer_shutdown = { $agent } hat sich beendet.

closed-authentication_expired = Ihr Zugang ist abgelaufen. Verbinden Sie sich mit einem neuen.

closed-slow_consumer = Dieses Leseprogramm war zu langsam. Verbinden Sie sich neu, um dort weiterzumachen, wo es aufgehört hat.

closed-superseded = Ein anderes Leseprogramm hat übernommen.

closed-subscriber_shutdown = Dieses Leseprogramm hat aufgehört.

closed-rate_violation = Dieses Leseprogramm hat zu viel gesendet.

closed-protocol_error = Dieses Leseprogramm hat etwas gesendet, das nicht erlaubt ist.

closed-manifest_invalid = Die Gegenseite konnte nicht beweisen, wer sie ist.

closed-other = { $agent } hat die Verbindung beendet: { $reason }.

arrived = Neuer Agent: { $agent }.

discover-none = Noch läuft kein Agent. Jedem, der beginnt, wird zugehört.

reconnected-name = Wieder verbunden mit { $agent }.

gap-name = Wieder verbunden mit { $agent }. Inzwischen wurde etwas verpasst.

connection-lost-name = Die Verbindung zu { $agent } ist verloren. { $reason }

connection-ended-name = Die Verbindung zu { $agent } ist endgültig beendet. { $reason }

waiting-name = Wartet auf { $agent }. Das geht von selbst weiter.

no_answers-name = { $agent } nimmt keine Antworten von diesem Leseprogramm an.

unread-name = Es geht um { $agent }.

asker-gone = Der Agent, der gefragt hat, ist nicht mehr verbunden.

## Why a connection is refused

refused-version_unsupported = er spricht keine Version des Protokolls, die wir sprechen.

refused-manifest_invalid = ein Nachweis konnte nicht geprüft werden.

refused-manifest_signature_required = er hat keinen signierten Nachweis, wer er ist.

refused-capabilities_incompatible = er kann nicht geben, was wir verlangt haben.

refused-rate_limit = im Moment wird zu viel von ihm verlangt.

refused-authentication_required = er weiß nicht, wer wir sind.

refused-authentication_expired = unsere Zugangsdaten sind abgelaufen.

refused-authorization_denied = wir haben keinen Zugang.

refused-transport_unavailable = auf diesem Weg ist er im Moment nicht nutzbar.

refused-unknown = er nennt keinen Grund.

refused-slow_consumer = wir waren zu langsam.

refused-rate_violation = wir haben zu viel gesendet.

refused-protocol_error = wir haben gesendet, was das Protokoll nicht erlaubt.

advice-version_unsupported = Benutzen Sie eine Version dieser Bibliothek, die seine spricht.

advice-manifest_invalid = Bitten Sie die Betreiber des Agenten um einen Nachweis, der sich prüfen lässt.

advice-manifest_signature_required = Bitten Sie die Betreiber des Agenten um einen signierten Nachweis, wer er ist.

advice-capabilities_incompatible = Verlangen Sie weniger, oder eine Sprache, die angeboten wird.

advice-rate_limit = Versuchen Sie es später erneut.

advice-authentication_required = Geben Sie gültige Zugangsdaten mit { $options } an.

advice-authentication_expired = Verbinden Sie sich mit frischen Zugangsdaten.

advice-authorization_denied = Bitten Sie die Betreiber des Agenten um Zugang.

advice-transport_unavailable = Versuchen Sie es später erneut, oder nehmen Sie einen anderen Verbindungsweg.

advice-slow_consumer = Verlangen Sie weniger, oder lesen Sie schneller.

advice-rate_violation = Senden Sie weniger Antworten und Änderungen.

advice-unknown = Fragen Sie die Betreiber des Agenten, was das bedeutet.

## At the terminal

attention = Achtung. { $text }

greeting-keys = Drücken Sie ? für Hilfe, q zum Beenden.

greeting-lines = Schreiben Sie { command-help } und drücken Sie die Eingabetaste für Hilfe.

greeting-pipe = Nicht interaktiv: Befehle werden von der Standardeingabe gelesen, einer in jeder Zeile.

greeting-none = Nicht interaktiv: Anfragen werden gezeigt und nicht beantwortet.

prompts-shown = Anfragen werden gezeigt und nicht beantwortet.

input-ended = Die Standardeingabe ist zu Ende. Das Zuhören geht weiter.

goodbye = Zuhören beendet.

goodbye-open =
    { $count ->
        [one] 1 Frage wurde nicht beantwortet.
       *[other] { $count } Fragen wurden nicht beantwortet.
    }

other_session = Eine andere Arbeit fragt etwas, das hier nicht gezeigt wird.

typed_before = Was vor dieser Zeile getippt wurde, zählt nicht.

draft = Sie schrieben gerade: { $text }

nothing_said = Noch wurde nichts gesagt.

nothing_before = Davor wurde nichts gesagt.

nothing_after = Das war das Letzte.

backlog =
    { $count ->
        [one] 1 weitere Neuigkeit.
       *[other] { $count } weitere Neuigkeiten.
    }

quiet-begin = Nicht stören. Nur Fragen und Warnungen werden gesagt.

quiet-end =
    { $count ->
        [0] Inzwischen ist nichts geschehen.
        [one] 1 Neuigkeit inzwischen.
       *[other] { $count } Neuigkeiten inzwischen.
    }

quiet-hear-key = Drücken Sie f für die erste.

quiet-hear-line = Schreiben Sie { command-forward } für die erste.

verbosity =
    { $verbosity ->
        [terse] Ausführlichkeit: knapp.
        [detailed] Ausführlichkeit: ausführlich.
       *[normal] Ausführlichkeit: normal.
    }

asking_time = Es wird um { $duration } gebeten.

sending-accept = Wird gesendet: annehmen.

sending-reject = Wird gesendet: ablehnen.

sending = Wird gesendet: { $answer }

no_time = Der Agent gibt nicht mehr Zeit.

unsent = Es konnte nicht gesendet werden. { $reason }

still_open = Die Anfrage ist noch offen.

may_have_arrived = Es dauerte zu lange und ist vielleicht angekommen, vielleicht nicht.

not_connected = Es gibt noch keine Verbindung.

speech-paused = Die Sprachausgabe pausiert.

speech-nothing = Gerade wird nichts gesprochen.

speech-gone = Die Sprachausgabe ist weg. Der Text geht hier weiter.

speech-back = Die Sprachausgabe ist wieder da.

speech-no_voice = Keine Stimme für { $language } vorhanden. Gelesen wird mit der Stimme für { $other }.

speech-none = Hier wird nichts gesprochen.

speech-unavailable = Speech Dispatcher antwortet nicht. Installieren oder starten Sie ihn.

speech-none-prism = Die Bibliothek Prism wird gebraucht. Installieren Sie sie mit: pip install prismatoid.

speech-address = SPEECHD_ADDRESS ist { $address }. Schreiben Sie unix_socket:path oder inet_socket:host:port.

speech-refused = Speech Dispatcher kennt { $value } nicht.

braille-unavailable = Unter { $address } antwortet nichts. Starten Sie BRLTTY oder setzen Sie BRLAPI_HOST. Unter Debian: apt install brltty.

braille-library = Braille braucht liblouis, das nicht installiert ist. Unter Debian: apt install liblouis20 liblouis-data.

speech-rate = { $count } Wörter pro Minute.

## Answering

help-keys = Tasten: a nimmt an, r lehnt ab, m sagt mehr, s sagt es noch einmal, o geht zur nächsten offenen Anfrage.

help-keys-more = v ändert, wie viel gesagt wird, t bittet um mehr Zeit, q beendet, ? sagt dies.

help-keys-history = b geht zurück, f vorwärts. s zweimal sagt alles. d ist Nicht stören.

help-second-key = Annehmen braucht eine zweite Taste, wenn es riskant ist oder mehrere Anfragen offen sind.

help-second-line = Annehmen braucht eine zweite Zeile, wenn es riskant ist oder mehrere Anfragen offen sind.

help-answer = Beantworten Sie eine Frage mit ihrer Nummer, oder y oder n, und dann der Eingabetaste.

help-freetext = Um mit eigenen Worten zu antworten, drücken Sie die Eingabetaste, schreiben Sie, und drücken Sie wieder die Eingabetaste.

help-lines = Befehle, einer in jeder Zeile: { command-accept }, { command-reject }, { command-more }, { command-repeat }, { command-next }, { command-verbosity }, { command-time }, { command-quit }, { command-help }.

help-lines-history = Mit { command-back } und { command-forward } gehen Sie durch das Gesagte. Mit { command-repeat } zweimal hören Sie alles. Mit { command-quiet } werden Sie nicht gestört.

help-next = Mit { command-next } gehen Sie zur nächsten offenen Anfrage.

help-answer-lines = Beantworten Sie eine Frage mit ihrer Nummer, { word-yes }, { word-no } oder eigenen Worten.

help-command-answer = Wörter, die Befehle sind, werden als Antwort gesendet, wenn { command-answer } davor steht.

several_open =
    { $count ->
        [one] 1 Anfrage ist offen. Sie beantworten jetzt diese. { $hint }
       *[other] { $count } Anfragen sind offen. Sie beantworten jetzt diese. { $hint }
    }

prompt-hear-key = Drücken Sie o, um sie zu hören.

prompt-hear-line = Schreiben Sie { command-next }, um sie zu hören.

next-key = Drücken Sie o für die nächste Anfrage.

next-line = Schreiben Sie { command-next } für die nächste Anfrage.

still_answering = Sie beantworten noch dies: { $action }

draft-unsent = Was Sie gerade schrieben, wurde nicht gesendet: { $text }

accept-void = Hier wurde nichts angenommen.

accept-taken_back = Zurückgenommen. Nichts wurde angenommen.

accept-second-key = Noch nicht angenommen. Drücken Sie y, um dies anzunehmen: { $action } Jede andere Taste nimmt es zurück.

accept-second-key-long = Noch nicht angenommen. Drücken Sie y, um anzunehmen, was so beginnt: { $action } Jede andere Taste nimmt es zurück.

accept-second-line = Noch nicht angenommen. Schreiben Sie { word-yes }, um dies anzunehmen: { $action } Jede andere Zeile nimmt es zurück.

accept-second-line-long = Noch nicht angenommen. Schreiben Sie { word-yes }, um anzunehmen, was so beginnt: { $action } Jede andere Zeile nimmt es zurück.

leaving-open =
    { $count ->
        [one] 1 Frage ist offen.
       *[other] { $count } Fragen sind offen.
    }

leaving-keys =
    { $count ->
        [one] Drücken Sie l, um diese Frage offen zu lassen, Escape, um zu bleiben.
       *[other] Drücken Sie l, um diese Fragen offen zu lassen, Escape, um zu bleiben.
    }

leaving-keys-refuse =
    { $count ->
        [one] Drücken Sie r, um diese Frage abzulehnen und zu gehen, l, um sie offen zu lassen, Escape, um zu bleiben.
       *[other] Drücken Sie r, um diese Fragen abzulehnen und zu gehen, l, um sie offen zu lassen, Escape, um zu bleiben.
    }

leaving-keys-some = Drücken Sie r, um nur { $count } davon abzulehnen und zu gehen, l, um alle offen zu lassen, Escape, um zu bleiben.

leaving-lines =
    { $count ->
        [one] Schreiben Sie { command-leave }, um diese Frage offen zu lassen, { command-stay }, um zu bleiben.
       *[other] Schreiben Sie { command-leave }, um diese Fragen offen zu lassen, { command-stay }, um zu bleiben.
    }

leaving-lines-refuse =
    { $count ->
        [one] Schreiben Sie { command-refuse }, um diese Frage abzulehnen und zu gehen, { command-leave }, um sie offen zu lassen, { command-stay }, um zu bleiben.
       *[other] Schreiben Sie { command-refuse }, um diese Fragen abzulehnen und zu gehen, { command-leave }, um sie offen zu lassen, { command-stay }, um zu bleiben.
    }

leaving-lines-some = Schreiben Sie { command-refuse }, um nur { $count } davon abzulehnen und zu gehen, { command-leave }, um alle offen zu lassen, { command-stay }, um zu bleiben.

stay = Sie bleiben. Nichts wurde beantwortet.

keys-several = Mehrere Tasten kamen auf einmal. Keine davon zählt. Drücken Sie immer nur eine Taste.

keys-unknown = Die Taste { $key } tut hier nichts. Drücken Sie ? für Hilfe.

keys-too_soon = Diese Taste kam zu früh und zählt nicht. Warten Sie einen Moment und drücken Sie sie dann einmal.

draft-begin = Schreiben Sie Ihre Antwort. Die Eingabetaste sendet sie. Escape verlässt sie, ohne zu senden.

draft-empty = Nichts wurde geschrieben. Nichts wurde gesendet.

draft-left = Verlassen. Nichts wurde gesendet.

draft-removed = Was Sie geschrieben haben, wurde entfernt. Schreiben Sie Ihre Antwort.

enter-prompt = Die Eingabetaste allein beantwortet nichts. Drücken Sie s, um die Anfrage noch einmal zu hören.

enter-nothing = Es gibt nichts zu beantworten. Drücken Sie ? für Hilfe.

line-empty = Eine leere Zeile beantwortet nichts.

line-no_prompt = Es gibt keine Anfrage, also beantwortet diese Zeile nichts. Schreiben Sie { command-help } für Hilfe.

line-unknown = Diese Zeile wurde nicht verstanden. Nichts wurde gesendet. Schreiben Sie { command-accept }, { command-reject } oder { command-help }.

no_other = Keine andere Anfrage ist offen.

no_more_time = Mehr Zeit ist nicht zu bekommen.

time_asked = Um mehr Zeit wurde schon gebeten.

cannot_reply = Dieses Leseprogramm kann keine Anfragen beantworten. Nichts wurde gesendet.

answer_sent = Ihre Antwort wurde gesendet. Warten Sie ab, was der Agent sagt.

nothing_to-accept = Es gibt nichts anzunehmen.

nothing_to-reject = Es gibt nichts abzulehnen.

nothing_to-answer = Es gibt nichts zu beantworten.

nothing_to-time = Es gibt nichts, wofür mehr Zeit nötig wäre.

another_open = Eine andere Anfrage ist offen. { $hint }

is_question = Das ist eine Frage. { $hint }

answer-word = Um dieses Wort als Antwort zu senden, schreiben Sie { command-answer } davor.

answer-freetext = Drücken Sie die Eingabetaste, schreiben Sie Ihre Antwort, und drücken Sie wieder die Eingabetaste.

answer-own_words = Drücken Sie die Eingabetaste, bevor Sie eigene Worte schreiben.

answer-impossible = Diese Frage kann hier nicht beantwortet werden.

answer-forms = Möglich als Antwort: { $forms }, dann die Eingabetaste.

answer-or = { $first } oder { $second }

answer-number = Vor eine Zahl, die keine Auswahl ist, wird = geschrieben.

answer-unsent = Nichts wurde gesendet. { $hint }

form-multiple_choice = die Nummer einer Auswahl

form-yes_no = { word-yes } oder { word-no }

form-numeric = eine Zahl

form-freetext = eigene Worte

help-speech = Die Leertaste stoppt die Sprachausgabe, p hält sie an und setzt sie fort, k springt zum aktuellen Stand, der Punkt macht sie schneller, das Komma langsamer.

help-speech-lines = Mit { command-silence } stoppt die Sprachausgabe, mit { command-pause } pausiert sie und geht weiter, mit { command-skip } springt sie zum aktuellen Stand. Es gibt auch { command-faster } und { command-slower }.

line-too_soon = Das kam zu früh und zählt nicht. Hören Sie zuerst die Anfrage bis zum Ende.

## Settings

settings-line = Zeile { $line } der Einstellungen ist nicht lesbar und zählt nicht: { $text }

settings-repeated = Zeile { $line } der Einstellungen nennt { $setting } ein zweites Mal. Das erste Mal zählt.

settings-unknown = Zeile { $line } der Einstellungen nennt { $setting }. Diese Einstellung gibt es nicht.

settings-similar = Meinten Sie { $setting }?

settings-value = Zeile { $line } der Einstellungen zählt nicht. Möglich für { $setting }: { $expected }.

settings-variable = Die Variable { $variable } zählt nicht. Möglich dafür: { $expected }.

settings-more =
    { $count ->
        [one] 1 weitere Zeile der Einstellungen zählt nicht.
       *[other] { $count } weitere Zeilen der Einstellungen zählen nicht.
    }

settings-unreadable = Die Einstellungen sind nicht lesbar, also gelten die Standardwerte. { $reason }

settings-missing = Die Datei { $file } gibt es nicht, also gelten die Standardwerte.

settings-encoding = Zeile { $line } enthält Zeichen, die nicht UTF-8 sind.

settings-unsafe = Andere Konten dieses Rechners können { $file } ändern, also gelten die Standardwerte. Führen Sie chmod go-w dafür aus.

settings-stranger = { $file } gehört einem anderen Konto, also gelten die Standardwerte.

settings-allow = Die Regeln Ihrer Einstellungen sind nicht lesbar, also werden Sie alles gefragt. { $reason }

## Words for sounds

earcon-sent = Gesendet.

earcon-working = Arbeitet.

earcon-done = Abgeschlossen.

earcon-needs-you = Sie sind dran.

earcon-error = Fehler.

## Coding agents

code-started = { $agent } ist bei der Arbeit.

code-run = Ausführen: { $command }.

code-create = { $file } anlegen, { $size }: { $text }.

code-change = { $file } ändern: { $added } hinzugefügt, { $removed } entfernt.

code-change-nothing = { $file } ohne Änderung neu schreiben.

code-hunk-add = In Zeile { $line } hinzufügen: { $text }.

code-hunk-remove = In Zeile { $line } entfernen: { $text }.

code-hunk-replace = In Zeile { $line } ersetzen: { $old } durch { $new }.

code-hunk-blank = Dort unterscheiden sich nur Leerzeichen oder Zeilenumbrüche.

code-own_words = Der Agent sagt nicht, was er ausführt, nur dies: { $text }.

code-effect-run = Es läuft mit allen Ihren Rechten.

code-effect-change = Die Datei wird geschrieben.

code-effect-delete = Es ist dann weg, außer Sie haben eine Kopie.

code-effect-move = Es ist dann anderswo.

code-effect-read = Der Agent und sein Modell lesen es.

code-effect-search = Der Agent und sein Modell lesen, was gefunden wird.

code-effect-think = Nichts wird geändert.

code-effect-fetch = Die Adresse und was dorthin gesendet wird, verlassen diesen Rechner.

code-effect-switch_mode = Von da an fragt der Agent möglicherweise bei weniger Dingen nach.

code-effect-other = Was das ändert, ist nicht bekannt. Betrachten Sie es als endgültig.

code-running = Ausführen von { $command }.

code-creating = Anlegen von { $file }.

code-changing = Ändern von { $file }.

code-reading = Lesen von { $file }.

code-searching = Suche nach { $text }.

code-described = In seinen eigenen Worten: { $text }.

code-using = Benutzen von { $tool }.

code-ruled = Erlaubt durch Ihre eigene Regel. { $text }

code-unasked = Warnung. Der Agent hat dies getan, ohne zu fragen: { $text }

code-unasked-failed = Warnung. Der Agent hat dies versucht, ohne zu fragen, und es ist fehlgeschlagen: { $text }

code-despite = Warnung. Der Agent hat dies getan, obwohl es abgelehnt war: { $text }

code-stopping = Er wird gestoppt.

code-undescribed = etwas, das sich nicht sagen lässt

code-too_long = Abgelehnt: zu lang, um ganz vorgelesen zu werden. { $text } Verlangen Sie kleinere Schritte.

code-unreadable = Abgelehnt: Es kann nicht ganz vorgelesen werden, denn es scheint ein Geheimnis zu enthalten. { $text }

code-unofferable = Abgelehnt: Der Agent bietet nicht an, dies nur einmal zu erlauben. { $text }

code-between = Abgelehnt: Der Agent hat das verlangt, als er nicht bei der Arbeit war. { $text }

code-mode = Modus: { $mode }.

code-mode-unasked = Warnung. Im Modus { $mode } handelt der Agent, ohne zu fragen.

code-mode-back = Der Modus wird zurückgestellt.

code-mode-unknown = Ob dieser Agent fragt, bevor er handelt, ist nicht bekannt. Was er ohne zu fragen tut, wird gesagt und stoppt ihn.

code-subagent = Helfer { $name }: { $state }.

code-stop-refusal = Das Modell weigert sich weiterzumachen.

code-stop-max_tokens = Die Antwort wurde zu lang für das Modell.

code-stop-max_turn_requests = Der Agent hat mehr Schritte gemacht, als er darf.

code-stop-other = Der Agent hat aufgehört und sagt nicht, warum.

code-stop-error = Der Agent meldet einen Fehler.

code-stop-gone = Das Programm des Agenten hat sich beendet.

code-stop-stuck = Der Agent hat nicht aufgehört, also wurde sein Programm beendet.

code-stop-fault = In diesem Programm ist etwas fehlgeschlagen, also wurde der Agent gestoppt.

code-refused = Der Agent hat seine Runde nach einer Ablehnung beendet.

compose-begin = Schreiben Sie dem Agenten. Die Eingabetaste sendet es. Escape hebt es für später auf.

compose-left = Aufgehoben. Drücken Sie p, um daran weiterzuschreiben.

compose-left-empty = Verlassen. Nichts wurde geschrieben.

compose-removed = Die Zeile wurde entfernt.

compose-joined = Die Zeile davor:

compose-history-none = Noch wurde nichts gesendet.

compose-help = Mit p oder der Eingabetaste schreiben Sie dem Agenten. Ein Backslash am Ende beginnt eine weitere Zeile.

compose-help-history = h listet auf, was Sie gesendet haben. Die Pfeiltaste nach oben holt es zurück. @Name nennt eine Datei.

compose-help-lines = Jede andere Zeile wird dem Agenten gesendet, auch nach dem Wort prompt. Das Wort history listet auf, was Sie gesendet haben.

code-ready = { $agent } ist bereit. Drücken Sie p, um dem Agenten zu schreiben.

code-ready-lines = { $agent } ist bereit. Schreiben Sie dem Agenten.

code-queued = Noch bei der Arbeit. Dies wird als Nächstes gesendet.

code-interrupt = Wird gestoppt. Drücken Sie noch einmal Strg+C, um zu beenden.

code-interrupt-idle = Drücken Sie noch einmal Strg+C, um zu beenden.

code-file = Mit der Datei { $file }.

code-file-missing = Die Datei { $file } gibt es hier nicht. Es wurde als Wort gesendet.

code-error = Der Agent sagt: { $text }

code-last_words = Seine letzten Worte waren diese.

code-hint-again = Schreiben Sie ihm wieder, damit es weitergeht.

code-editor-allowed = Im Editor erlaubt. { $text }

code-editor-refused = Im Editor abgelehnt.

code-editor-done = Beendet: { $text }

code-editor-failed = Fehlgeschlagen: { $text }

code-editor-only = Das lässt sich nur im Editor beantworten. { $text }

code-editor-fault = In diesem Programm ist etwas fehlgeschlagen. Der Agent macht mit dem Editor weiter.

code-editor-gone = Der Editor hat sich beendet.

code-run-long = Einen Befehl von { $size } ausführen.

code-create-long = { $file } anlegen, { $size }.

code-write-long = { $file } schreiben, { $size }.

code-edit-long = In { $file } ersetzen: { $removed } durch { $added }.

code-kilobytes =
    { $count ->
        [one] 1 Kilobyte
       *[other] { $count } Kilobyte
    }

code-parts =
    { $count ->
        [one] { $overview } Es ist { $size } lang, in 1 Teil. Nichts wird ausgeführt, bevor Sie ihn gehört haben. Weiter?
       *[other] { $overview } Es ist { $size } lang, in { $count } Teilen. Nichts wird ausgeführt, bevor Sie alle gehört haben. Weiter?
    }

code-part = Teil { $number } von { $count }. { $text } Weiter?

code-part-last = { $overview } Dies ist der letzte von { $count } Teilen. { $text }

code-part-line = Es geht weiter mit Zeile { $line }, hier wieder ab 1 gezählt: { $text }

code-part-word = Es geht weiter in Zeile { $line }: { $text }

code-part-middle = Es geht weiter in Zeile { $line }, mitten in einem Wort: { $text }

code-part-refused = Abgelehnt. Nichts wurde ausgeführt. { $text }

## Braille

braille-no_table = Für die Sprache { $language } gibt es keine Brailletabelle. Englische Buchstaben werden verwendet.

braille-marks = In Braille zeigt Punkt 8 einen Buchstaben mit einem Zeichen an, das in der Tabelle fehlt.

braille-lost = Die Braillezeile ist weg. Die Anzeige geht weiter, sobald sie wieder da ist.

braille-back = Die Braillezeile ist wieder da.

braille-read_on = Lesen Sie zuerst bis zum Ende, dann können Sie annehmen.

braille-choice = Die Eingabetaste sendet { $choice }

## Hooks of coding agents

hooks-started = { $agent } ist bei der Arbeit.


hooks-write = { $file } schreiben, { $size }: { $text }.

hooks-edit = In { $file } ersetzen: { $old } durch { $new }.

hooks-edit-all = In { $file } überall ersetzen: { $old } durch { $new }.






hooks-terminal = Antworten Sie in seinem Terminal. { $text }

hooks-terminal-unread = Antworten Sie in seinem Terminal. Der Agent will { $tool } benutzen, und das kann nicht ganz vorgelesen werden.

hooks-refused-unread = Abgelehnt. Der Agent will { $tool } benutzen, und das kann nicht ganz vorgelesen werden.

hooks-terminal-allowed = In seinem Terminal erlaubt. { $text }

hooks-unasked = Warnung. Der Agent hat dies getan, ohne zu fragen. { $text }

hooks-despite = Warnung. Der Agent hat dies getan, obwohl es abgelehnt war. { $text }

hooks-undescribed = Der Agent hat { $tool } benutzt, und das kann nicht vorgelesen werden.

hooks-next = Ein anderer Auftrag kam.

hooks-idle = { $agent } wartet auf Ihren nächsten Auftrag.

hooks-closed = { $agent } wurde geschlossen.

## Falling behind

behind-key = Die Sprachausgabe hängt { $duration } hinterher. Drücken Sie k, um zum aktuellen Stand zu springen.

behind-line = Die Sprachausgabe hängt { $duration } hinterher. Schreiben Sie { command-skip }, um zum aktuellen Stand zu springen.

behind-skipped = { $count } übersprungen.

behind-nothing = Nichts zu überspringen. Das ist der aktuelle Stand.

## Notifications of the desktop

greeting-daemon = Hört im Hintergrund zu.

notifications-none = Hier gibt es keine Benachrichtigungen: Kein Dienst des Desktops antwortet.

notifications-gone = Die Benachrichtigungen sind zu Ende: Der Desktop wurde geschlossen.

notification-answer = Antworten Sie in einem Terminal: aaep listen

notification-title = { $agent } fragt

notification-accept = Annehmen

notification-reject = Ablehnen

## Durations

duration-moment = weniger als 1 Sekunde

duration-days =
    { $count ->
        [one] 1 Tag
       *[other] { $count } Tage
    }
    .after =
        { $count ->
            [one] 1 Tag
           *[other] { $count } Tagen
        }

duration-hours =
    { $count ->
        [one] 1 Stunde
       *[other] { $count } Stunden
    }
    .after =
        { $count ->
            [one] 1 Stunde
           *[other] { $count } Stunden
        }

duration-minutes =
    { $count ->
        [one] 1 Minute
       *[other] { $count } Minuten
    }
    .after =
        { $count ->
            [one] 1 Minute
           *[other] { $count } Minuten
        }

duration-seconds =
    { $count ->
        [one] 1 Sekunde
       *[other] { $count } Sekunden
    }
    .after =
        { $count ->
            [one] 1 Sekunde
           *[other] { $count } Sekunden
        }

duration-pair = { $first } und { $second }

## Words that a person writes

command-accept = annehmen

command-reject = ablehnen

command-refuse = ablehnen

command-more = mehr

command-repeat = nochmal

command-next = nächste

command-back = zurück

command-forward = vor

command-quiet = ruhe

command-verbosity = umfang

command-time = zeit

command-quit = ende

command-help = hilfe

command-answer = antwort

command-leave = offen

command-stay = bleiben

word-yes = ja

word-no = nein

command-silence = stumm

command-pause = pause

command-skip = springen

command-faster = schneller

command-slower = langsamer

## Putting words together

list = { $first }, { $second }

list-long = { $first }; { $second }

decimal-sign = ,

value-marks = Zitat, Zitate, Zitaten, Zitates, Zitats, Zitatende

value-own_words = abgelehnt, ablehnen, Ablehnung, angegeben, angenommen, annehmen, Annahme, bestätigen, bestätigt, endgültig, gering, geringes, geschwärzt, hoch, hohes, irreversibel, ja, leer, leere, leerer, Leerzeichen, mittel, mittleres, nein, nicht, nichts, reversibel, Risiko, rückgängig, unwiderruflich, Zeile, Zitat, Zitatende

expected-word = { $words } oder { $last }

expected-whole_number = eine ganze Zahl von { $lowest } bis { $highest }

expected-number = eine Zahl von { $lowest } bis { $highest }

expected-languages = eine Liste von Sprachkürzeln wie en-GB

expected-texts = eine Liste von Texten

expected-text = ein Text

## The language

language-name = Deutsch

language-none = Dieses Leseprogramm hat keine Worte für { $languages }. Es spricht { language-name }.

## Why a connection is closed, to the other side

close-producer_shutdown = Die Seite des Agenten wird beendet.

close-authentication_expired = Die Zugangsdaten dieses Leseprogramms gelten nicht mehr. Verbinden Sie sich mit neuen.

close-slow_consumer = Das Leseprogramm kommt nicht mit. Verbinden Sie sich neu, um dort weiterzumachen, wo es aufgehört hat.

close-superseded = Ein anderes Leseprogramm hat übernommen.

close-subscriber_shutdown = Das Leseprogramm hat aufgehört.

close-rate_violation = Das Leseprogramm hat zu viel gesendet.

close-protocol_error = Das Leseprogramm hat gesendet, was nicht erlaubt ist.

close-manifest_invalid = Ein Nachweis konnte nicht geprüft werden.

close-hub_shutdown = Die Vermittlungsstelle wird beendet.
