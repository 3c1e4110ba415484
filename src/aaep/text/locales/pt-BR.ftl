# checked-by-speaker: no
# language: pt-BR

## The work

started = Iniciado.

part = Parte de: { $parent }

completed = Feito.

ended = Encerrado.

undone = { $action }: não foi feito.

undone-more =
    { $count ->
        [one] Mais { $count } ação não foi feita.
       *[other] Mais { $count } ações não foram feitas.
    }

possible = { $action }: pode ter sido feito.

possible-more =
    { $count ->
        [one] Mais { $count } ação pode ter sido feita.
       *[other] Mais { $count } ações podem ter sido feitas.
    }

possible-check = Verifique antes de tentar de novo.

undone-failed = { $action }: falhou.

undone-failed-more =
    { $count ->
        [one] Mais { $count } ação falhou.
       *[other] Mais { $count } ações falharam.
    }

failed-check = Verifique o que foi feito antes de tentar de novo.

errored = Falhou.

cancelled = Interrompido.

unfinished = O trabalho não está concluído.

tools =
    { $count ->
        [one] { $count } ferramenta foi usada.
       *[other] { $count } ferramentas foram usadas.
    }

took = Levou { $duration }.

takes = Isto leva cerca de { $duration }.

left = Tempo restante aproximado: { $duration }.

by-user = Interrompido por quem usa o agente.

by-producer = O agente interrompeu.

by-timeout = Demorou demais.

by-system = O sistema interrompeu.

partial = Até agora: { $result }

code = Código de erro { $code }.

category-transient = Tentar de novo pode ajudar.

category-permanent = Tentar de novo não vai ajudar.

category-requires_user = Você precisa fazer algo antes.

hint-transient = Tentar de novo mais tarde pode ajudar.

hint-permanent = Tentar de novo não vai ajudar. Avise quem administra o agente.

hint-requires_user = Verifique se o agente tem permissão para isto e tente de novo.

hint-unknown = Tente de novo. Se falhar outra vez, avise quem administra o agente.

lost = O agente parou inesperadamente. O trabalho não está concluído.

lost-hint = Verifique o que foi feito antes de iniciar de novo.

lost-detailed = O agente parou inesperadamente. O trabalho não está concluído. O que ele tinha começado pode ter sido feito.

handoff-human = Passando para uma pessoa.

handoff-specialist_agent = Passando para outro agente.

handoff-escalation_queue = Repassando. Alguém vai assumir.

handoff-other = Repassando.

not_taken = Ninguém assumiu.

## What goes on

state-idle = Sem atividade.

state-thinking = Pensando.

state-thinking-detailed = Pensando no que fazer a seguir.

state-calling_tool = Usando uma ferramenta.

state-writing_output = Escrevendo.

state-awaiting_input = Esperando você.

state-deciding = Decidindo.

state-deciding-detailed = Decidindo como continuar.

state-handing_off = Repassando.

state-other = Agora: { $state }.

state-unnamed = Agora, outra coisa.

resync = Atualizando você.

percent = { $percent } por cento.

step = Etapa { $step }.

step-of = Etapa { $step } de { $total }.

progress-none = Ainda trabalhando.

invoked = Chamando { $tool }.

tool = uma ferramenta

with = Com { $arguments }.

undo-warning = Isto não pode ser desfeito.

success = { $tool }: concluído.

stopped = { $tool }: interrompido.

stopped-early = { $tool }: interrompido antes do fim.

success-summary = { $call }: feito.

error-unnamed = um erro

error-mistake = um defeito no agente

error-several =
    { $count ->
        [one] { $count } erro: { $name }
       *[other] { $count } erros: { $name } e outros
    }

error = { $call } falhou.

error-reason = { $call } falhou: { $reason }

timeout = { $call }: não terminou. Pode ter sido feito. Verifique antes de tentar de novo.

status = Informou o estado { $status }.

skipped = { $action }: não foi feito, porque o agente deixou de esperar.

says = { $agent }:

says-quoted = Citação de { $agent }:

agent = Agente

agent-named = Agente { $name }

session = { $work }: { $text }

notice = Aviso.

notice-type = Algo que este leitor não conhece: { $type }.

incomplete = Mensagem incompleta.

incomplete-prompt = Não é possível aceitar nem responder aqui.

cut =
    { $count ->
        [one] Texto cortado, resta { $count } caractere.
       *[other] Texto cortado, restam { $count } caracteres.
    }

## Prompts

confirm = Confirme.

action-none = O agente não diz o que faria.

consequence = Se você aceitar: { $consequence }

consequence-none = O agente não diz o que aconteceria.

