# checked-by-speaker: no
# language: es

## The work

started = Iniciado.

part = Parte de: { $parent }

completed = Hecho.

ended = Finalizado.

undone = { $action }: no se hizo.

undone-more =
    { $count ->
        [one] 1 acción más no se hizo.
       *[other] { $count } acciones más no se hicieron.
    }

possible = { $action }: puede que se haya hecho.

possible-more =
    { $count ->
        [one] 1 acción más puede que se haya hecho.
       *[other] { $count } acciones más puede que se hayan hecho.
    }

possible-check = Compruébelo antes de volver a intentarlo.

undone-failed = { $action }: ha fallado.

undone-failed-more =
    { $count ->
        [one] 1 acción más ha fallado.
       *[other] { $count } acciones más han fallado.
    }

failed-check = Compruebe qué se hizo antes de volver a intentarlo.

errored = Ha fallado.

cancelled = Detenido.

unfinished = El trabajo no está terminado.

tools =
    { $count ->
        [one] Se usó 1 herramienta.
       *[other] Se usaron { $count } herramientas.
    }

took = Tardó { $duration }.

takes = Tarda aproximadamente { $duration }.

left = Tiempo restante aproximado: { $duration }.

by-user = Lo detuvo quien usa el agente.

by-producer = Lo detuvo el agente.

by-timeout = Tardó demasiado.

by-system = Lo detuvo el sistema.

partial = Hasta ahora: { $result }

code = Código de error { $code }.

category-transient = Volver a intentarlo puede servir.

category-permanent = Volver a intentarlo no servirá.

category-requires_user = Antes tiene que hacer algo.

hint-transient = Volver a intentarlo más tarde puede servir.

hint-permanent = Volver a intentarlo no servirá. Avise a quien gestiona el agente.

hint-requires_user = Compruebe si el agente tiene permiso para esto y vuelva a intentarlo.

hint-unknown = Vuelva a intentarlo. Si falla otra vez, avise a quien gestiona el agente.

lost = El agente se detuvo de forma inesperada. El trabajo no está terminado.

lost-hint = Compruebe qué se hizo antes de iniciarlo de nuevo.

lost-detailed = El agente se detuvo de forma inesperada. El trabajo no está terminado. Lo que había empezado puede que se haya hecho.

handoff-human = Traspasando a una persona.

handoff-specialist_agent = Traspasando a otro agente.

handoff-escalation_queue = Traspasando. Alguien se hará cargo.

handoff-other = Traspasando.

not_taken = Nadie se ha hecho cargo.

## What goes on

state-idle = Sin actividad.

state-thinking = Pensando.

state-thinking-detailed = Pensando qué hacer a continuación.

state-calling_tool = Usando una herramienta.

state-writing_output = Escribiendo.

state-awaiting_input = Esperando su respuesta.

state-deciding = Decidiendo.

state-deciding-detailed = Decidiendo cómo seguir.

state-handing_off = Traspasando.

state-other = Ahora: { $state }.

state-unnamed = Ahora, otra cosa.

resync = Poniendo al día.

percent = { $percent } por ciento.

step = Paso { $step }.

step-of = Paso { $step } de { $total }.

progress-none = Sigue trabajando.

invoked = Llamando a { $tool }.

tool = una herramienta

with = Con { $arguments }.

undo-warning = Esto no se puede deshacer.

success = { $tool }: terminado.

stopped = { $tool }: detenido.

stopped-early = { $tool }: detenido antes del final.

success-summary = { $call }: hecho.

error-unnamed = un error

error-mistake = un fallo del agente

error-several =
    { $count ->
        [one] 1 error: { $name }
       *[other] { $count } errores: { $name } y otros
    }

error = Ha fallado { $call }.

error-reason = Ha fallado { $call }: { $reason }

timeout = { $call }: no terminó. Puede que se haya hecho. Compruébelo antes de volver a intentarlo.

status = Comunicó el estado { $status }.

skipped = { $action }: no se hizo, porque el agente dejó de esperar.

says = { $agent }:

says-quoted = Cita de { $agent }:

agent = Agente

agent-named = Agente { $name }

session = { $work }: { $text }

notice = Aviso.

notice-type = Algo que este lector no conoce: { $type }.

incomplete = Mensaje incompleto.

incomplete-prompt = Aquí no se puede aceptar ni responder.

cut =
    { $count ->
        [one] Texto cortado, queda 1 carácter.
       *[other] Texto cortado, quedan { $count } caracteres.
    }

## Prompts

confirm = Confirme.

action-none = El agente no dice qué haría.

consequence = Si acepta: { $consequence }

consequence-none = El agente no dice qué pasaría.

