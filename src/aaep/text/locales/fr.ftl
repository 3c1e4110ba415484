# checked-by-speaker: no
# language: fr

## The work

started = Commencé.

part = Partie de : { $parent }

completed = Fait.

ended = Terminé.

undone = { $action } : cela n'a pas été fait.

undone-more =
    { $count ->
        [one] { $count } autre action n'a pas été faite.
       *[other] { $count } autres actions n'ont pas été faites.
    }

possible = { $action } : cela a peut-être été fait.

possible-more =
    { $count ->
        [one] { $count } autre action a peut-être été faite.
       *[other] { $count } autres actions ont peut-être été faites.
    }

possible-check = Vérifiez avant de réessayer.

undone-failed = { $action } : cela a échoué.

undone-failed-more =
    { $count ->
        [one] { $count } autre action a échoué.
       *[other] { $count } autres actions ont échoué.
    }

failed-check = Vérifiez ce qui a été fait avant de réessayer.

errored = Échec.

cancelled = Arrêté.

unfinished = Le travail n'est pas fini.

tools =
    { $count ->
        [one] { $count } outil utilisé.
       *[other] { $count } outils utilisés.
    }

took = Cela a pris { $duration }.

takes = Cela prend environ { $duration }.

left = Encore { $duration } environ.

by-user = Arrêté par la personne qui utilise l'agent.

by-producer = L'agent l'a arrêté.

by-timeout = Cela a pris trop de temps.

by-system = Le système l'a arrêté.

partial = Jusqu'ici : { $result }

code = Code d'erreur { $code }.

category-transient = Réessayer peut aider.

category-permanent = Réessayer ne servira à rien.

category-requires_user = Vous devez d'abord faire quelque chose.

hint-transient = Réessayer plus tard peut aider.

hint-permanent = Réessayer ne servira à rien. Prévenez les responsables de l'agent.

hint-requires_user = Vérifiez si l'agent a le droit de faire cela, puis réessayez.

hint-unknown = Réessayez. En cas de nouvel échec, prévenez les responsables de l'agent.

lost = L'agent s'est arrêté de façon inattendue. Le travail n'est pas fini.

lost-hint = Vérifiez ce qui a été fait avant de le relancer.

lost-detailed = L'agent s'est arrêté de façon inattendue. Le travail n'est pas fini. Ce qu'il avait commencé a peut-être été fait.

handoff-human = Transfert à une personne.

handoff-specialist_agent = Transfert à un autre agent.

handoff-escalation_queue = Transfert en cours. Quelqu'un s'en chargera.

handoff-other = Transfert en cours.

not_taken = Personne n'a pris le relais.

## What goes on

state-idle = Aucune activité.

state-thinking = Réflexion.

state-thinking-detailed = Réflexion sur la suite.

state-calling_tool = Utilisation d'un outil.

state-writing_output = Rédaction.

state-awaiting_input = En attente de votre réponse.

state-deciding = Décision en cours.

state-deciding-detailed = Décision en cours sur la façon de continuer.

state-handing_off = Transfert en cours.

state-other = Maintenant : { $state }.

state-unnamed = Autre chose maintenant.

resync = Mise à jour.

percent = { $percent } pour cent.

step = Étape { $step }.

step-of = Étape { $step } sur { $total }.

progress-none = Le travail continue.

invoked = Appel : { $tool }.

tool = un outil

with = Avec { $arguments }.

undo-warning = Ceci ne peut pas être annulé.

success = { $tool } : terminé.

stopped = { $tool } : arrêté.

stopped-early = { $tool } : arrêté avant la fin.

success-summary = { $call } : fait.

error-unnamed = une erreur

error-mistake = une faute de l'agent

error-several =
    { $count ->
        [one] { $count } erreur : { $name }
       *[other] { $count } erreurs : { $name } et d'autres
    }

error = { $call } a échoué.

error-reason = { $call } a échoué : { $reason }

timeout = { $call } : cela n'est pas allé au bout. Cela a peut-être été fait. Vérifiez avant de réessayer.

status = L'état signalé est { $status }.

skipped = { $action } : cela n'a pas été fait, car l'agent a cessé d'attendre.

says = { $agent } :

says-quoted = Citation de { $agent } :

agent = L'agent

agent-named = L'agent { $name }

session = { $work } : { $text }

notice = Avis.

notice-type = Quelque chose que ce lecteur ne connaît pas : { $type }.

incomplete = Message incomplet.

incomplete-prompt = Il est impossible d'accepter ou de répondre ici.

cut =
    { $count ->
        [one] Texte coupé, reste { $count } caractère.
       *[other] Texte coupé, restent { $count } caractères.
    }

## Prompts

confirm = Confirmez.

action-none = L'agent ne dit pas ce qu'il ferait.

consequence = Si vous acceptez : { $consequence }

consequence-none = L'agent ne dit pas ce qui se passerait.

consequence-unstated = Personne n'a indiqué ce que cela change. Considérez-le comme définitif.