consequence-unstated = Ninguém informou o que isto muda. Considere definitivo.

consequence-unknown = O que isto muda não foi informado.

consequence-again = Efeito não informado.

risk-low = Risco baixo

risk-medium = Risco médio

risk-high = Risco alto

risk-none = Risco não informado: considere alto

risk-unstated = Risco sem informação

undo-irreversible = não pode ser desfeito

undo-reversible_with_effort = pode ser desfeito com esforço

undo-reversible = pode ser desfeito

undo-none = não se sabe se pode ser desfeito

risk = { $risk }, { $undo }.

default-reject = Será recusado após { $duration } sem resposta.

default-accept = Será aceito após { $duration } sem resposta.

default-reject-short = Será recusado após { $duration }.

default-accept-short = Será aceito após { $duration }.

expired = O tempo para responder terminou.

unrefusable = Recusar não é oferecido.

unacceptable = Aceitar não é oferecido.

uncut = Ouça o texto todo antes de poder aceitar: { $key }.

uncut-plain = Ouça o texto todo antes de poder aceitar.

rest = Continua: { $text }

rest-action = A ação continua: { $text }

rest-consequence = O que acontece se você aceitar continua: { $text }

key = { $key } { $effect }

key-accept = aceitar

key-reject = recusar

key-yes = sim

key-no = não

key-more = mais

key-time = mais tempo

key-close = sair

write = Escreva { $words } ou { $last }.

write-one = Escreva { $word }.

question = Pergunta.

question-none = O agente não diz o que pergunta.

why = Motivo: { $reason }

choice = { $number }: { $label }

kind-freetext = Responda com suas próprias palavras.

kind-yes_no = Responda { word-yes } ou { word-no }.

kind-numeric = Responda com um número.

time = { $duration } para responder.

time-default = { $duration } para responder, senão: { $answer }

longer = Agora você tem { $duration }.

countdown = Tempo restante para responder: { $duration }. { $action }

time_left = Tempo restante para responder: { $duration }.

again = De novo.

still = Ainda esperando você.

other = Outra solicitação espera por você.

prompt-waiting = Outra pergunta está esperando.

about = Isso era sobre o seguinte: { $action }

flood = Chegam muitas mensagens urgentes. A partir de agora elas esperam a vez.

## Values in what is asked

tool-use = Usar { $tool }.

with-nothing = nada mais

value-quoted = abre aspas { $value } fecha aspas

value-word = a palavra { $word }

value-line = linha { $number }: { $text }

value-ending = número com final { $digits }

value-empty = texto vazio

value-blank = texto em branco

value-invisible = caractere invisível { $character }

value-private = caractere privado { $character }

value-unknown = caractere desconhecido { $character }

value-times =
    { $count ->
        [one] { $character }
       *[other] { $character }, { $count } vezes
    }

value-none = nada

value-yes = sim

value-no = não

value-items =
    { $count ->
        [0] lista vazia
        [one] { $count } item: { $items }
       *[other] { $count } itens: { $items }
    }

value-entries =
    { $count ->
        [0] nenhuma entrada
        [one] { $count } entrada: { $items }
       *[other] { $count } entradas: { $items }
    }

value-parts =
    { $count ->
        [0] nenhuma parte
        [one] { $count } parte: { $items }
       *[other] { $count } partes: { $items }
    }

value-bytes =
    { $count ->
        [one] { $count } byte
       *[other] { $count } bytes
    }

value-digest = { $size }, SHA-256 começa com { $digest }

value-other = algo do tipo { $kind }

## Outcomes of prompts

outcome-accepted = Aceito.

outcome-rejected = Recusado.

outcome-answered = Respondido.

outcome-accepted-elsewhere = Aceito em outro lugar.

outcome-rejected-elsewhere = Recusado em outro lugar.

outcome-answered-elsewhere = Respondido em outro lugar.

outcome-timed_out = O tempo acabou.

outcome-withdrawn = Não se pergunta mais.

outcome-unavailable = Não resta ninguém para responder.

outcome-no_reply_channel = Ninguém pode responder.

outcome-other = A solicitação está fechada.

outcome-modified = Outra coisa é desejada. O agente precisa perguntar de novo.

outcome-granted = Vale como aceito.

outcome-defaulted = O agente continua com a resposta que indicou.

outcome-unanswered = O agente prossegue sem uma resposta.

outcome-longer = Há mais tempo. A pergunta é feita de novo.

## Markdown

markdown-heading = Título: { $text }

markdown-bullet = Marcador: { $text }

markdown-bullet-nested = Submarcador: { $text }