consequence-unstated = Nadie indicó qué cambia esto. Considérelo definitivo.

consequence-unknown = No se indica qué cambia esto.

consequence-again = Efecto no indicado.

risk-low = Riesgo bajo

risk-medium = Riesgo medio

risk-high = Riesgo alto

risk-none = Riesgo no indicado: considérelo alto

risk-unstated = Riesgo sin indicar

undo-irreversible = no se puede deshacer

undo-reversible_with_effort = se puede deshacer con esfuerzo

undo-reversible = se puede deshacer

undo-none = sin indicar si se puede deshacer

risk = { $risk }, { $undo }.

default-reject = Se rechaza tras { $duration } sin respuesta.

default-accept = Se acepta tras { $duration } sin respuesta.

default-reject-short = Se rechaza tras { $duration }.

default-accept-short = Se acepta tras { $duration }.

expired = El tiempo para responder ha terminado.

unrefusable = No se ofrece rechazar.

unacceptable = No se ofrece aceptar.

uncut = Escuche todo el texto antes de poder aceptar: { $key }.

uncut-plain = Escuche todo el texto antes de poder aceptar.

rest = Continúa: { $text }

rest-action = La acción continúa: { $text }

rest-consequence = Lo que pasa si acepta continúa: { $text }

key = { $key } { $effect }

key-accept = aceptar

key-reject = rechazar

key-yes = sí

key-no = no

key-more = más

key-time = más tiempo

key-close = salir

write = Escriba { $words } o { $last }.

write-one = Escriba { $word }.

question = Pregunta.

question-none = El agente no dice qué pregunta.

why = Motivo: { $reason }

choice = { $number }: { $label }

kind-freetext = Responda con sus propias palabras.

kind-yes_no = Responda { word-yes } o { word-no }.

kind-numeric = Responda con un número.

time = { $duration } para responder.

time-default = { $duration } para responder; si no: { $answer }

longer = Ahora tiene { $duration }.

countdown = Tiempo restante para responder: { $duration }. { $action }

time_left = Tiempo restante para responder: { $duration }.

again = De nuevo.

still = Se sigue esperando su respuesta.

other = Otra petición espera su respuesta.

prompt-waiting = Otra pregunta está esperando.

about = Eso era sobre esto: { $action }

flood = Llegan muchos mensajes urgentes. A partir de ahora esperan su turno.

## Values in what is asked

tool-use = Usar { $tool }.

with-nothing = nada más

value-quoted = abre comillas { $value } cierra comillas

value-word = la palabra { $word }

value-line = línea { $number }: { $text }

value-ending = número terminado en { $digits }

value-empty = texto vacío

value-blank = texto en blanco

value-invisible = carácter invisible { $character }

value-private = carácter privado { $character }

value-unknown = carácter desconocido { $character }

value-times =
    { $count ->
        [one] { $character }
       *[other] { $character }, { $count } veces
    }

value-none = nada

value-yes = sí

value-no = no

value-items =
    { $count ->
        [0] lista vacía
        [one] 1 elemento: { $items }
       *[other] { $count } elementos: { $items }
    }

value-entries =
    { $count ->
        [0] ninguna entrada
        [one] 1 entrada: { $items }
       *[other] { $count } entradas: { $items }
    }

value-parts =
    { $count ->
        [0] ninguna parte
        [one] 1 parte: { $items }
       *[other] { $count } partes: { $items }
    }

value-bytes =
    { $count ->
        [one] 1 byte
       *[other] { $count } bytes
    }

value-digest = { $size }, SHA-256 empieza por { $digest }

value-other = algo de tipo { $kind }

## Outcomes of prompts

outcome-accepted = Aceptado.

outcome-rejected = Rechazado.

outcome-answered = Respondido.

outcome-accepted-elsewhere = Aceptado en otro lugar.

outcome-rejected-elsewhere = Rechazado en otro lugar.

outcome-answered-elsewhere = Respondido en otro lugar.

outcome-timed_out = Se acabó el tiempo.

outcome-withdrawn = Ya no se pregunta.

outcome-unavailable = No queda nadie para responder.

outcome-no_reply_channel = Nadie puede responder.

outcome-other = La petición está cerrada.

outcome-modified = Se quiere otra cosa. El agente tiene que volver a preguntar.

outcome-granted = Se da por aceptado.

outcome-defaulted = El agente prosigue con la respuesta que indicó.

outcome-unanswered = El agente prosigue sin respuesta.

outcome-longer = Hay más tiempo. Se pregunta otra vez.

## Markdown

markdown-heading = Encabezado: { $text }

markdown-bullet = Viñeta: { $text }

markdown-bullet-nested = Subviñeta: { $text }