consequence-unknown = Ce que cela change n'est pas indiqué.

consequence-again = Effet non indiqué.

risk-low = Risque faible

risk-medium = Risque moyen

risk-high = Risque élevé

risk-none = Risque non indiqué : considérez-le comme élevé

risk-unstated = Risque non précisé

undo-irreversible = ne peut pas être annulé

undo-reversible_with_effort = peut être annulé avec effort

undo-reversible = peut être annulé

undo-none = annulation non indiquée

risk = { $risk }, { $undo }.

default-reject = Sera refusé après { $duration } sans réponse.

default-accept = Sera accepté après { $duration } sans réponse.

default-reject-short = Sera refusé après { $duration }.

default-accept-short = Sera accepté après { $duration }.

expired = Le délai de réponse est écoulé.

unrefusable = Refuser n'est pas proposé.

unacceptable = Accepter n'est pas proposé.

uncut = Écoutez tout le texte avant de pouvoir accepter : { $key }.

uncut-plain = Écoutez tout le texte avant de pouvoir accepter.

rest = Suite : { $text }

rest-action = Suite de l'action : { $text }

rest-consequence = Suite de ce qui se passe si vous acceptez : { $text }

key = { $key } { $effect }

key-accept = accepter

key-reject = refuser

key-yes = oui

key-no = non

key-more = plus de détails

key-time = plus de temps

key-close = quitter

write = Écrivez { $words } ou { $last }.

write-one = Écrivez { $word }.

question = Question.

question-none = L'agent ne dit pas ce qu'il demande.

why = Pourquoi : { $reason }

choice = { $number } : { $label }

kind-freetext = Répondez avec vos propres mots.

kind-yes_no = Répondez { word-yes } ou { word-no }.

kind-numeric = Répondez par un nombre.

time = { $duration } pour répondre.

time-default = { $duration } pour répondre, sinon : { $answer }

longer = Vous avez maintenant { $duration }.

countdown = Encore { $duration } pour répondre. { $action }

time_left = Encore { $duration } pour répondre.

again = De nouveau.

still = Votre réponse est toujours attendue.

other = Une autre demande attend votre réponse.

prompt-waiting = Une autre question est en attente.

about = Il s'agissait de ceci : { $action }

flood = Beaucoup de messages urgents arrivent. Désormais ils attendent leur tour.

## Values in what is asked

tool-use = Utiliser { $tool }.

with-nothing = rien de plus

value-quoted = guillemets { $value } fin de guillemets

value-word = le mot { $word }

value-line = ligne { $number } : { $text }

value-ending = numéro se terminant par { $digits }

value-empty = texte vide

value-blank = texte fait d'espaces

value-invisible = caractère invisible { $character }

value-private = caractère privé { $character }

value-unknown = caractère inconnu { $character }

value-times =
    { $count ->
        [one] { $character }
       *[other] { $character }, { $count } fois
    }

value-none = rien

value-yes = oui

value-no = non

value-items =
    { $count ->
        [0] liste vide
        [one] { $count } élément : { $items }
       *[other] { $count } éléments : { $items }
    }

value-entries =
    { $count ->
        [0] aucune entrée
        [one] { $count } entrée : { $items }
       *[other] { $count } entrées : { $items }
    }

value-parts =
    { $count ->
        [0] aucune partie
        [one] { $count } partie : { $items }
       *[other] { $count } parties : { $items }
    }

value-bytes =
    { $count ->
        [one] { $count } octet
       *[other] { $count } octets
    }

value-digest = { $size }, SHA-256 commence par { $digest }

value-other = une chose de type { $kind }

## Outcomes of prompts

outcome-accepted = Accepté.

outcome-rejected = Refusé.

outcome-answered = Réponse donnée.

outcome-accepted-elsewhere = Accepté ailleurs.

outcome-rejected-elsewhere = Refusé ailleurs.

outcome-answered-elsewhere = Réponse donnée ailleurs.

outcome-timed_out = Temps écoulé.

outcome-withdrawn = Ce n'est plus demandé.

outcome-unavailable = Il ne reste personne pour répondre.

outcome-no_reply_channel = Personne ne peut répondre.

outcome-other = La demande est close.

outcome-modified = Autre chose est souhaité. L'agent doit redemander.

outcome-granted = Cela compte comme accepté.

outcome-defaulted = L'agent continue avec la réponse qu'il a indiquée.

outcome-unanswered = L'agent continue sans réponse.

outcome-longer = Il y a plus de temps. La question est reposée.

## Markdown

markdown-heading = Titre : { $text }

markdown-bullet = Puce : { $text }

markdown-bullet-nested = Sous-puce : { $text }

markdown-number = { $number } : { $text }

markdown-checked = Coché : { $text }

markdown-unchecked = Non coché : { $text }

markdown-quote = Citation : { $text }

markdown-code = Code

markdown-coming = en cours