markdown-number = { $number }: { $text }

markdown-checked = Marcado: { $text }

markdown-unchecked = Não marcado: { $text }

markdown-quote = Citação: { $text }

markdown-code = Código

markdown-coming = a caminho

markdown-lines =
    { $count ->
        [one] { $count } linha
       *[other] { $count } linhas
    }

markdown-table = Tabela: { $columns }.

markdown-cell = { $column }: { $cell }

markdown-image = Imagem: { $text }

markdown-picture = Imagem

## The connection

connected = Conexão estabelecida.

connected-name = Conexão estabelecida com { $agent }.

reconnected = Conexão restabelecida.

gap = Conexão restabelecida. Algo se perdeu nesse meio-tempo.

connection-lost = A conexão foi perdida. { $reason }

retrying =
    { $seconds ->
        [one] { $reason } Nova tentativa em { $seconds } segundo.
       *[other] { $reason } Nova tentativa em { $seconds } segundos.
    }

gave_up = Desistência após { $duration } sem conexão. { $reason }

resume-slow_consumer = Não acompanhamos o ritmo, e continuamos de onde estávamos.

resume-authentication_expired = Nossa credencial expirou. Mostramos a que temos agora, e continuamos de onde estávamos.

absent = { $agent } não está acessível no momento.

absent-terse = { $agent } não está acessível.

absent-asking = Sua resposta será recebida quando a conexão voltar.

returned = { $agent } está acessível de novo.

waiting = Esperando. Isto continua sozinho.

connection-ended = A conexão terminou definitivamente. { $reason }

unreadable = Chegou algo que não pôde ser lido. Se o agente pergunta algo, pode estar esperando uma resposta.

no_answers = O agente não aceita respostas deste leitor.

proven = Este é { $agent }, com a assinatura da chave { $key }.

unproven = Identidade não comprovada.

unproven-local = A assinatura é de { $agent } com a chave { $key }, mas outra pessoa que usa esta máquina poderia estar apresentando isso.

refused = O agente recusou a conexão: { $reason }

refused-code = O agente recusou a conexão, { $code }: { $reason }

refused-code-only = O agente recusou a conexão, { $code }.

closed-producer_shutdown = { $agent } encerrou.

closed-authentication_expired = Seu acesso expirou. Conecte de novo com outro.

closed-slow_consumer = Este leitor estava lento demais. Conecte de novo para continuar de onde parou.

closed-superseded = Outro leitor assumiu.

closed-subscriber_shutdown = Este leitor parou.

closed-rate_violation = Este leitor enviou demais.

closed-protocol_error = Este leitor enviou algo que não é permitido.

closed-manifest_invalid = O outro lado não conseguiu comprovar quem é.

closed-other = { $agent } encerrou a conexão: { $reason }.

arrived = Agente novo: { $agent }.

discover-none = Nenhum agente está em execução ainda. Cada um que começar será escutado.

reconnected-name = Conexão restabelecida com { $agent }.

gap-name = Conexão restabelecida com { $agent }. Algo se perdeu nesse meio-tempo.

connection-lost-name = A conexão com { $agent } foi perdida. { $reason }

connection-ended-name = A conexão com { $agent } terminou definitivamente. { $reason }

waiting-name = Esperando { $agent }. Isto continua sozinho.

no_answers-name = { $agent } não aceita respostas deste leitor.

unread-name = Trata-se de { $agent }.

asker-gone = Não há mais conexão com o agente que perguntou.

## Why a connection is refused

refused-version_unsupported = ele não fala nenhuma versão do protocolo que nós falamos.

refused-manifest_invalid = uma prova não pôde ser verificada.

refused-manifest_signature_required = ele não tem uma prova assinada de quem é.

refused-capabilities_incompatible = ele não pode dar o que pedimos.

refused-rate_limit = estão pedindo demais dele no momento.

refused-authentication_required = ele não sabe quem somos.

refused-authentication_expired = nossa credencial expirou.

refused-authorization_denied = não temos acesso.

refused-transport_unavailable = ele não pode ser usado desta forma no momento.

refused-unknown = ele não informa o motivo.

refused-slow_consumer = não acompanhamos o ritmo.

refused-rate_violation = enviamos demais.

refused-protocol_error = enviamos o que o protocolo não permite.

advice-version_unsupported = Use uma versão desta biblioteca que fale a dele.

advice-manifest_invalid = Peça a quem administra o agente uma prova que possa ser verificada.

advice-manifest_signature_required = Peça a quem administra o agente uma prova assinada de quem ele é.

advice-capabilities_incompatible = Peça menos, ou um idioma que seja oferecido.