markdown-number = { $number }: { $text }

markdown-checked = Marcado: { $text }

markdown-unchecked = No marcado: { $text }

markdown-quote = Cita: { $text }

markdown-code = Código

markdown-coming = en camino

markdown-lines =
    { $count ->
        [one] 1 línea
       *[other] { $count } líneas
    }

markdown-table = Tabla: { $columns }.

markdown-cell = { $column }: { $cell }

markdown-image = Imagen: { $text }

markdown-picture = Imagen

## The connection

connected = Conexión establecida.

connected-name = Conexión establecida con { $agent }.

reconnected = Conexión recuperada.

gap = Conexión recuperada. Mientras tanto se perdió algo.

connection-lost = Se perdió la conexión. { $reason }

retrying =
    { $seconds ->
        [one] { $reason } Nuevo intento en 1 segundo.
       *[other] { $reason } Nuevo intento en { $seconds } segundos.
    }

gave_up = Se abandona tras { $duration } sin conexión. { $reason }

resume-slow_consumer = Íbamos demasiado lento; seguimos desde donde estábamos.

resume-authentication_expired = Nuestra credencial caducó. Mostramos la que tenemos ahora y seguimos desde donde estábamos.

absent = { $agent } no está disponible en este momento.

absent-terse = { $agent } no está disponible.

absent-asking = Recibirá su respuesta cuando vuelva.

returned = { $agent } vuelve a estar disponible.

waiting = Esperando. Esto continúa solo.

connection-ended = La conexión ha terminado definitivamente. { $reason }

unreadable = Llegó algo que no se pudo leer. Si el agente pregunta algo, puede que esté esperando una respuesta.

no_answers = El agente no admite respuestas de este lector.

proven = Es { $agent }, con la firma de la clave { $key }.

unproven = Identidad no demostrada.

unproven-local = Lleva la firma de { $agent } con la clave { $key }, pero podría estar presentándola otra persona que usa este equipo.

refused = El agente rechazó la conexión: { $reason }

refused-code = El agente rechazó la conexión, { $code }: { $reason }

refused-code-only = El agente rechazó la conexión, { $code }.

closed-producer_shutdown = { $agent } se ha cerrado.

closed-authentication_expired = Su acceso ha caducado. Conéctese de nuevo con otro.

closed-slow_consumer = Este lector iba demasiado lento. Conéctese de nuevo para seguir donde se quedó.

closed-superseded = Otro lector tomó el relevo.

closed-subscriber_shutdown = Este lector se ha detenido.

closed-rate_violation = Este lector envió demasiado.

closed-protocol_error = Este lector envió algo que no está permitido.

closed-manifest_invalid = La otra parte no pudo demostrar quién es.

closed-other = { $agent } terminó la conexión: { $reason }.

arrived = Agente nuevo: { $agent }.

discover-none = Todavía no hay ningún agente en marcha. Se escucha a cada uno que empiece.

reconnected-name = Conexión recuperada con { $agent }.

gap-name = Conexión recuperada con { $agent }. Mientras tanto se perdió algo.

connection-lost-name = Se perdió la conexión con { $agent }. { $reason }

connection-ended-name = La conexión con { $agent } ha terminado definitivamente. { $reason }

waiting-name = Esperando a { $agent }. Esto continúa solo.

no_answers-name = { $agent } no admite respuestas de este lector.

unread-name = Se trata de { $agent }.

asker-gone = Ya no hay conexión con el agente que preguntó.

## Why a connection is refused

refused-version_unsupported = no habla ninguna versión del protocolo que hablemos nosotros.

refused-manifest_invalid = no se pudo comprobar una prueba.

refused-manifest_signature_required = no tiene una prueba firmada de quién es.

refused-capabilities_incompatible = no puede dar lo que pedimos.

refused-rate_limit = en este momento se le pide demasiado.

refused-authentication_required = no sabe quiénes somos.

refused-authentication_expired = nuestra credencial ha caducado.

refused-authorization_denied = no tenemos acceso.

refused-transport_unavailable = en este momento no se puede usar de esta manera.

refused-unknown = no da ningún motivo.

refused-slow_consumer = íbamos demasiado lento.

refused-rate_violation = enviamos demasiado.

refused-protocol_error = enviamos algo que el protocolo no permite.

advice-version_unsupported = Use una versión de esta biblioteca que hable la suya.

advice-manifest_invalid = Pida a quien gestiona el agente una prueba que se pueda comprobar.

advice-manifest_signature_required = Pida a quien gestiona el agente una prueba firmada de quién es.

advice-capabilities_incompatible = Pida menos, o un idioma que se ofrezca.

advice-rate_limit = Vuelva a intentarlo más tarde.