markdown-lines =
    { $count ->
        [one] { $count } ligne
       *[other] { $count } lignes
    }

markdown-table = Tableau : { $columns }.

markdown-cell = { $column } : { $cell }

markdown-image = Image : { $text }

markdown-picture = Image

## The connection

connected = Connexion établie.

connected-name = Connexion établie avec { $agent }.

reconnected = Connexion rétablie.

gap = Connexion rétablie. Quelque chose a été manqué entre-temps.

connection-lost = La connexion est perdue. { $reason }

retrying =
    { $seconds ->
        [one] { $reason } Nouvel essai dans { $seconds } seconde.
       *[other] { $reason } Nouvel essai dans { $seconds } secondes.
    }

gave_up = Abandon après { $duration } sans connexion. { $reason }

resume-slow_consumer = Nous n'allions pas assez vite, et reprenons là où nous étions.

resume-authentication_expired = Notre identifiant a expiré. Nous présentons celui que nous avons maintenant, et reprenons là où nous étions.

absent = { $agent } n'est pas joignable pour le moment.

absent-terse = { $agent } n'est pas joignable.

absent-asking = Votre réponse lui parviendra à son retour.

returned = { $agent } est de nouveau joignable.

waiting = En attente. Cela continue tout seul.

connection-ended = La connexion est définitivement terminée. { $reason }

unreadable = Quelque chose d'illisible est arrivé. Si l'agent demande quelque chose, il attend peut-être une réponse.

no_answers = L'agent n'accepte pas de réponses de ce lecteur.

proven = C'est { $agent }, avec la signature de la clé { $key }.

unproven = Identité non prouvée.

unproven-local = La signature est celle de { $agent } avec la clé { $key }, mais une autre personne qui utilise cette machine pourrait la présenter.

refused = L'agent a refusé la connexion : { $reason }

refused-code = L'agent a refusé la connexion, { $code } : { $reason }

refused-code-only = L'agent a refusé la connexion, { $code }.

closed-producer_shutdown = { $agent } a pris fin.

closed-authentication_expired = Votre accès a expiré. Reconnectez-vous avec un nouvel accès.

closed-slow_consumer = Ce lecteur était trop lent. Reconnectez-vous pour reprendre là où il s'est arrêté.

closed-superseded = Un autre lecteur a pris le relais.

closed-subscriber_shutdown = Ce lecteur s'est arrêté.

closed-rate_violation = Ce lecteur a trop envoyé.

closed-protocol_error = Ce lecteur a envoyé quelque chose qui n'est pas permis.

closed-manifest_invalid = L'autre côté n'a pas pu prouver qui il est.

closed-other = { $agent } a mis fin à la connexion : { $reason }.

arrived = Nouvel agent : { $agent }.

discover-none = Aucun agent n'est encore en marche. Chaque agent qui démarre est écouté.

reconnected-name = Connexion rétablie avec { $agent }.

gap-name = Connexion rétablie avec { $agent }. Quelque chose a été manqué entre-temps.

connection-lost-name = La connexion avec { $agent } est perdue. { $reason }

connection-ended-name = La connexion avec { $agent } est définitivement terminée. { $reason }

waiting-name = En attente de { $agent }. Cela continue tout seul.

no_answers-name = { $agent } n'accepte pas de réponses de ce lecteur.

unread-name = Cela concerne { $agent }.

asker-gone = Il n'y a plus de connexion avec l'agent qui a posé la question.

## Why a connection is refused

refused-version_unsupported = il ne parle aucune version du protocole que nous parlons.

refused-manifest_invalid = une preuve n'a pas pu être vérifiée.

refused-manifest_signature_required = il n'a pas de preuve signée de qui il est.

refused-capabilities_incompatible = il ne peut pas donner ce que nous avons demandé.

refused-rate_limit = on lui demande trop pour le moment.

refused-authentication_required = il ne sait pas qui nous sommes.

refused-authentication_expired = notre identifiant a expiré.

refused-authorization_denied = nous n'avons pas accès.

refused-transport_unavailable = il ne peut pas être utilisé de cette façon pour le moment.

refused-unknown = il ne donne pas de raison.

refused-slow_consumer = nous n'allions pas assez vite.

refused-rate_violation = nous avons trop envoyé.

refused-protocol_error = nous avons envoyé ce que le protocole ne permet pas.

advice-version_unsupported = Utilisez une version de cette bibliothèque qui parle la sienne.

advice-manifest_invalid = Demandez aux responsables de l'agent une preuve vérifiable.

advice-manifest_signature_required = Demandez aux responsables de l'agent une preuve signée de qui il est.

advice-capabilities_incompatible = Demandez moins, ou une langue proposée.

advice-rate_limit = Réessayez plus tard.

advice-authentication_required = Donnez un identifiant valide avec { $options }.

advice-authentication_expired = Reconnectez-vous avec un nouvel identifiant.

advice-authorization_denied = Demandez l'accès aux responsables de l'agent.