advice-rate_limit = Tente de novo mais tarde.

advice-authentication_required = Forneça uma credencial válida com { $options }.

advice-authentication_expired = Conecte de novo com uma credencial nova.

advice-authorization_denied = Peça acesso a quem administra o agente.

advice-transport_unavailable = Tente de novo mais tarde, ou use outra forma de conexão.

advice-slow_consumer = Peça menos, ou leia mais rápido.

advice-rate_violation = Envie menos respostas e mudanças.

advice-unknown = Pergunte a quem administra o agente o que isso significa.

## At the terminal

attention = Atenção. { $text }

greeting-keys = Pressione ? para ajuda, q para sair.

greeting-lines = Escreva { command-help } e pressione Enter para ajuda.

greeting-pipe = Não interativo: os comandos são lidos da entrada padrão, um em cada linha.

greeting-none = Não interativo: as solicitações serão mostradas e não respondidas.

prompts-shown = As solicitações serão mostradas e não respondidas.

input-ended = A entrada padrão terminou. A escuta continua.

goodbye = Escuta encerrada.

goodbye-open =
    { $count ->
        [one] { $count } pergunta não foi respondida.
       *[other] { $count } perguntas não foram respondidas.
    }

other_session = Outro trabalho pergunta algo que não é mostrado aqui.

typed_before = O que foi digitado antes desta linha não conta.

draft = Você estava escrevendo: { $text }

nothing_said = Nada foi dito ainda.

nothing_before = Nada foi dito antes disso.

nothing_after = Isso foi o último.

backlog =
    { $count ->
        [one] Mais { $count } novidade.
       *[other] Mais { $count } novidades.
    }

quiet-begin = Não perturbe. Só perguntas e alertas são ditos.

quiet-end =
    { $count ->
        [0] Nada aconteceu nesse meio-tempo.
        [one] { $count } novidade nesse meio-tempo.
       *[other] { $count } novidades nesse meio-tempo.
    }

quiet-hear-key = Pressione f para a primeira.

quiet-hear-line = Escreva { command-forward } para a primeira.

verbosity =
    { $verbosity ->
        [terse] Nível de detalhe: breve.
        [detailed] Nível de detalhe: detalhado.
       *[normal] Nível de detalhe: normal.
    }

asking_time = Pedindo { $duration }.

sending-accept = Enviando: aceitar.

sending-reject = Enviando: recusar.

sending = Enviando: { $answer }

no_time = O agente não concede mais tempo.

unsent = Não foi possível enviar. { $reason }

still_open = A solicitação continua aberta.

may_have_arrived = Demorou demais, e pode ter chegado ou não.

not_connected = Ainda não há conexão.

speech-paused = A fala está em pausa.

speech-nothing = Nada está sendo falado.

speech-gone = A fala se perdeu. O texto continua aqui.

speech-back = A fala voltou.

speech-no_voice = Não há voz para { $language } aqui. A leitura é feita com a voz para { $other }.

speech-none = Nada é falado aqui.

speech-unavailable = O Speech Dispatcher não responde. Instale ou inicie esse programa.

speech-none-prism = É preciso ter a biblioteca Prism. Instale com: pip install prismatoid.

speech-address = SPEECHD_ADDRESS é { $address }. Escreva unix_socket:path ou inet_socket:host:port.

speech-refused = O Speech Dispatcher não conhece { $value }.

braille-unavailable = Nada responde em { $address }. Inicie o BRLTTY ou defina BRLAPI_HOST. No Debian: apt install brltty.

braille-library = O braille precisa do liblouis, que não está instalado. No Debian: apt install liblouis20 liblouis-data.

speech-rate = { $count } palavras por minuto.

## Answering

help-keys = Teclas: a aceita, r recusa, m diz mais, s repete, a letra o vai para a próxima solicitação aberta.

help-keys-more = v muda quanto é dito, t pede mais tempo, q sai, ? diz isto.

help-keys-history = b volta, f avança. s duas vezes diz tudo. d é não perturbe.

help-second-key = Para aceitar é preciso uma segunda tecla se houver risco, ou se houver várias solicitações abertas.

help-second-line = Para aceitar é preciso uma segunda linha se houver risco, ou se houver várias solicitações abertas.

help-answer = Responda a uma pergunta com o número dela, ou y ou n, e depois Enter.

help-freetext = Para responder com suas próprias palavras, pressione Enter, escreva e pressione Enter de novo.

help-lines = Comandos, um em cada linha: { command-accept }, { command-reject }, { command-more }, { command-repeat }, { command-next }, { command-verbosity }, { command-time }, { command-quit }, { command-help }.