advice-authentication_required = Dé una credencial válida con { $options }.

advice-authentication_expired = Conéctese de nuevo con una credencial nueva.

advice-authorization_denied = Pida acceso a quien gestiona el agente.

advice-transport_unavailable = Vuelva a intentarlo más tarde, o use otra vía de conexión.

advice-slow_consumer = Pida menos, o lea más rápido.

advice-rate_violation = Envíe menos respuestas y cambios.

advice-unknown = Pregunte a quien gestiona el agente qué significa.

## At the terminal

attention = Atención. { $text }

greeting-keys = Pulse ? para la ayuda, q para salir.

greeting-lines = Escriba { command-help } y pulse Intro para la ayuda.

greeting-pipe = No interactivo: las órdenes se leen de la entrada estándar, una en cada línea.

greeting-none = No interactivo: las peticiones se mostrarán y no se responderán.

prompts-shown = Las peticiones se mostrarán y no se responderán.

input-ended = La entrada estándar ha terminado. La escucha continúa.

goodbye = Fin de la escucha.

goodbye-open =
    { $count ->
        [one] 1 pregunta quedó sin responder.
       *[other] { $count } preguntas quedaron sin responder.
    }

other_session = Otro trabajo pregunta algo que no se muestra aquí.

typed_before = Lo que se escribió antes de esta línea no cuenta.

draft = Estaba escribiendo: { $text }

nothing_said = Todavía no se ha dicho nada.

nothing_before = Antes de eso no se dijo nada.

nothing_after = Eso era lo último.

backlog =
    { $count ->
        [one] 1 novedad más.
       *[other] { $count } novedades más.
    }

quiet-begin = No molestar. Solo se dicen preguntas y advertencias.

quiet-end =
    { $count ->
        [0] Mientras tanto no pasó nada.
        [one] 1 novedad mientras tanto.
       *[other] { $count } novedades mientras tanto.
    }

quiet-hear-key = Pulse f para oír la primera.

quiet-hear-line = Escriba { command-forward } para oír la primera.

verbosity =
    { $verbosity ->
        [terse] Nivel de detalle: breve.
        [detailed] Nivel de detalle: detallado.
       *[normal] Nivel de detalle: normal.
    }

asking_time = Pidiendo { $duration }.

sending-accept = Enviando: aceptar.

sending-reject = Enviando: rechazar.

sending = Enviando: { $answer }

no_time = El agente no concede más tiempo.

unsent = No se pudo enviar. { $reason }

still_open = La petición sigue pendiente.

may_have_arrived = Tardó demasiado, y puede que haya llegado o no.

not_connected = Todavía no hay conexión.

speech-paused = La voz está en pausa.

speech-nothing = No se está diciendo nada.

speech-gone = La voz se ha perdido. El texto continúa aquí.

speech-back = La voz ha vuelto.

speech-no_voice = Aquí no hay voz para { $language }. Se lee con la voz para { $other }.

speech-none = Aquí no se dice nada en voz alta.

speech-unavailable = Speech Dispatcher no responde. Instálelo o inícielo.

speech-none-prism = Hace falta la biblioteca Prism. Instálela con: pip install prismatoid.

speech-address = SPEECHD_ADDRESS es { $address }. Escriba unix_socket:path o inet_socket:host:port.

speech-refused = Speech Dispatcher no conoce { $value }.

braille-unavailable = Nada responde en { $address }. Inicie BRLTTY o defina BRLAPI_HOST. En Debian: apt install brltty.

braille-library = El braille necesita liblouis, que no está instalado. En Debian: apt install liblouis20 liblouis-data.

speech-rate = { $count } palabras por minuto.

## Answering

help-keys = Teclas: a acepta, r rechaza, m dice más, s lo repite, la letra o pasa a la siguiente petición pendiente.

help-keys-more = v cambia cuánto se dice, t pide más tiempo, q sale, ? dice esto.

help-keys-history = b va hacia atrás, f hacia delante. s dos veces lo dice todo. d es no molestar.

help-second-key = Para aceptar hace falta una segunda tecla si hay riesgo o si hay varias peticiones pendientes.

help-second-line = Para aceptar hace falta una segunda línea si hay riesgo o si hay varias peticiones pendientes.

help-answer = Responda a una pregunta con su número, o con la letra y o la letra n, y después Intro.

help-freetext = Para responder con sus propias palabras pulse Intro, escriba y pulse Intro otra vez.

help-lines = Órdenes, una en cada línea: { command-accept }, { command-reject }, { command-more }, { command-repeat }, { command-next }, { command-verbosity }, { command-time }, { command-quit }, { command-help }.