advice-transport_unavailable = Réessayez plus tard, ou utilisez un autre moyen de connexion.

advice-slow_consumer = Demandez moins, ou lisez plus vite.

advice-rate_violation = Envoyez moins de réponses et de changements.

advice-unknown = Demandez aux responsables de l'agent ce que cela veut dire.

## At the terminal

attention = Attention. { $text }

greeting-keys = Appuyez sur ? pour l'aide, q pour quitter.

greeting-lines = Écrivez { command-help } puis Entrée pour l'aide.

greeting-pipe = Non interactif : les commandes sont lues sur l'entrée standard, une par ligne.

greeting-none = Non interactif : les demandes seront affichées et resteront sans réponse.

prompts-shown = Les demandes seront affichées et resteront sans réponse.

input-ended = L'entrée standard est terminée. L'écoute continue.

goodbye = Fin de l'écoute.

goodbye-open =
    { $count ->
        [one] { $count } question est restée sans réponse.
       *[other] { $count } questions sont restées sans réponse.
    }

other_session = Un autre travail demande quelque chose qui n'est pas affiché ici.

typed_before = Ce qui a été tapé avant cette ligne ne compte pas.

draft = Vous étiez en train d'écrire : { $text }

nothing_said = Rien n'a encore été dit.

nothing_before = Rien n'a été dit avant cela.

nothing_after = C'était le dernier message.

backlog =
    { $count ->
        [one] { $count } nouvelle de plus.
       *[other] { $count } nouvelles de plus.
    }

quiet-begin = Ne pas déranger. Seuls les questions et les avertissements sont dits.

quiet-end =
    { $count ->
        [0] Rien ne s'est passé entre-temps.
        [one] { $count } nouvelle entre-temps.
       *[other] { $count } nouvelles entre-temps.
    }

quiet-hear-key = Appuyez sur f pour la première.

quiet-hear-line = Écrivez { command-forward } pour la première.

verbosity =
    { $verbosity ->
        [terse] Verbosité : brève.
        [detailed] Verbosité : détaillée.
       *[normal] Verbosité : normale.
    }

asking_time = Demande de { $duration }.

sending-accept = Envoi : accepter.

sending-reject = Envoi : refuser.

sending = Envoi : { $answer }

no_time = L'agent n'accorde pas plus de temps.

unsent = L'envoi n'a pas pu se faire. { $reason }

still_open = La demande est toujours ouverte.

may_have_arrived = Cela a pris trop de temps, et c'est peut-être arrivé ou non.

not_connected = Il n'y a pas encore de connexion.

speech-paused = La parole est en pause.

speech-nothing = Rien n'est en train d'être dit.

speech-gone = La parole est perdue. Le texte continue ici.

speech-back = La parole est revenue.

speech-no_voice = Pas de voix pour { $language } ici. La lecture se fait avec la voix pour { $other }.

speech-none = Rien n'est dit à voix haute ici.

speech-unavailable = Speech Dispatcher ne répond pas. Installez-le ou démarrez-le.

speech-none-prism = Il faut la bibliothèque Prism. Installez-la avec : pip install prismatoid.

speech-address = SPEECHD_ADDRESS vaut { $address }. Écrivez unix_socket:path ou inet_socket:host:port.

speech-refused = Speech Dispatcher ne connaît pas { $value }.

braille-unavailable = Rien ne répond à { $address }. Démarrez BRLTTY ou définissez BRLAPI_HOST. Sous Debian : apt install brltty.

braille-library = Le braille a besoin de liblouis, qui n'est pas installé. Sous Debian : apt install liblouis20 liblouis-data.

speech-rate = { $count } mots par minute.

## Answering

help-keys = Touches : a accepte, r refuse, m en dit plus, s le répète, o passe à la prochaine demande ouverte.

help-keys-more = v change la quantité de détails, t demande plus de temps, q quitte, ? dit ceci.

help-keys-history = b va en arrière, f en avant. s deux fois dit tout. d est ne pas déranger.

help-second-key = Accepter demande une deuxième touche s'il y a un risque, ou si plusieurs demandes sont ouvertes.

help-second-line = Accepter demande une deuxième ligne s'il y a un risque, ou si plusieurs demandes sont ouvertes.

help-answer = Répondez à une question par son numéro, ou par y ou n, puis Entrée.

help-freetext = Pour répondre avec vos propres mots, appuyez sur Entrée, écrivez, et appuyez de nouveau sur Entrée.

help-lines = Commandes, une par ligne : { command-accept }, { command-reject }, { command-more }, { command-repeat }, { command-next }, { command-verbosity }, { command-time }, { command-quit }, { command-help }.

help-lines-history = Avec { command-back } et { command-forward } vous parcourez ce qui a été dit. Avec { command-repeat } deux fois vous entendez tout. Avec { command-quiet } on ne vous dérange pas.

help-next = Avec { command-next } vous passez à la prochaine demande ouverte.