help-lines-history = Com { command-back } e { command-forward } você percorre o que foi dito. Com { command-repeat } duas vezes você ouve tudo. Com { command-quiet } ninguém perturba você.

help-next = Com { command-next } você vai para a próxima solicitação aberta.

help-answer-lines = Responda a uma pergunta com o número dela, { word-yes }, { word-no } ou suas próprias palavras.

help-command-answer = Palavras que são comandos são enviadas como resposta com { command-answer } na frente.

several_open =
    { $count ->
        [one] Há { $count } solicitação aberta. Você responde a esta agora. { $hint }
       *[other] Há { $count } solicitações abertas. Você responde a esta agora. { $hint }
    }

prompt-hear-key = Pressione a letra o para ouvir.

prompt-hear-line = Escreva { command-next } para ouvir.

next-key = Pressione a letra o para a próxima solicitação.

next-line = Escreva { command-next } para a próxima solicitação.

still_answering = Você ainda responde a isto: { $action }

draft-unsent = O que você estava escrevendo não foi enviado: { $text }

accept-void = Nada foi aceito aqui.

accept-taken_back = Cancelado. Nada foi aceito.

accept-second-key = Ainda não foi aceito. Pressione y para aceitar isto: { $action } Qualquer outra tecla cancela.

accept-second-key-long = Ainda não foi aceito. Pressione y para aceitar o que começa assim: { $action } Qualquer outra tecla cancela.

accept-second-line = Ainda não foi aceito. Escreva { word-yes } para aceitar isto: { $action } Qualquer outra linha cancela.

accept-second-line-long = Ainda não foi aceito. Escreva { word-yes } para aceitar o que começa assim: { $action } Qualquer outra linha cancela.

leaving-open =
    { $count ->
        [one] Há { $count } pergunta aberta.
       *[other] Há { $count } perguntas abertas.
    }

leaving-keys =
    { $count ->
        [one] Pressione l para deixá-la aberta, Esc para ficar.
       *[other] Pressione l para deixá-las abertas, Esc para ficar.
    }

leaving-keys-refuse =
    { $count ->
        [one] Pressione r para recusá-la e sair, l para deixá-la aberta, Esc para ficar.
       *[other] Pressione r para recusá-las e sair, l para deixá-las abertas, Esc para ficar.
    }

leaving-keys-some = Pressione r para recusar só { $count } delas e sair, l para deixar todas abertas, Esc para ficar.

leaving-lines =
    { $count ->
        [one] Escreva { command-leave } para deixá-la aberta, { command-stay } para ficar.
       *[other] Escreva { command-leave } para deixá-las abertas, { command-stay } para ficar.
    }

leaving-lines-refuse =
    { $count ->
        [one] Escreva { command-refuse } para recusá-la e sair, { command-leave } para deixá-la aberta, { command-stay } para ficar.
       *[other] Escreva { command-refuse } para recusá-las e sair, { command-leave } para deixá-las abertas, { command-stay } para ficar.
    }

leaving-lines-some = Escreva { command-refuse } para recusar só { $count } delas e sair, { command-leave } para deixar todas abertas, { command-stay } para ficar.

stay = Você fica. Nada foi respondido.

keys-several = Várias teclas chegaram de uma vez. Nenhuma conta. Pressione uma tecla de cada vez.

keys-unknown = A tecla { $key } não faz nada aqui. Pressione ? para ajuda.

keys-too_soon = Essa tecla chegou cedo demais e não conta. Espere um momento e pressione uma vez.

draft-begin = Escreva sua resposta. Enter envia. Esc deixa sem enviar.

draft-empty = Nada foi escrito. Nada foi enviado.

draft-left = Abandonado. Nada foi enviado.

draft-removed = O que você escreveu foi apagado. Escreva sua resposta.

enter-prompt = Enter sozinho não responde nada. Pressione s para ouvir a solicitação de novo.

enter-nothing = Não há nada para responder. Pressione ? para ajuda.

line-empty = Uma linha vazia não responde nada.

line-no_prompt = Não há solicitação, então essa linha não responde nada. Escreva { command-help } para ajuda.

line-unknown = Essa linha não foi entendida. Nada foi enviado. Escreva { command-accept }, { command-reject } ou { command-help }.

no_other = Nenhuma outra solicitação está aberta.

no_more_time = Não é possível ter mais tempo.

time_asked = Mais tempo já foi pedido.

cannot_reply = Este leitor não pode responder a solicitações. Nada foi enviado.

answer_sent = Sua resposta foi enviada. Espere o que o agente diz.