help-lines-history = Con { command-back } y { command-forward } recorre lo que se ha dicho. Con { command-repeat } dos veces lo oye todo. Con { command-quiet } no se le molesta.

help-next = Con { command-next } pasa a la siguiente petición pendiente.

help-answer-lines = Responda a una pregunta con su número, { word-yes }, { word-no } o sus propias palabras.

help-command-answer = Las palabras que son órdenes se envían como respuesta con { command-answer } delante.

several_open =
    { $count ->
        [one] Hay 1 petición pendiente. Ahora responde a esta. { $hint }
       *[other] Hay { $count } peticiones pendientes. Ahora responde a esta. { $hint }
    }

prompt-hear-key = Pulse la letra o para oírla.

prompt-hear-line = Escriba { command-next } para oírla.

next-key = Pulse la letra o para la siguiente petición.

next-line = Escriba { command-next } para la siguiente petición.

still_answering = Sigue respondiendo a esto: { $action }

draft-unsent = Lo que estaba escribiendo no se envió: { $text }

accept-void = Aquí no se aceptó nada.

accept-taken_back = Anulado. No se aceptó nada.

accept-second-key = Aún no se ha aceptado. Pulse la letra y para aceptar esto: { $action } Cualquier otra tecla lo anula.

accept-second-key-long = Aún no se ha aceptado. Pulse la letra y para aceptar lo que empieza así: { $action } Cualquier otra tecla lo anula.

accept-second-line = Aún no se ha aceptado. Escriba { word-yes } para aceptar esto: { $action } Cualquier otra línea lo anula.

accept-second-line-long = Aún no se ha aceptado. Escriba { word-yes } para aceptar lo que empieza así: { $action } Cualquier otra línea lo anula.

leaving-open =
    { $count ->
        [one] 1 pregunta está pendiente.
       *[other] { $count } preguntas están pendientes.
    }

leaving-keys =
    { $count ->
        [one] Pulse l para dejarla pendiente, Escape para quedarse.
       *[other] Pulse l para dejarlas pendientes, Escape para quedarse.
    }

leaving-keys-refuse =
    { $count ->
        [one] Pulse r para rechazarla y salir, l para dejarla pendiente, Escape para quedarse.
       *[other] Pulse r para rechazarlas y salir, l para dejarlas pendientes, Escape para quedarse.
    }

leaving-keys-some = Pulse r para rechazar solo { $count } de ellas y salir, l para dejarlas todas pendientes, Escape para quedarse.

leaving-lines =
    { $count ->
        [one] Escriba { command-leave } para dejarla pendiente, { command-stay } para quedarse.
       *[other] Escriba { command-leave } para dejarlas pendientes, { command-stay } para quedarse.
    }

leaving-lines-refuse =
    { $count ->
        [one] Escriba { command-refuse } para rechazarla y salir, { command-leave } para dejarla pendiente, { command-stay } para quedarse.
       *[other] Escriba { command-refuse } para rechazarlas y salir, { command-leave } para dejarlas pendientes, { command-stay } para quedarse.
    }

leaving-lines-some = Escriba { command-refuse } para rechazar solo { $count } de ellas y salir, { command-leave } para dejarlas todas pendientes, { command-stay } para quedarse.

stay = Sigue aquí. No se respondió nada.

keys-several = Llegaron varias teclas a la vez. Ninguna cuenta. Pulse las teclas de una en una.

keys-unknown = La tecla { $key } no hace nada aquí. Pulse ? para la ayuda.

keys-too_soon = Esa tecla llegó demasiado pronto y no cuenta. Espere un momento y púlsela una vez.

draft-begin = Escriba su respuesta. Intro la envía. Escape la deja sin enviar.

draft-empty = No se escribió nada. No se envió nada.

draft-left = Abandonado. No se envió nada.

draft-removed = Se borró lo que había escrito. Escriba su respuesta.

enter-prompt = Intro solo no responde nada. Pulse s para oír la petición otra vez.

enter-nothing = No hay nada que responder. Pulse ? para la ayuda.

line-empty = Una línea vacía no responde nada.

line-no_prompt = No hay ninguna petición, así que esa línea no responde nada. Escriba { command-help } para la ayuda.

line-unknown = No se entendió esa línea. No se envió nada. Escriba { command-accept }, { command-reject } o { command-help }.

no_other = No hay otra petición pendiente.

no_more_time = No se puede conseguir más tiempo.

time_asked = Ya se pidió más tiempo.

cannot_reply = Este lector no puede responder peticiones. No se envió nada.

answer_sent = Su respuesta se envió. Espere a lo que diga el agente.

nothing_to-accept = No hay nada que aceptar.

nothing_to-reject = No hay nada que rechazar.