help-answer-lines = Répondez à une question par son numéro, { word-yes }, { word-no }, ou vos propres mots.

help-command-answer = Les mots qui sont des commandes s'envoient comme réponse avec { command-answer } devant.

several_open =
    { $count ->
        [one] { $count } demande est ouverte. Vous répondez maintenant à celle-ci. { $hint }
       *[other] { $count } demandes sont ouvertes. Vous répondez maintenant à celle-ci. { $hint }
    }

prompt-hear-key = Appuyez sur o pour l'entendre.

prompt-hear-line = Écrivez { command-next } pour l'entendre.

next-key = Appuyez sur o pour la demande suivante.

next-line = Écrivez { command-next } pour la demande suivante.

still_answering = Vous répondez toujours à ceci : { $action }

draft-unsent = Ce que vous écriviez n'a pas été envoyé : { $text }

accept-void = Rien n'a été accepté ici.

accept-taken_back = Annulé. Rien n'a été accepté.

accept-second-key = Pas encore accepté. Appuyez sur y pour accepter ceci : { $action } Toute autre touche l'annule.

accept-second-key-long = Pas encore accepté. Appuyez sur y pour accepter ce qui commence ainsi : { $action } Toute autre touche l'annule.

accept-second-line = Pas encore accepté. Écrivez { word-yes } pour accepter ceci : { $action } Toute autre ligne l'annule.

accept-second-line-long = Pas encore accepté. Écrivez { word-yes } pour accepter ce qui commence ainsi : { $action } Toute autre ligne l'annule.

leaving-open =
    { $count ->
        [one] { $count } question est ouverte.
       *[other] { $count } questions sont ouvertes.
    }

leaving-keys =
    { $count ->
        [one] Appuyez sur l pour la laisser ouverte, Échap pour rester.
       *[other] Appuyez sur l pour les laisser ouvertes, Échap pour rester.
    }

leaving-keys-refuse =
    { $count ->
        [one] Appuyez sur r pour la refuser et partir, l pour la laisser ouverte, Échap pour rester.
       *[other] Appuyez sur r pour les refuser et partir, l pour les laisser ouvertes, Échap pour rester.
    }

leaving-keys-some = Appuyez sur r pour n'en refuser que { $count } et partir, l pour les laisser toutes ouvertes, Échap pour rester.

leaving-lines =
    { $count ->
        [one] Écrivez { command-leave } pour la laisser ouverte, { command-stay } pour rester.
       *[other] Écrivez { command-leave } pour les laisser ouvertes, { command-stay } pour rester.
    }

leaving-lines-refuse =
    { $count ->
        [one] Écrivez { command-refuse } pour la refuser et partir, { command-leave } pour la laisser ouverte, { command-stay } pour rester.
       *[other] Écrivez { command-refuse } pour les refuser et partir, { command-leave } pour les laisser ouvertes, { command-stay } pour rester.
    }

leaving-lines-some = Écrivez { command-refuse } pour n'en refuser que { $count } et partir, { command-leave } pour les laisser toutes ouvertes, { command-stay } pour rester.

stay = Vous restez. Aucune réponse n'a été donnée.

keys-several = Plusieurs touches sont arrivées à la fois. Aucune ne compte. Appuyez sur une seule touche à la fois.

keys-unknown = La touche { $key } ne fait rien ici. Appuyez sur ? pour l'aide.

keys-too_soon = Cette touche est arrivée trop tôt et ne compte pas. Attendez un instant, puis appuyez une fois.

draft-begin = Écrivez votre réponse. Entrée l'envoie. Échap la laisse sans l'envoyer.

draft-empty = Rien n'a été écrit. Rien n'a été envoyé.

draft-left = Abandonné. Rien n'a été envoyé.

draft-removed = Ce que vous aviez écrit a été effacé. Écrivez votre réponse.

enter-prompt = Entrée seule ne répond à rien. Appuyez sur s pour réentendre la demande.

enter-nothing = Il n'y a rien à quoi répondre. Appuyez sur ? pour l'aide.

line-empty = Une ligne vide ne répond à rien.

line-no_prompt = Il n'y a pas de demande, donc cette ligne ne répond à rien. Écrivez { command-help } pour l'aide.

line-unknown = Cette ligne n'a pas été comprise. Rien n'a été envoyé. Écrivez { command-accept }, { command-reject } ou { command-help }.

no_other = Aucune autre demande n'est ouverte.

no_more_time = Il n'est pas possible d'avoir plus de temps.

time_asked = Plus de temps a déjà été demandé.

cannot_reply = Ce lecteur ne peut pas répondre aux demandes. Rien n'a été envoyé.

answer_sent = Votre réponse a été envoyée. Attendez ce que dit l'agent.

nothing_to-accept = Il n'y a rien à accepter.

nothing_to-reject = Il n'y a rien à refuser.

nothing_to-answer = Il n'y a rien à quoi répondre.

nothing_to-time = Il n'y a rien pour quoi demander plus de temps.