nothing_to-accept = Não há nada para aceitar.

nothing_to-reject = Não há nada para recusar.

nothing_to-answer = Não há nada para responder.

nothing_to-time = Não há nada que precise de mais tempo.

another_open = Outra solicitação está aberta. { $hint }

is_question = Isto é uma pergunta. { $hint }

answer-word = Para enviar essa palavra como resposta, escreva { command-answer } na frente dela.

answer-freetext = Pressione Enter, escreva sua resposta e pressione Enter de novo.

answer-own_words = Pressione Enter antes de escrever suas próprias palavras.

answer-impossible = Esta pergunta não pode ser respondida aqui.

answer-forms = Responda com { $forms }, e Enter.

answer-or = { $first } ou { $second }

answer-number = Um número que não é uma opção se escreve com = na frente.

answer-unsent = Nada foi enviado. { $hint }

form-multiple_choice = o número de uma opção

form-yes_no = { word-yes } ou { word-no }

form-numeric = um número

form-freetext = suas próprias palavras

help-speech = Espaço para a fala, p faz uma pausa e retoma, k pula para o momento atual, o ponto deixa mais rápido, a vírgula mais devagar.

help-speech-lines = Com { command-silence } a fala para, com { command-pause } ela faz uma pausa e continua, com { command-skip } ela pula para o momento atual. Há também { command-faster } e { command-slower }.

line-too_soon = Isso chegou cedo demais e não conta. Ouça primeiro a solicitação até o fim.

## Settings

settings-line = A linha { $line } das configurações não pode ser lida e não conta: { $text }

settings-repeated = A linha { $line } das configurações cita { $setting } pela segunda vez. Vale a primeira.

settings-unknown = A linha { $line } das configurações cita { $setting }, que não é uma configuração.

settings-similar = Você quis dizer { $setting }?

settings-value = A linha { $line } das configurações não conta: { $setting } precisa ser { $expected }.

settings-variable = A variável { $variable } não conta. Ela precisa ser { $expected }.

settings-more =
    { $count ->
        [one] Mais { $count } linha das configurações não conta.
       *[other] Mais { $count } linhas das configurações não contam.
    }

settings-unreadable = As configurações não podem ser lidas, então valem as padrão. { $reason }

settings-missing = Não existe o arquivo { $file }, então valem as configurações padrão.

settings-encoding = A linha { $line } tem caracteres que não são UTF-8.

settings-unsafe = Outras contas desta máquina podem mudar { $file }, então valem as configurações padrão. Execute chmod go-w nesse arquivo.

settings-stranger = { $file } pertence a outra conta, então valem as configurações padrão.

settings-allow = As regras das suas configurações não podem ser lidas, então tudo será perguntado. { $reason }

## Words for sounds

earcon-sent = Enviado.

earcon-working = Trabalhando.

earcon-done = Concluído.

earcon-needs-you = Sua vez.

earcon-error = Erro.

## Coding agents

code-started = { $agent } está trabalhando.

code-run = Executar { $command }.

code-create = Criar { $file }, { $size }: { $text }.

code-change = Mudar { $file }: { $added } a mais, { $removed } a menos.

code-change-nothing = Gravar { $file } de novo sem mudança.

code-hunk-add = Na linha { $line }, acrescentar { $text }.

code-hunk-remove = Na linha { $line }, remover { $text }.

code-hunk-replace = Na linha { $line }, trocar { $old } por { $new }.

code-hunk-blank = Ali só mudam espaços ou quebras de linha.

code-own_words = O agente não diz o que executa, só isto: { $text }.

code-effect-run = Isso é executado com todas as suas permissões.

code-effect-change = O arquivo é gravado.

code-effect-delete = Isso se perde, a menos que você tenha uma cópia.

code-effect-move = Depois disso fica em outro lugar.

code-effect-read = O agente e o modelo dele leem isso.

code-effect-search = O agente e o modelo dele leem o que for encontrado.

code-effect-think = Nada é mudado.

code-effect-fetch = O endereço e o que é enviado para lá saem desta máquina.

code-effect-switch_mode = A partir daí o agente talvez pergunte sobre menos coisas.

code-effect-other = Não se sabe o que isto muda. Considere definitivo.

code-running = Execução de { $command }.

code-creating = Criação de { $file }.

code-changing = Mudança em { $file }.

code-reading = Leitura de { $file }.

code-searching = Busca por { $text }.

code-described = Nas palavras do agente: { $text }.

code-using = Uso de { $tool }.

code-ruled = Permitido por uma regra sua. { $text }

code-unasked = Alerta. O agente fez isto sem perguntar: { $text }