nothing_to-answer = No hay nada que responder.

nothing_to-time = No hay nada para lo que pedir más tiempo.

another_open = Hay otra petición pendiente. { $hint }

is_question = Esto es una pregunta. { $hint }

answer-word = Para enviar esa palabra como respuesta, escriba { command-answer } delante.

answer-freetext = Pulse Intro, escriba su respuesta y pulse Intro otra vez.

answer-own_words = Pulse Intro antes de escribir sus propias palabras.

answer-impossible = Esta pregunta no se puede responder aquí.

answer-forms = Responda con { $forms }, e Intro.

answer-or = { $first } o { $second }

answer-number = Un número que no es una opción se escribe con = delante.

answer-unsent = No se envió nada. { $hint }

form-multiple_choice = el número de una opción

form-yes_no = { word-yes } o { word-no }

form-numeric = un número

form-freetext = sus propias palabras

help-speech = Espacio detiene la voz, p la pone en pausa y la reanuda, k salta al momento actual, el punto va más rápido, la coma más despacio.

help-speech-lines = Con { command-silence } la voz se detiene, con { command-pause } hace una pausa y continúa, con { command-skip } salta al momento actual. También hay { command-faster } y { command-slower }.

line-too_soon = Eso llegó demasiado pronto y no cuenta. Escuche antes la petición hasta el final.

## Settings

settings-line = La línea { $line } de los ajustes no se puede leer y no cuenta: { $text }

settings-repeated = La línea { $line } de los ajustes nombra { $setting } por segunda vez. Cuenta la primera.

settings-unknown = La línea { $line } de los ajustes nombra { $setting }, que no es ningún ajuste.

settings-similar = ¿Quería decir { $setting }?

settings-value = La línea { $line } de los ajustes no cuenta: { $setting } tiene que ser { $expected }.

settings-variable = La variable { $variable } no cuenta. Tiene que ser { $expected }.

settings-more =
    { $count ->
        [one] 1 línea más de los ajustes no cuenta.
       *[other] { $count } líneas más de los ajustes no cuentan.
    }

settings-unreadable = Los ajustes no se pueden leer, así que valen los predeterminados. { $reason }

settings-missing = No existe el archivo { $file }, así que valen los ajustes predeterminados.

settings-encoding = La línea { $line } tiene caracteres que no son UTF-8.

settings-unsafe = Otras cuentas de este equipo pueden cambiar { $file }, así que valen los ajustes predeterminados. Ejecute chmod go-w con ese archivo.

settings-stranger = { $file } pertenece a otra cuenta, así que valen los ajustes predeterminados.

settings-allow = Las reglas de sus ajustes no se pueden leer, así que se le pregunta todo. { $reason }

## Words for sounds

earcon-sent = Enviado.

earcon-working = Trabajando.

earcon-done = Terminado.

earcon-needs-you = Le toca.

earcon-error = Error.

## Coding agents

code-started = { $agent } está trabajando.

code-run = Ejecutar { $command }.

code-create = Crear { $file }, { $size }: { $text }.

code-change = Cambiar { $file }: { $added } más, { $removed } menos.

code-change-nothing = Volver a escribir { $file } sin cambios.

code-hunk-add = En la línea { $line }, añadir { $text }.

code-hunk-remove = En la línea { $line }, quitar { $text }.

code-hunk-replace = En la línea { $line }, sustituir { $old } por { $new }.

code-hunk-blank = Ahí solo cambian espacios o saltos de línea.

code-own_words = El agente no dice qué ejecuta, solo esto: { $text }.

code-effect-run = Se ejecuta con todos los permisos que tiene usted.

code-effect-change = Se escribe el archivo.

code-effect-delete = Se pierde, a menos que tenga una copia.

code-effect-move = Después está en otro sitio.

code-effect-read = El agente y su modelo lo leen.

code-effect-search = El agente y su modelo leen lo que se encuentre.

code-effect-think = No se cambia nada.

code-effect-fetch = La dirección y lo que se envía allí salen de este equipo.

code-effect-switch_mode = A partir de entonces puede que el agente pregunte por menos cosas.

code-effect-other = No se sabe qué cambia esto. Considérelo definitivo.

code-running = Ejecución de { $command }.

code-creating = Creación de { $file }.

code-changing = Cambio de { $file }.

code-reading = Lectura de { $file }.

code-searching = Búsqueda de { $text }.

code-described = En palabras del agente: { $text }.

code-using = Uso de { $tool }.

code-ruled = Permitido por una regla de sus ajustes. { $text }

code-unasked = Advertencia. El agente hizo esto sin preguntar: { $text }

code-unasked-failed = Advertencia. El agente intentó esto sin preguntar, y ha fallado: { $text }