another_open = Une autre demande est ouverte. { $hint }

is_question = C'est une question. { $hint }

answer-word = Pour envoyer ce mot comme réponse, écrivez { command-answer } devant.

answer-freetext = Appuyez sur Entrée, écrivez votre réponse, et appuyez de nouveau sur Entrée.

answer-own_words = Appuyez sur Entrée avant d'écrire vos propres mots.

answer-impossible = On ne peut pas répondre ici à cette question.

answer-forms = Répondez par { $forms }, puis Entrée.

answer-or = { $first } ou { $second }

answer-number = Un nombre qui n'est pas un choix s'écrit avec = devant.

answer-unsent = Rien n'a été envoyé. { $hint }

form-multiple_choice = le numéro d'un choix

form-yes_no = { word-yes } ou { word-no }

form-numeric = un nombre

form-freetext = vos propres mots

help-speech = Espace arrête la parole, p la met en pause et la reprend, k saute à l'instant présent, le point va plus vite, la virgule plus lentement.

help-speech-lines = Avec { command-silence } la parole s'arrête, avec { command-pause } elle se met en pause et reprend, avec { command-skip } elle saute à l'instant présent. Il y a aussi { command-faster } et { command-slower }.

line-too_soon = C'est arrivé trop tôt et ne compte pas. Écoutez d'abord la demande jusqu'au bout.

## Settings

settings-line = La ligne { $line } des paramètres est illisible et ne compte pas : { $text }

settings-repeated = La ligne { $line } des paramètres nomme { $setting } une deuxième fois. C'est la première qui compte.

settings-unknown = La ligne { $line } des paramètres nomme { $setting }, qui n'est pas un paramètre.

settings-similar = Vouliez-vous dire { $setting } ?

settings-value = La ligne { $line } des paramètres ne compte pas : { $setting } doit être { $expected }.

settings-variable = La variable { $variable } ne compte pas. Elle doit être { $expected }.

settings-more =
    { $count ->
        [one] { $count } autre ligne des paramètres ne compte pas.
       *[other] { $count } autres lignes des paramètres ne comptent pas.
    }

settings-unreadable = Les paramètres sont illisibles, donc les valeurs par défaut s'appliquent. { $reason }

settings-missing = Il n'y a pas de fichier { $file }, donc les valeurs par défaut s'appliquent.

settings-encoding = La ligne { $line } contient des caractères qui ne sont pas de l'UTF-8.

settings-unsafe = D'autres comptes de cette machine peuvent modifier { $file }, donc les valeurs par défaut s'appliquent. Exécutez chmod go-w sur ce fichier.

settings-stranger = { $file } appartient à un autre compte, donc les valeurs par défaut s'appliquent.

settings-allow = Les règles de vos paramètres sont illisibles, donc tout vous est demandé. { $reason }

## Words for sounds

earcon-sent = Envoyé.

earcon-working = Au travail.

earcon-done = Fini.

earcon-needs-you = À vous.

earcon-error = Erreur.

## Coding agents

code-started = { $agent } est au travail.

code-run = Exécuter { $command }.

code-create = Créer { $file }, { $size } : { $text }.

code-change = Modifier { $file } : { $added } en plus, { $removed } en moins.

code-change-nothing = Réécrire { $file } sans changement.

code-hunk-add = À la ligne { $line }, ajouter { $text }.

code-hunk-remove = À la ligne { $line }, supprimer { $text }.

code-hunk-replace = À la ligne { $line }, remplacer { $old } par { $new }.

code-hunk-blank = Seuls des espaces ou des sauts de ligne y changent.

code-own_words = L'agent ne dit pas ce qu'il exécute, seulement ceci : { $text }.

code-effect-run = Cela s'exécute avec tous vos droits.

code-effect-change = Le fichier est écrit.

code-effect-delete = C'est perdu, sauf si vous en avez une copie.

code-effect-move = Cela se trouve ensuite ailleurs.

code-effect-read = L'agent et son modèle le lisent.

code-effect-search = L'agent et son modèle lisent ce qui est trouvé.

code-effect-think = Rien n'est changé.

code-effect-fetch = L'adresse et ce qui y est envoyé quittent cette machine.

code-effect-switch_mode = Dès lors, l'agent vous consultera peut-être pour moins de choses.

code-effect-other = On ne sait pas ce que cela change. Considérez-le comme définitif.

code-running = Exécution de { $command }.

code-creating = Création de { $file }.

code-changing = Modification de { $file }.

code-reading = Lecture de { $file }.

code-searching = Recherche de { $text }.

code-described = Selon ses propres mots : { $text }.

code-using = Utilisation de { $tool }.

code-ruled = Autorisé par votre propre règle. { $text }

code-unasked = Avertissement. L'agent a fait ceci sans demander : { $text }

code-unasked-failed = Avertissement. L'agent a essayé ceci sans demander, et cela a échoué : { $text }