code-unasked-failed = Alerta. O agente tentou isto sem perguntar, e falhou: { $text }

code-despite = Alerta. O agente fez isto apesar da recusa: { $text }

code-stopping = O agente está sendo interrompido.

code-undescribed = algo que não pode ser descrito

code-too_long = Recusado: é longo demais para ser lido por inteiro. { $text } Peça passos menores.

code-unreadable = Recusado: não pode ser lido por inteiro, pois parece conter um segredo. { $text }

code-unofferable = Recusado: o agente não oferece um jeito de permitir isto uma única vez. { $text }

code-between = Recusado: o agente pediu isto quando não estava trabalhando. { $text }

code-mode = Modo: { $mode }.

code-mode-unasked = Alerta. No modo { $mode } o agente age sem perguntar.

code-mode-back = O modo anterior é restaurado.

code-mode-unknown = Não se sabe se este agente pergunta antes de agir. O que ele fizer sem perguntar será dito, e vai interromper o agente.

code-subagent = Agente auxiliar { $name }: { $state }.

code-stop-refusal = O modelo se recusa a continuar.

code-stop-max_tokens = A resposta ficou longa demais para o modelo.

code-stop-max_turn_requests = O agente deu mais passos do que pode.

code-stop-other = O agente parou e não diz por quê.

code-stop-error = O agente informa um erro.

code-stop-gone = O programa do agente terminou.

code-stop-stuck = O agente não parou, então o programa dele foi encerrado.

code-stop-fault = Algo falhou neste programa, então o agente foi interrompido.

code-refused = O agente encerrou a vez dele após uma recusa.

compose-begin = Escreva ao agente. Enter envia. Esc guarda para depois.

compose-left = Guardado para depois. Pressione p para continuar.

compose-left-empty = Abandonado. Nada foi escrito.

compose-removed = A linha foi apagada.

compose-joined = A linha anterior:

compose-history-none = Nada foi enviado ainda.

compose-help = p ou Enter serve para escrever ao agente. Uma barra invertida no fim começa outra linha.

compose-help-history = h lista o que você enviou. A seta para cima traz de volta. @nome indica um arquivo.

compose-help-lines = Qualquer outra linha é enviada ao agente, também depois da palavra prompt. A palavra history lista o que você enviou.

code-ready = Tudo pronto. Pressione p para escrever a { $agent }.

code-ready-lines = Tudo pronto. Escreva a { $agent }.

code-queued = Ainda trabalhando. Isto é enviado em seguida.

code-interrupt = Interrompendo. Pressione Control+C de novo para sair.

code-interrupt-idle = Pressione Control+C de novo para sair.

code-file = Com o arquivo { $file }.

code-file-missing = Não existe o arquivo { $file } aqui. Foi enviado como uma palavra.

code-error = O agente diz: { $text }

code-last_words = As últimas palavras do agente foram estas.

code-hint-again = Escreva de novo ao agente para continuar.

code-editor-allowed = Permitido no editor. { $text }

code-editor-refused = Recusado no editor.

code-editor-done = Concluído: { $text }

code-editor-failed = Falhou: { $text }

code-editor-only = Isto só pode ser respondido no editor. { $text }

code-editor-fault = Algo falhou neste programa. O agente continua com o editor.

code-editor-gone = O editor foi encerrado.

code-run-long = Executar um comando de { $size }.

code-create-long = Criar { $file }, { $size }.

code-write-long = Gravar { $file }, { $size }.

code-edit-long = Em { $file }, trocar { $removed } por { $added }.

code-kilobytes =
    { $count ->
        [one] { $count } kilobyte
       *[other] { $count } kilobytes
    }

code-parts =
    { $count ->
        [one] { $overview } O tamanho é de { $size }, em { $count } parte. Nada é feito antes de você ouvir essa parte. Continuar?
       *[other] { $overview } O tamanho é de { $size }, em { $count } partes. Nada é feito antes de você ouvir todas elas. Continuar?
    }

code-part = Parte { $number } de { $count }. { $text } Continuar?

code-part-last = { $overview } Esta é a última das { $count } partes. { $text }

code-part-line = Continua com a linha { $line }, contada aqui de novo a partir de 1: { $text }

code-part-word = Continua na linha { $line }: { $text }

code-part-middle = Continua na linha { $line }, no meio de uma palavra: { $text }

code-part-refused = Recusado. Nada foi feito. { $text }

## Braille

braille-no_table = Não há tabela braille para o idioma { $language }. São usadas as letras do inglês.

braille-marks = Em braille, o ponto 8 marca uma letra com um sinal que falta na tabela.