code-despite = Advertencia. El agente hizo esto aunque se había rechazado: { $text }

code-stopping = Se está deteniendo al agente.

code-undescribed = algo que no se puede describir

code-too_long = Rechazado: es demasiado largo para leerlo entero. { $text } Pida pasos más pequeños.

code-unreadable = Rechazado: no se puede leer entero, porque parece contener un secreto. { $text }

code-unofferable = Rechazado: el agente no ofrece ninguna forma de permitir esto una sola vez. { $text }

code-between = Rechazado: el agente pidió esto cuando no estaba trabajando. { $text }

code-mode = Modo: { $mode }.

code-mode-unasked = Advertencia. En el modo { $mode } el agente actúa sin preguntar.

code-mode-back = Se vuelve al modo anterior.

code-mode-unknown = No se sabe si este agente pregunta antes de actuar. Lo que haga sin preguntar se dirá, y lo detendrá.

code-subagent = Agente auxiliar { $name }: { $state }.

code-stop-refusal = El modelo se niega a seguir.

code-stop-max_tokens = La respuesta se hizo demasiado larga para el modelo.

code-stop-max_turn_requests = El agente dio más pasos de los permitidos.

code-stop-other = El agente se detuvo y no dice por qué.

code-stop-error = El agente comunica un error.

code-stop-gone = El programa del agente ha terminado.

code-stop-stuck = El agente no se detuvo, así que se cerró su programa.

code-stop-fault = Algo falló en este programa, así que se detuvo al agente.

code-refused = El agente terminó su turno tras un rechazo.

compose-begin = Escriba al agente. Intro lo envía. Escape lo guarda para después.

compose-left = Guardado para después. Pulse p para seguir con ello.

compose-left-empty = Abandonado. No se escribió nada.

compose-removed = Se borró la línea.

compose-joined = La línea anterior:

compose-history-none = Todavía no se ha enviado nada.

compose-help = Con p o con Intro se escribe al agente. Una barra inversa al final empieza otra línea.

compose-help-history = h enumera lo que envió. La flecha arriba lo recupera. @nombre indica un archivo.

compose-help-lines = Cualquier otra línea se envía al agente, también tras la palabra prompt. La palabra history enumera lo que envió.

code-ready = Todo listo. Pulse p para escribir a { $agent }.

code-ready-lines = Todo listo. Escriba a { $agent }.

code-queued = Sigue trabajando. Esto se envía a continuación.

code-interrupt = Deteniendo. Pulse Control+C otra vez para salir.

code-interrupt-idle = Pulse Control+C otra vez para salir.

code-file = Con el archivo { $file }.

code-file-missing = Aquí no existe el archivo { $file }. Se envió como una palabra.

code-error = El agente dice: { $text }

code-last_words = Las últimas palabras del agente fueron estas.

code-hint-again = Escríbale otra vez para seguir.

code-editor-allowed = Permitido en el editor. { $text }

code-editor-refused = Rechazado en el editor.

code-editor-done = Terminado: { $text }

code-editor-failed = Ha fallado: { $text }

code-editor-only = Esto solo se puede responder en el editor. { $text }

code-editor-fault = Algo falló en este programa. El agente sigue con el editor.

code-editor-gone = El editor se ha cerrado.

code-run-long = Ejecutar una orden de { $size }.

code-create-long = Crear { $file }, { $size }.

code-write-long = Escribir { $file }, { $size }.

code-edit-long = En { $file }, sustituir { $removed } por { $added }.

code-kilobytes =
    { $count ->
        [one] 1 kilobyte
       *[other] { $count } kilobytes
    }

code-parts =
    { $count ->
        [one] { $overview } Ocupa { $size }, en 1 parte. No se hace nada antes de que usted la haya oído. ¿Seguir?
       *[other] { $overview } Ocupa { $size }, en { $count } partes. No se hace nada antes de que usted las haya oído todas. ¿Seguir?
    }

code-part = Parte { $number } de { $count }. { $text } ¿Seguir?

code-part-last = { $overview } Esta es la última de las { $count } partes. { $text }

code-part-line = Continúa con la línea { $line }, contada aquí de nuevo desde 1: { $text }

code-part-word = Continúa en la línea { $line }: { $text }

code-part-middle = Continúa en la línea { $line }, en mitad de una palabra: { $text }

code-part-refused = Rechazado. No se hizo nada. { $text }

## Braille

braille-no_table = No hay tabla braille para el idioma { $language }. Se usan las letras inglesas.

braille-marks = En braille, el punto 8 marca una letra que lleva un signo que falta en la tabla.

braille-lost = La pantalla braille se ha perdido. Volverá a mostrar el texto cuando regrese.