code-despite = Avertissement. L'agent a fait ceci malgré un refus : { $text }

code-stopping = Arrêt de l'agent en cours.

code-undescribed = quelque chose qui ne peut pas être décrit

code-too_long = Refusé : c'est trop long pour être lu en entier. { $text } Demandez des étapes plus petites.

code-unreadable = Refusé : cela ne peut pas être lu en entier, car cela semble contenir un secret. { $text }

code-unofferable = Refusé : l'agent ne propose aucun moyen de n'autoriser cela qu'une seule fois. { $text }

code-between = Refusé : l'agent a demandé cela alors qu'il n'était pas au travail. { $text }

code-mode = Mode : { $mode }.

code-mode-unasked = Avertissement. Dans le mode { $mode }, l'agent agit sans demander.

code-mode-back = Le mode précédent est rétabli.

code-mode-unknown = On ne sait pas si cet agent demande avant d'agir. Ce qu'il fait sans demander est annoncé, et l'arrête.

code-subagent = Agent auxiliaire { $name } : { $state }.

code-stop-refusal = Le modèle refuse de continuer.

code-stop-max_tokens = La réponse est devenue trop longue pour le modèle.

code-stop-max_turn_requests = L'agent a fait plus d'étapes que permis.

code-stop-other = L'agent s'est arrêté et ne dit pas pourquoi.

code-stop-error = L'agent signale une erreur.

code-stop-gone = Le programme de l'agent a pris fin.

code-stop-stuck = L'agent ne s'est pas arrêté, donc on a mis fin à son programme.

code-stop-fault = Quelque chose a échoué dans ce programme, donc l'agent a été arrêté.

code-refused = L'agent a mis fin à son tour après un refus.

compose-begin = Écrivez à l'agent. Entrée envoie le texte. Échap le garde pour plus tard.

compose-left = Mis de côté. Appuyez sur p pour continuer.

compose-left-empty = Abandonné. Rien n'a été écrit.

compose-removed = La ligne a été effacée.

compose-joined = La ligne d'avant :

compose-history-none = Rien n'a encore été envoyé.

compose-help = p ou Entrée sert à écrire à l'agent. Une barre oblique inversée à la fin commence une autre ligne.

compose-help-history = h liste ce que vous avez envoyé. La flèche haut le rappelle. @nom désigne un fichier.

compose-help-lines = Toute autre ligne est envoyée à l'agent, de même après le mot prompt. Le mot history liste ce que vous avez envoyé.

code-ready = Tout est prêt. Appuyez sur p pour écrire à { $agent }.

code-ready-lines = Tout est prêt. Écrivez à { $agent }.

code-queued = Encore au travail. Ceci sera envoyé ensuite.

code-interrupt = Arrêt en cours. Appuyez de nouveau sur Contrôle+C pour quitter.

code-interrupt-idle = Appuyez de nouveau sur Contrôle+C pour quitter.

code-file = Avec le fichier { $file }.

code-file-missing = Il n'y a pas de fichier { $file } ici. Cela a été envoyé comme un simple mot.

code-error = L'agent dit : { $text }

code-last_words = Voici ses derniers mots.

code-hint-again = Écrivez-lui de nouveau pour continuer.

code-editor-allowed = Autorisé dans l'éditeur. { $text }

code-editor-refused = Refusé dans l'éditeur.

code-editor-done = Fini : { $text }

code-editor-failed = Échec : { $text }

code-editor-only = On ne peut répondre à ceci que dans l'éditeur. { $text }

code-editor-fault = Quelque chose a échoué dans ce programme. L'agent continue avec l'éditeur.

code-editor-gone = L'éditeur a pris fin.

code-run-long = Exécuter une commande de { $size }.

code-create-long = Créer { $file }, { $size }.

code-write-long = Écrire { $file }, { $size }.

code-edit-long = Dans { $file }, remplacer { $removed } par { $added }.

code-kilobytes =
    { $count ->
        [one] { $count } kilooctet
       *[other] { $count } kilooctets
    }

code-parts =
    { $count ->
        [one] { $overview } Cela fait { $size }, en { $count } partie. Rien n'est fait tant que vous ne l'avez pas entendue. Continuer ?
       *[other] { $overview } Cela fait { $size }, en { $count } parties. Rien n'est fait tant que vous ne les avez pas toutes entendues. Continuer ?
    }

code-part = Partie { $number } sur { $count }. { $text } Continuer ?

code-part-last = { $overview } C'est la dernière des { $count } parties. { $text }

code-part-line = La suite commence à la ligne { $line }, comptée ici de nouveau à partir de 1 : { $text }

code-part-word = Suite dans la ligne { $line } : { $text }

code-part-middle = Suite dans la ligne { $line }, au milieu d'un mot : { $text }

code-part-refused = Refusé. Rien n'a été fait. { $text }

## Braille

braille-no_table = Il n'y a pas de table braille pour la langue { $language }. Les lettres anglaises sont utilisées.