braille-lost = A linha braille se perdeu. Quando voltar, mostrará o texto de novo.

braille-back = A linha braille voltou.

braille-read_on = Leia até o fim primeiro, depois você pode aceitar.

braille-choice = Enter envia { $choice }

## Hooks of coding agents

hooks-started = { $agent } está trabalhando.


hooks-write = Gravar { $file }, { $size }: { $text }.

hooks-edit = Em { $file }, trocar { $old } por { $new }.

hooks-edit-all = Em { $file }, trocar cada { $old } por { $new }.






hooks-terminal = Responda no terminal do agente. { $text }

hooks-terminal-unread = Responda no terminal do agente. O agente quer usar { $tool }, e isso não pode ser lido por inteiro.

hooks-refused-unread = Recusado. O agente quer usar { $tool }, e isso não pode ser lido por inteiro.

hooks-terminal-allowed = Permitido no terminal do agente. { $text }

hooks-unasked = Alerta. O agente fez isto sem perguntar. { $text }

hooks-despite = Alerta. O agente fez isto apesar da recusa. { $text }

hooks-undescribed = O agente usou { $tool }, e isso não pode ser lido.

hooks-next = Chegou outro pedido.

hooks-idle = { $agent } espera seu próximo pedido.

hooks-closed = O programa { $agent } foi fechado.

## Falling behind

behind-key = A fala está atrasada: { $duration } em espera. Pressione k para pular para o momento atual.

behind-line = A fala está atrasada: { $duration } em espera. Escreva { command-skip } para pular para o momento atual.

behind-skipped = Mensagens puladas: { $count }.

behind-nothing = Não há nada para pular. Este é o momento atual.

## Notifications of the desktop

greeting-daemon = Escutando em segundo plano.

notifications-none = Não há notificações aqui: nenhum serviço da área de trabalho responde.

notifications-gone = As notificações terminaram: a área de trabalho foi encerrada.

notification-answer = Responda em um terminal: aaep listen

notification-title = { $agent } pergunta

notification-accept = Aceitar

notification-reject = Recusar

## Durations

duration-moment = menos de um segundo

duration-days =
    { $count ->
        [one] { $count } dia
       *[other] { $count } dias
    }

duration-hours =
    { $count ->
        [one] { $count } hora
       *[other] { $count } horas
    }

duration-minutes =
    { $count ->
        [one] { $count } minuto
       *[other] { $count } minutos
    }

duration-seconds =
    { $count ->
        [one] { $count } segundo
       *[other] { $count } segundos
    }

duration-pair = { $first } e { $second }

## Words that a person writes

command-accept = aceitar

command-reject = recusar

command-refuse = recusar

command-more = mais

command-repeat = repetir

command-next = seguinte

command-back = voltar

command-forward = adiante

command-quiet = quieto

command-verbosity = detalhe

command-time = tempo

command-quit = sair

command-help = ajuda

command-answer = responder

command-leave = deixar

command-stay = ficar

word-yes = sim

word-no = não

command-silence = calar

command-pause = pausar

command-skip = pular

command-faster = acelerar

command-slower = devagar

## Putting words together

list = { $first }, { $second }

list-long = { $first }; { $second }

decimal-sign = ,

value-marks = aspas, aspa

value-own_words = aceita, aceitar, aceite, aceito, alto, aspas, baixo, branco, confirmado, confirmar, confirme, definitivo, desfazer, desfeito, informado, irreversível, linha, médio, nada, não, oculto, recusa, recusada, recusado, recusar, recuse, reversível, risco, sim, vazia, vazio

expected-word = { $words } ou { $last }

expected-whole_number = um número inteiro de { $lowest } a { $highest }

expected-number = um número de { $lowest } a { $highest }

expected-languages = uma lista de códigos de idioma como en-GB

expected-texts = uma lista de textos

expected-text = um texto

## The language

language-name = português do Brasil

language-none = Este leitor não tem palavras em { $languages }. Ele fala { language-name }.

## Why a connection is closed, to the other side

close-producer_shutdown = O lado do agente está encerrando.

close-authentication_expired = A credencial deste leitor não vale mais. Conecte de novo com outra.

close-slow_consumer = O leitor não acompanha o ritmo. Conecte de novo para continuar de onde parou.

close-superseded = Outro leitor assumiu.

close-subscriber_shutdown = O leitor parou.

close-rate_violation = O leitor enviou demais.

close-protocol_error = O leitor enviou o que não é permitido.

close-manifest_invalid = Uma prova não pôde ser verificada.

close-hub_shutdown = O ponto de ligação está encerrando.