braille-back = La pantalla braille ha vuelto.

braille-read_on = Lea antes hasta el final, después podrá aceptar.

braille-choice = Intro envía { $choice }

## Hooks of coding agents

hooks-started = { $agent } está trabajando.


hooks-write = Escribir { $file }, { $size }: { $text }.

hooks-edit = En { $file }, sustituir { $old } por { $new }.

hooks-edit-all = En { $file }, sustituir cada { $old } por { $new }.






hooks-terminal = Responda en el terminal del agente. { $text }

hooks-terminal-unread = Responda en el terminal del agente. El agente quiere usar { $tool }, y eso no se puede leer entero.

hooks-refused-unread = Rechazado. El agente quiere usar { $tool }, y eso no se puede leer entero.

hooks-terminal-allowed = Permitido en el terminal del agente. { $text }

hooks-unasked = Advertencia. El agente hizo esto sin preguntar. { $text }

hooks-despite = Advertencia. El agente hizo esto aunque se había rechazado. { $text }

hooks-undescribed = El agente usó { $tool }, y eso no se puede leer.

hooks-next = Llegó otra instrucción.

hooks-idle = { $agent } espera su próxima instrucción.

hooks-closed = El programa { $agent } se ha cerrado.

## Falling behind

behind-key = La voz va con retraso: { $duration } en espera. Pulse k para saltar al momento actual.

behind-line = La voz va con retraso: { $duration } en espera. Escriba { command-skip } para saltar al momento actual.

behind-skipped = Mensajes saltados: { $count }.

behind-nothing = No hay nada que saltar. Este es el momento actual.

## Notifications of the desktop

greeting-daemon = Escuchando en segundo plano.

notifications-none = Aquí no hay notificaciones: no responde ningún servicio del escritorio.

notifications-gone = Las notificaciones han terminado: el escritorio se ha cerrado.

notification-answer = Responda en un terminal: aaep listen

notification-title = { $agent } pregunta

notification-accept = Aceptar

notification-reject = Rechazar

## Durations

duration-moment = menos de un segundo

duration-days =
    { $count ->
        [one] 1 día
       *[other] { $count } días
    }

duration-hours =
    { $count ->
        [one] 1 hora
       *[other] { $count } horas
    }

duration-minutes =
    { $count ->
        [one] 1 minuto
       *[other] { $count } minutos
    }

duration-seconds =
    { $count ->
        [one] 1 segundo
       *[other] { $count } segundos
    }

duration-pair = { $first } y { $second }

## Words that a person writes

command-accept = aceptar

command-reject = rechazar

command-refuse = rechazar

command-more = ampliar

command-repeat = repetir

command-next = siguiente

command-back = volver

command-forward = avanzar

command-quiet = silencio

command-verbosity = nivel

command-time = tiempo

command-quit = salir

command-help = ayuda

command-answer = responder

command-leave = dejar

command-stay = quedarse

word-yes = sí

word-no = no

command-silence = callar

command-pause = pausar

command-skip = saltar

command-faster = acelerar

command-slower = frenar

## Putting words together

list = { $first }, { $second }

list-long = { $first }; { $second }

decimal-sign = ,

value-marks = comillas, comilla, entrecomillado, entrecomillada

value-own_words = acepta, aceptar, acepte, aceptada, aceptado, alta, alto, baja, bajo, blanco, comilla, comillas, confirmar, confirme, confirmado, deshacer, deshecho, indicado, indicar, irreversible, línea, media, medio, nada, no, oculto, puede, rechace, rechaza, rechazada, rechazado, rechazar, reversible, riesgo, si, sí, vacía, vacío

expected-word = { $words } o { $last }

expected-whole_number = un número entero de { $lowest } a { $highest }

expected-number = un número de { $lowest } a { $highest }

expected-languages = una lista de etiquetas de idioma como en-GB

expected-texts = una lista de textos

expected-text = un texto

## The language

language-name = español

language-none = Este lector no tiene palabras en { $languages }. Habla { language-name }.

## Why a connection is closed, to the other side

close-producer_shutdown = El lado del agente se está cerrando.

close-authentication_expired = La credencial de este lector ya no vale. Conéctese de nuevo con otra.

close-slow_consumer = El lector no sigue el ritmo. Conéctese de nuevo para seguir donde se quedó.

close-superseded = Otro lector tomó el relevo.

close-subscriber_shutdown = El lector se ha detenido.

close-rate_violation = El lector envió demasiado.

close-protocol_error = El lector envió lo que no está permitido.

close-manifest_invalid = No se pudo verificar una prueba.

close-hub_shutdown = El punto de enlace se está cerrando.