braille-marks = En braille, le point 8 marque une lettre qui porte un signe absent de la table.

braille-lost = L'afficheur braille n'est plus là. L'affichage reprendra à son retour.

braille-back = L'afficheur braille est revenu.

braille-read_on = Lisez d'abord jusqu'à la fin, ensuite vous pourrez accepter.

braille-choice = Entrée envoie { $choice }

## Hooks of coding agents

hooks-started = { $agent } est au travail.


hooks-write = Écrire { $file }, { $size } : { $text }.

hooks-edit = Dans { $file }, remplacer { $old } par { $new }.

hooks-edit-all = Dans { $file }, remplacer partout { $old } par { $new }.






hooks-terminal = Répondez dans son terminal. { $text }

hooks-terminal-unread = Répondez dans son terminal. L'agent veut utiliser { $tool }, et cela ne peut pas être lu en entier.

hooks-refused-unread = Refusé. L'agent veut utiliser { $tool }, et cela ne peut pas être lu en entier.

hooks-terminal-allowed = Autorisé dans son terminal. { $text }

hooks-unasked = Avertissement. L'agent a fait ceci sans demander. { $text }

hooks-despite = Avertissement. L'agent a fait ceci malgré un refus. { $text }

hooks-undescribed = L'agent a utilisé { $tool }, et cela ne peut pas être lu.

hooks-next = Une autre consigne est arrivée.

hooks-idle = { $agent } attend votre prochaine consigne.

hooks-closed = Le programme { $agent } a été fermé.

## Falling behind

behind-key = La parole a du retard : { $duration } en attente. Appuyez sur k pour sauter à l'instant présent.

behind-line = La parole a du retard : { $duration } en attente. Écrivez { command-skip } pour sauter à l'instant présent.

behind-skipped = Messages sautés : { $count }.

behind-nothing = Rien à sauter. C'est l'instant présent.

## Notifications of the desktop

greeting-daemon = Écoute en arrière-plan.

notifications-none = Il n'y a pas de notifications ici : aucun service du bureau ne répond.

notifications-gone = Les notifications ont pris fin : le bureau s'est fermé.

notification-answer = Répondez dans un terminal : aaep listen

notification-title = Question de { $agent }

notification-accept = Accepter

notification-reject = Refuser

## Durations

duration-moment = moins d'une seconde

duration-days =
    { $count ->
        [one] { $count } jour
       *[other] { $count } jours
    }

duration-hours =
    { $count ->
        [one] { $count } heure
       *[other] { $count } heures
    }

duration-minutes =
    { $count ->
        [one] { $count } minute
       *[other] { $count } minutes
    }

duration-seconds =
    { $count ->
        [one] { $count } seconde
       *[other] { $count } secondes
    }

duration-pair = { $first } et { $second }

## Words that a person writes

command-accept = accepter

command-reject = refuser

command-refuse = refuser

command-more = plus

command-repeat = redire

command-next = suivante

command-back = retour

command-forward = avancer

command-quiet = discret

command-verbosity = niveau

command-time = temps

command-quit = quitter

command-help = aide

command-answer = réponse

command-leave = laisser

command-stay = rester

word-yes = oui

word-no = non

command-silence = taire

command-pause = pause

command-skip = sauter

command-faster = vite

command-slower = lent

## Putting words together

list = { $first }, { $second }

list-long = { $first } ; { $second }

decimal-sign = ,

value-marks = guillemet, guillemets

value-own_words = accepte, acceptée, accepté, accepter, acceptez, annulation, annulé, annuler, confirmé, confirmer, confirmez, définitif, élevé, espaces, faible, guillemet, guillemets, inconnu, indiqué, irréversible, ligne, masqué, moyen, non, oui, précisé, refuse, refusé, refusée, refuser, refusez, réversible, rien, risque, vide

expected-word = { $words } ou { $last }

expected-whole_number = un nombre entier de { $lowest } à { $highest }

expected-number = un nombre de { $lowest } à { $highest }

expected-languages = une liste de codes de langue comme en-GB

expected-texts = une liste de textes

expected-text = un texte

## The language

language-name = français

language-none = Ce lecteur n'a pas de mots pour { $languages }. Il parle { language-name }.

## Why a connection is closed, to the other side

close-producer_shutdown = Le côté de l'agent s'arrête.

close-authentication_expired = L'identifiant de ce lecteur n'est plus valable. Reconnectez-vous avec un nouveau.

close-slow_consumer = Le lecteur ne suit pas. Reconnectez-vous pour reprendre là où il s'est arrêté.

close-superseded = Un autre lecteur a pris le relais.

close-subscriber_shutdown = Le lecteur s'est arrêté.

close-rate_violation = Le lecteur a trop envoyé.

close-protocol_error = Le lecteur a envoyé ce qui n'est pas permis.

close-manifest_invalid = Une preuve n'a pas pu être vérifiée.

close-hub_shutdown = Le relais s'arrête.
