# checked-by-speaker: no
# language: ja

## The work

started = 開始しました。

part = 次の作業の一部です：{ $parent }

completed = 完了しました。

ended = 終了しました。

undone = { $action }：実行されませんでした。

undone-more = ほかに{ $count }件が実行されませんでした。

possible = { $action }：実行された可能性があります。

possible-more = ほかに{ $count }件が実行された可能性があります。

possible-check = やり直す前に確かめてください。

undone-failed = { $action }：失敗しました。

undone-failed-more = ほかに{ $count }件が失敗しました。

failed-check = やり直す前に、何が実行されたかを確かめてください。

errored = 失敗です。

cancelled = 中止しました。

unfinished = 作業は終わっていません。

tools = { $count }個のツールを使いました。

took = { $duration }かかりました。

takes = およそ{ $duration }かかります。

left = 残りおよそ{ $duration }です。

by-user = 利用者が中止しました。

by-producer = エージェントが中止しました。

by-timeout = 時間がかかりすぎました。

by-system = システムが中止しました。

partial = ここまでの結果：{ $result }

code = エラーコード { $code }。

category-transient = やり直すとうまくいくかもしれません。

category-permanent = やり直してもうまくいきません。

category-requires_user = 先にあなたの操作が必要です。

hint-transient = 後でやり直すとうまくいくかもしれません。

hint-permanent = やり直してもうまくいきません。エージェントの管理者に知らせてください。

hint-requires_user = エージェントにこれが許可されているか確かめてから、やり直してください。

hint-unknown = やり直してください。また失敗したら、エージェントの管理者に知らせてください。

lost = エージェントが予期せず停止しました。作業は終わっていません。

lost-hint = もう一度始める前に、何が実行されたかを確かめてください。

lost-detailed = エージェントが予期せず停止しました。作業は終わっていません。始めていたことは実行された可能性があります。

handoff-human = 人に引き継いでいます。

handoff-specialist_agent = 別のエージェントに引き継いでいます。

handoff-escalation_queue = 引き継いでいます。誰かが対応します。

handoff-other = 引き継いでいます。

not_taken = 誰も引き継いでいません。

## What goes on

state-idle = 待機中です。

state-thinking = 考えています。

state-thinking-detailed = 次に何をするか考えています。

state-calling_tool = ツールを使っています。

state-writing_output = 書いています。

state-awaiting_input = あなたを待っています。

state-deciding = 決めています。

state-deciding-detailed = どう進めるか決めています。

state-handing_off = 引き継いでいます。

state-other = 今の状態：{ $state }。

state-unnamed = 今は別のことをしています。

resync = これまでの状況です。

percent = { $percent }パーセント。

step = ステップ{ $step }。

step-of = { $total }ステップ中の{ $step }。

progress-none = まだ作業中です。

invoked = { $tool } を呼び出しています。

tool = ツール

with = 内容は { $arguments }。

undo-warning = これは元に戻せません。

success = { $tool } が終わりました。

stopped = { $tool } は中止されました。

stopped-early = { $tool } は途中で打ち切られました。

success-summary = { $call }：完了。

error-unnamed = エラー

error-mistake = エージェントの不具合

error-several =
    { $count ->
       *[other] { $count }件のエラー：{ $name } など
    }

error = { $call } に失敗しました。

error-reason = { $call } に失敗しました：{ $reason }

timeout = { $call }：最後まで終わりませんでした。実行された可能性があります。やり直す前に確かめてください。

status = 報告された状態は { $status } です。

skipped = { $action }：エージェントが待つのをやめたため、行われませんでした。

says = { $agent }：

says-quoted = { $agent } からの引用：

agent = エージェント

agent-named = エージェント { $name }

session = { $work }：{ $text }

notice = お知らせ。

notice-type = このリーダーが知らないもの：{ $type }。

incomplete = 不完全なメッセージです。

incomplete-prompt = ここでは承認も回答もできません。

cut = ここで省略、残り{ $count }文字。

## Prompts

confirm = 確認が必要です。

action-none = エージェントは何をするのか示していません。

consequence = 承認すると：{ $consequence }

consequence-none = エージェントは何が起きるのか示していません。

consequence-unstated = これで何が変わるのか、誰も示していません。取り消せないものと考えてください。

consequence-unknown = これで何が変わるのかは示されていません。

consequence-again = 影響は示されていません。

risk-low = リスクは低い

risk-medium = リスクは中くらい

risk-high = リスクは高い

risk-none = リスクは示されていないので、高いと考えてください

risk-unstated = リスク不明

undo-irreversible = 元に戻せません

undo-reversible_with_effort = 手間をかければ元に戻せます

undo-reversible = 元に戻せます

undo-none = 元に戻せるかは不明

risk = { $risk }、{ $undo }。

default-reject = { $duration }以内に回答がなければ拒否されます。

default-accept = { $duration }以内に回答がなければ承認されます。

default-reject-short = { $duration }後に拒否されます。

default-accept-short = { $duration }後に承認されます。

expired = 回答できる時間は過ぎました。

unrefusable = 拒否は選べません。

unacceptable = 承認は選べません。

uncut = 承認する前に全文を聞いてください：{ $key }。

uncut-plain = 承認する前に全文を聞いてください。

rest = 続き：{ $text }

rest-action = 操作の続き：{ $text }

rest-consequence = 承認すると起きることの続き：{ $text }

key = { $key } { $effect }

key-accept = 承認

key-reject = 拒否

key-yes = はい

key-no = いいえ

key-more = 詳しく

key-time = 時間を延長

key-close = 終了

write = { $words } または { $last } と入力してください。

write-one = { $word } と入力してください。

question = 質問です。

question-none = エージェントは何を質問しているのか示していません。

why = 理由：{ $reason }

choice = { $number }：{ $label }

kind-freetext = 自分の言葉で答えてください。

kind-yes_no = { word-yes } か { word-no } で答えてください。

kind-numeric = 数字で答えてください。

time = 回答時間は{ $duration }です。

time-default = 回答時間は{ $duration }です。回答がなければ：{ $answer }

longer = 今の持ち時間は{ $duration }です。

countdown = 回答の残り時間は{ $duration }です。{ $action }

time_left = 回答の残り時間は{ $duration }です。

again = もう一度言います。

still = まだあなたを待っています。

other = 別のリクエストがあなたを待っています。

prompt-waiting = 別の質問が待っています。

about = それは次のことについてでした：{ $action }

flood = 緊急のメッセージがたくさん来ています。これからは順番に読み上げます。

## Values in what is asked

tool-use = { $tool } を使います。

with-nothing = ほかになし

value-quoted = 引用開始 { $value } 引用終了

value-word = 単語の { $word }

value-line = 行 { $number }：{ $text }

value-ending = 末尾が { $digits } の番号

value-empty = 空のテキスト

value-blank = 空白だけのテキスト

value-invisible = 見えない文字 { $character }

value-private = 私用文字 { $character }

value-unknown = 不明な文字 { $character }

value-times =
    { $count ->
       *[other] { $character } が{ $count }回
    }

value-none = なし

value-yes = はい

value-no = いいえ

value-items =
    { $count ->
        [0] 空のリスト
       *[other] { $count }項目：{ $items }
    }

value-entries =
    { $count ->
        [0] 登録なし
       *[other] 登録{ $count }件：{ $items }
    }

value-parts =
    { $count ->
        [0] 部分なし
       *[other] { $count }つの部分：{ $items }
    }

value-bytes = { $count }バイト

value-digest = { $size }、SHA-256 の先頭は { $digest }

value-other = { $kind } という種類のもの

## Outcomes of prompts

outcome-accepted = 承認されました。

outcome-rejected = 拒否されました。

outcome-answered = 回答されました。

outcome-accepted-elsewhere = 別の所で承認されました。

outcome-rejected-elsewhere = 別の所で拒否されました。

outcome-answered-elsewhere = 別の所で回答されました。

outcome-timed_out = 時間切れです。

outcome-withdrawn = 質問は取り下げられました。

outcome-unavailable = 回答する人がいなくなりました。

outcome-no_reply_channel = 誰も回答できません。

outcome-other = リクエストは終了しました。

outcome-modified = 別の内容が求められています。エージェントはもう一度尋ねる必要があります。

outcome-granted = 承認されたものとして扱われます。

outcome-defaulted = エージェントは示しておいた回答で先に進みます。

outcome-unanswered = エージェントは回答のないまま先に進みます。

outcome-longer = 時間が延びました。もう一度尋ねます。

## Markdown

markdown-heading = 見出し：{ $text }

markdown-bullet = 項目：{ $text }

markdown-bullet-nested = 下位項目：{ $text }

markdown-number = { $number }：{ $text }

markdown-checked = チェックあり：{ $text }

markdown-unchecked = チェックなし：{ $text }

markdown-quote = 引用：{ $text }

markdown-code = コード

markdown-coming = 作成中

markdown-lines = { $count }行

markdown-table = 表：{ $columns }。

markdown-cell = { $column }：{ $cell }

markdown-image = 画像：{ $text }

markdown-picture = 画像

## The connection

connected = 接続しました。

connected-name = { $agent } に接続しました。

reconnected = 再び接続しました。

gap = 再び接続しました。その間に聞き逃したことがあります。

connection-lost = 接続が切れました。{ $reason }

retrying = { $reason } { $seconds }秒後にやり直します。

gave_up = { $duration }たっても接続できず、あきらめました。{ $reason }

resume-slow_consumer = こちらが遅すぎました。前の続きから進めます。

resume-authentication_expired = こちらの認証情報の期限が切れました。今あるものを示して、前の続きから進めます。

absent = { $agent } には今つながりません。

absent-terse = { $agent } につながりません。

absent-asking = 戻ったときにあなたの回答が届きます。

returned = { $agent } にまたつながるようになりました。

waiting = 待っています。自動的に続きます。

connection-ended = 接続は完全に終わりました。{ $reason }

unreadable = 読み取れないものが届きました。エージェントが何か尋ねているなら、回答を待っているかもしれません。

no_answers = エージェントはこのリーダーからの回答を受け付けません。

proven = これは { $agent } で、鍵 { $key } で署名されています。

unproven = 身元は証明されていません。

unproven-local = { $agent } として鍵 { $key } で署名されていますが、このコンピューターの別の利用者が示している可能性があります。

refused = エージェントが接続を拒否しました：{ $reason }

refused-code = エージェントが接続を拒否しました、{ $code }：{ $reason }

refused-code-only = エージェントが接続を拒否しました、{ $code }。

closed-producer_shutdown = { $agent } は終了しました。

closed-authentication_expired = あなたのアクセス権の期限が切れました。新しいもので接続し直してください。

closed-slow_consumer = このリーダーは遅すぎました。止まった所から続けるには、接続し直してください。

closed-superseded = 別のリーダーが引き継ぎました。

closed-subscriber_shutdown = このリーダーは停止しました。

closed-rate_violation = このリーダーは送りすぎました。

closed-protocol_error = このリーダーは許可されていないものを送りました。

closed-manifest_invalid = 相手は身元を証明できませんでした。

closed-other = { $agent } が接続を終了しました：{ $reason }。

arrived = 新しいエージェント: { $agent }。

discover-none = 動いているエージェントはまだありません。始まったものから順に聞き取ります。

reconnected-name = { $agent } に再び接続しました。

gap-name = { $agent } に再び接続しました。その間に聞き逃したことがあります。

connection-lost-name = { $agent } との接続が切れました。{ $reason }

connection-ended-name = { $agent } との接続は完全に終わりました。{ $reason }

waiting-name = { $agent } を待っています。自動的に続きます。

no_answers-name = { $agent } はこのリーダーからの回答を受け付けません。

unread-name = これは { $agent } についてです。

asker-gone = 尋ねたエージェントとは、もう接続していません。

## Why a connection is refused

refused-version_unsupported = こちらが使えるプロトコルのバージョンに対応していません。

refused-manifest_invalid = 証明を確かめられませんでした。

refused-manifest_signature_required = 署名された身元の証明がありません。

refused-capabilities_incompatible = こちらが求めたものを提供できません。

refused-rate_limit = 今は要求が多すぎます。

refused-authentication_required = こちらが誰なのか分からないとのことです。

refused-authentication_expired = こちらの認証情報の期限が切れています。

refused-authorization_denied = こちらにはアクセス権がありません。

refused-transport_unavailable = 今はこの方法では使えません。

refused-unknown = 理由は示されていません。

refused-slow_consumer = こちらが遅すぎました。

refused-rate_violation = こちらが送りすぎました。

refused-protocol_error = プロトコルで許可されていないものを送りました。

advice-version_unsupported = 相手のバージョンに対応した版のライブラリを使ってください。

advice-manifest_invalid = 確かめられる証明をエージェントの管理者に求めてください。

advice-manifest_signature_required = 署名された身元の証明をエージェントの管理者に求めてください。

advice-capabilities_incompatible = 求めるものを減らすか、提供されている言語を選んでください。

advice-rate_limit = 後でやり直してください。

advice-authentication_required = 有効な認証情報を { $options } で指定してください。

advice-authentication_expired = 新しい認証情報で接続し直してください。

advice-authorization_denied = エージェントの管理者にアクセス権を求めてください。

advice-transport_unavailable = 後でやり直すか、別の接続方法を使ってください。

advice-slow_consumer = 求めるものを減らすか、もっと速く読んでください。

advice-rate_violation = 送る回答と変更を減らしてください。

advice-unknown = どういう意味か、エージェントの管理者に尋ねてください。

## At the terminal

attention = 注意。{ $text }

greeting-keys = ヘルプは ? を、終了は q を押してください。

greeting-lines = ヘルプは { command-help } と入力してエンターキーを押してください。

greeting-pipe = 対話なし：コマンドは標準入力から1行に1つずつ読み取ります。

greeting-none = 対話なし：リクエストは表示されますが、回答されません。

prompts-shown = リクエストは表示されますが、回答されません。

input-ended = 標準入力が終わりました。聞き取りは続きます。

goodbye = 聞き取りを終わりました。

goodbye-open = { $count }件の質問が未回答のままです。

other_session = 別の作業が、ここには表示されないことを尋ねています。

typed_before = この行より前に入力したものは無効です。

draft = 書きかけの内容：{ $text }

nothing_said = まだ何も読み上げていません。

nothing_before = それより前には何もありません。

nothing_after = それが最後でした。

backlog = ほかに{ $count }件の更新。

quiet-begin = 通知を控えます。質問と警告だけを読み上げます。

quiet-end =
    { $count ->
        [0] その間は何もありませんでした。
       *[other] その間に{ $count }件の更新。
    }

quiet-hear-key = 最初のものは f を押してください。

quiet-hear-line = 最初のものは { command-forward } と入力してください。

verbosity =
    { $verbosity ->
        [terse] 読み上げの詳しさ：簡潔。
        [detailed] 読み上げの詳しさ：詳細。
       *[normal] 読み上げの詳しさ：標準。
    }

asking_time = { $duration }の時間を求めています。

sending-accept = 送信中：承認。

sending-reject = 送信中：拒否。

sending = 送信中：{ $answer }

no_time = エージェントは時間の延長を認めません。

unsent = 送信できませんでした。{ $reason }

still_open = リクエストはまだ未回答です。

may_have_arrived = 時間がかかりすぎて、届いたかどうか分かりません。

not_connected = まだ接続していません。

speech-paused = 音声を一時停止しています。

speech-nothing = 今は何も読み上げていません。

speech-gone = 音声が使えなくなりました。文字はここで続きます。

speech-back = 音声が戻りました。

speech-no_voice = ここには { $language } の声がありません。{ $other } の声で読みます。

speech-none = ここでは何も読み上げません。

speech-unavailable = Speech Dispatcher が応答しません。インストールするか、起動してください。

speech-none-prism = Prism ライブラリが必要です。次のコマンドでインストールしてください：pip install prismatoid。

speech-address = SPEECHD_ADDRESS は { $address } です。unix_socket:path か inet_socket:host:port と書いてください。

speech-refused = Speech Dispatcher は { $value } を知りません。

braille-unavailable = { $address } から応答がありません。BRLTTY を起動するか、BRLAPI_HOST を設定してください。Debian では：apt install brltty。

braille-library = 点字には liblouis が必要ですが、インストールされていません。Debian では：apt install liblouis20 liblouis-data。

speech-rate = 1分に { $count } 語です。

## Answering

help-keys = キー：a は承認、r は拒否、m は詳しく、s はもう一度、o は次の未回答のリクエスト。

help-keys-more = v は読み上げの詳しさの変更、t は時間の延長、q は終了、? はこの説明。

help-keys-history = b は前へ戻り、f は先へ進みます。s を2回で全部を読み上げます。d は通知を控えます。

help-second-key = リスクがあるとき、または未回答のリクエストが複数あるときは、承認に2つ目のキーが必要です。

help-second-line = リスクがあるとき、または未回答のリクエストが複数あるときは、承認に2行目の入力が必要です。

help-answer = 質問には番号か、y または n で答えて、エンターキーを押してください。

help-freetext = 自分の言葉で答えるには、エンターキーを押し、書いて、もう一度エンターキーを押してください。

help-lines = コマンドは1行に1つです：{ command-accept }、{ command-reject }、{ command-more }、{ command-repeat }、{ command-next }、{ command-verbosity }、{ command-time }、{ command-quit }、{ command-help }。

help-lines-history = { command-back } と { command-forward } で、読み上げた内容を移動します。{ command-repeat } を2回で全部を聞けます。{ command-quiet } で通知を控えます。

help-next = { command-next } で次の未回答のリクエストに移ります。

help-answer-lines = 質問には番号、{ word-yes }、{ word-no }、または自分の言葉で答えてください。

help-command-answer = コマンドと同じ言葉を回答として送るには、前に { command-answer } を付けます。

several_open =
    { $count ->
       *[other] 未回答のリクエストが{ $count }件あります。今はこれに答えています。{ $hint }
    }

prompt-hear-key = 聞くには o を押してください。

prompt-hear-line = 聞くには { command-next } と入力してください。

next-key = 次のリクエストは o を押してください。

next-line = 次のリクエストは { command-next } と入力してください。

still_answering = まだこれに答えています：{ $action }

draft-unsent = 書きかけの内容は送信されませんでした：{ $text }

accept-void = ここでは何も承認されていません。

accept-taken_back = 取り消しました。何も承認されていません。

accept-second-key = まだ承認されていません。次のことを承認するには y を押してください：{ $action } ほかのキーで取り消します。

accept-second-key-long = まだ承認されていません。このように始まる内容を承認するには y を押してください：{ $action } ほかのキーで取り消します。

accept-second-line = まだ承認されていません。次のことを承認するには { word-yes } と入力してください：{ $action } ほかの行で取り消します。

accept-second-line-long = まだ承認されていません。このように始まる内容を承認するには { word-yes } と入力してください：{ $action } ほかの行で取り消します。

leaving-open = 未回答の質問が{ $count }件あります。

leaving-keys =
    { $count ->
       *[other] 未回答のまま残すには l、終了をやめるにはエスケープキーを押してください。
    }

leaving-keys-refuse =
    { $count ->
       *[other] 拒否して終了するには r、未回答のまま残すには l、終了をやめるにはエスケープキーを押してください。
    }

leaving-keys-some = そのうち{ $count }件だけを拒否して終了するには r、すべて未回答のまま残すには l、終了をやめるにはエスケープキーを押してください。

leaving-lines =
    { $count ->
       *[other] 未回答のまま残すには { command-leave }、終了をやめるには { command-stay } と入力してください。
    }

leaving-lines-refuse =
    { $count ->
       *[other] 拒否して終了するには { command-refuse }、未回答のまま残すには { command-leave }、終了をやめるには { command-stay } と入力してください。
    }

leaving-lines-some = そのうち{ $count }件だけを拒否して終了するには { command-refuse }、すべて未回答のまま残すには { command-leave }、終了をやめるには { command-stay } と入力してください。

stay = 終了をやめました。何も回答されていません。

keys-several = 複数のキーが同時に入力されました。どれも無効です。キーは1つずつ押してください。

keys-unknown = { $key } キーはここでは使えません。ヘルプは ? を押してください。

keys-too_soon = キー入力が早すぎたため無効です。少し待ってから、一度押してください。

draft-begin = 回答を書いてください。エンターキーで送信します。エスケープキーで送信せずにやめます。

draft-empty = 何も書かれていません。何も送信されませんでした。

draft-left = やめました。何も送信されませんでした。

draft-removed = 書いた内容を消しました。回答を書いてください。

enter-prompt = エンターキーだけでは回答になりません。リクエストをもう一度聞くには s を押してください。

enter-nothing = 回答するものはありません。ヘルプは ? を押してください。

line-empty = 空の行は回答になりません。

line-no_prompt = リクエストがないので、その行は回答になりません。ヘルプは { command-help } と入力してください。

line-unknown = その行は理解できませんでした。何も送信されませんでした。{ command-accept }、{ command-reject } または { command-help } と入力してください。

no_other = ほかに未回答のリクエストはありません。

no_more_time = これ以上時間は延ばせません。

time_asked = 時間の延長はもう求めてあります。

cannot_reply = このリーダーはリクエストに回答できません。何も送信されませんでした。

answer_sent = あなたの回答は送信されました。エージェントの反応を待ってください。

nothing_to-accept = 承認するものはありません。

nothing_to-reject = 拒否するものはありません。

nothing_to-answer = 回答するものはありません。

nothing_to-time = 時間を延ばすものはありません。

another_open = 別のリクエストが未回答です。{ $hint }

is_question = これは質問です。{ $hint }

answer-word = その言葉を回答として送るには、前に { command-answer } を付けて入力してください。

answer-freetext = エンターキーを押し、回答を書いて、もう一度エンターキーを押してください。

answer-own_words = 自分の言葉を書く前にエンターキーを押してください。

answer-impossible = この質問にはここでは回答できません。

answer-forms = { $forms } で答えて、エンターキーを押してください。

answer-or = { $first } または { $second }

answer-number = 選択肢でない数字は、前に = を付けて書きます。

answer-unsent = 何も送信されませんでした。{ $hint }

form-multiple_choice = 選択肢の番号

form-yes_no = { word-yes } か { word-no }

form-numeric = 数字

form-freetext = 自分の言葉

help-speech = スペースキーは音声を止め、p は一時停止と再開、k は最新までスキップ、ピリオドは速く、カンマは遅くします。

help-speech-lines = { command-silence } で音声が止まり、{ command-pause } で一時停止と再開をします。{ command-skip } で最新までスキップします。{ command-faster } と { command-slower } もあります。

line-too_soon = 入力が早すぎたため無効です。先にリクエストを最後まで聞いてください。

## Settings

settings-line = 設定の{ $line }行目は読み取れないため無効です：{ $text }

settings-repeated = 設定の{ $line }行目で { $setting } が2回目に指定されています。最初のものが有効です。

settings-unknown = 設定の{ $line }行目にある { $setting } という設定はありません。

settings-similar = { $setting } のことですか。

settings-value = 設定の{ $line }行目は無効です：{ $setting } は { $expected } でなければなりません。

settings-variable = 変数 { $variable } は無効です。{ $expected } でなければなりません。

settings-more = ほかに設定の{ $count }行が無効です。

settings-unreadable = 設定を読み取れないため、既定値が有効です。{ $reason }

settings-missing = ファイル { $file } がないため、既定値が有効です。

settings-encoding = { $line }行目に UTF-8 でない文字があります。

settings-unsafe = 別の利用者が { $file } を変更できるため、既定値が有効です。このファイルに chmod go-w を実行してください。

settings-stranger = { $file } は別の利用者のものなので、既定値が有効です。

settings-allow = 設定のルールを読み取れないため、すべてのことで許可を求めます。{ $reason }

## Words for sounds

earcon-sent = 送信しました。

earcon-working = 作業中です。

earcon-done = 終わりました。

earcon-needs-you = あなたの番です。

earcon-error = エラーです。

## Coding agents

code-started = { $agent } が作業しています。

code-run = { $command } を実行します。

code-create = { $file } を{ $size }で作成します：{ $text }。

code-change = { $file } を変更します：{ $added }追加、{ $removed }削除。

code-change-nothing = { $file } を内容を変えずに書き直します。

code-hunk-add = { $line }行目に { $text } を追加します。

code-hunk-remove = { $line }行目から { $text } を削除します。

code-hunk-replace = { $line }行目で { $old } を { $new } に置き換えます。

code-hunk-blank = そこで違うのは空白か改行だけです。

code-own_words = エージェントは何を実行するのか示さず、次のことだけを伝えています：{ $text }。

code-effect-run = あなたのすべての権限で実行されます。

code-effect-change = ファイルに書き込まれます。

code-effect-delete = コピーがない限り、失われます。

code-effect-move = 別の場所に移ります。

code-effect-read = エージェントとそのモデルが読みます。

code-effect-search = 見つかったものをエージェントとそのモデルが読みます。

code-effect-think = 何も変わりません。

code-effect-fetch = アドレスとそこに送る内容が、このコンピューターの外に出ます。

code-effect-switch_mode = それ以降、エージェントが許可を求めることが減る可能性があります。

code-effect-other = これで何が変わるのかは分かりません。取り消せないものと考えてください。

code-running = { $command } を実行しています。

code-creating = { $file } を作成しています。

code-changing = { $file } を変更しています。

code-reading = { $file } を読んでいます。

code-searching = { $text } を検索しています。

code-described = エージェント自身の説明：{ $text }。

code-using = { $tool } を使っています。

code-ruled = あなた自身のルールで許可されています。{ $text }

code-unasked = 警告。許可を求めずに次のことを行いました：{ $text }

code-unasked-failed = 警告。許可を求めずに次のことを試み、失敗しました：{ $text }

code-despite = 警告。拒否されたのに次のことを行いました：{ $text }

code-stopping = エージェントを停止させています。

code-undescribed = 説明できないこと

code-too_long = 拒否されました：長すぎて全文を読み上げられません。{ $text } もっと小さく分けて進めるよう頼んでください。

code-unreadable = 拒否されました：秘密の情報を含むようなので、全文を読み上げられません。{ $text }

code-unofferable = 拒否されました：エージェントは、これを一度だけ許可する方法を用意していません。{ $text }

code-between = 拒否されました：エージェントは、作業中でないときにこれを求めました。{ $text }

code-mode = モード：{ $mode }。

code-mode-unasked = 警告。モード { $mode } では、エージェントは許可を求めずに行動します。

code-mode-back = 前のモードに戻します。

code-mode-unknown = このエージェントが行動の前に許可を求めるかどうかは分かりません。求めずに行ったことは読み上げられ、エージェントは停止されます。

code-subagent = 補助のエージェント { $name }：{ $state }。

code-stop-refusal = モデルが続けることを拒んでいます。

code-stop-max_tokens = 応答が長くなりすぎ、モデルの上限に達しました。

code-stop-max_turn_requests = 許されているより多くのステップを行いました。

code-stop-other = 停止しましたが、理由は示していません。

code-stop-error = エージェントがエラーを報告しています。

code-stop-gone = エージェントのプログラムが終了しました。

code-stop-stuck = 停止しなかったため、プログラムを終了させました。

code-stop-fault = このプログラムで何かが失敗したため、エージェントを停止させました。

code-refused = エージェントは拒否された後、今回の作業を終えました。

compose-begin = エージェントに伝えることを書いてください。エンターキーで送信します。エスケープキーで後に残します。

compose-left = 書きかけで残しました。続けるには p を押してください。

compose-left-empty = やめました。何も書かれていません。

compose-removed = その行を消しました。

compose-joined = 前の行：

compose-history-none = まだ何も送信していません。

compose-help = p かエンターキーで、エージェントに伝えることを書きます。行末のバックスラッシュで次の行に移ります。

compose-help-history = h で送信した内容の一覧を出します。上矢印キーでそれを呼び戻します。@ファイル名 でファイルを指定します。

compose-help-lines = そのほかの行はエージェントに送信されます。prompt という単語の後に書いた行も同じです。history で送信した内容の一覧が出ます。

code-ready = { $agent } の準備ができました。伝えることを書くには p を押してください。

code-ready-lines = { $agent } の準備ができました。伝えることを書いてください。

code-queued = まだ作業中です。これは次に送信されます。

code-interrupt = 停止させています。終了するには、もう一度コントロール C を押してください。

code-interrupt-idle = 終了するには、もう一度コントロール C を押してください。

code-file = ファイル { $file } を添えます。

code-file-missing = ここにファイル { $file } はありません。ただの言葉として送信されました。

code-error = エージェントの説明：{ $text }

code-last_words = 最後に書き出した内容は次のとおりです。

code-hint-again = 続けるには、もう一度エージェントに書いてください。

code-editor-allowed = エディターで許可されました。{ $text }

code-editor-refused = エディターで拒否されました。

code-editor-done = 終わりました：{ $text }

code-editor-failed = 失敗しました：{ $text }

code-editor-only = これにはエディターでしか回答できません。{ $text }

code-editor-fault = このプログラムで何かが失敗しました。エージェントはエディターで作業を続けます。

code-editor-gone = エディターが終了しました。

code-run-long = { $size }のコマンドを実行します。

code-create-long = { $file } を{ $size }で作成します。

code-write-long = { $file } に{ $size }を書き込みます。

code-edit-long = { $file } で{ $removed }を{ $added }に置き換えます。

code-kilobytes = { $count }キロバイト

code-parts = { $overview } 長さは{ $size }で、{ $count }個の部分に分かれています。すべて聞き終えるまで、何も実行されません。続けますか。

code-part = { $count }個の部分のうち{ $number }個目です。{ $text } 続けますか。

code-part-last = { $overview } これは{ $count }個の部分の最後です。{ $text }

code-part-line = 続きは{ $line }行目からで、ここではまた1から数えます：{ $text }

code-part-word = { $line }行目の途中からの続き：{ $text }

code-part-middle = { $line }行目の、単語の途中からの続き：{ $text }

code-part-refused = 拒否されました。何も実行されませんでした。{ $text }

## Braille

braille-no_table = 言語 { $language } の点訳テーブルがありません。英語の文字を使います。

braille-marks = 点字では、テーブルにない記号の付いた文字を8の点で示します。

braille-lost = 点字ディスプレイが使えなくなりました。戻ったらまた表示します。

braille-back = 点字ディスプレイが戻りました。

braille-read_on = 先に最後まで読んでください。その後で承認できます。

braille-choice = エンターキーで { $choice } を送信

## Hooks of coding agents

hooks-started = { $agent } が作業しています。


hooks-write = { $file } に{ $size }を書き込みます：{ $text }。

hooks-edit = { $file } で { $old } を { $new } に置き換えます。

hooks-edit-all = { $file } で、すべての { $old } を { $new } に置き換えます。






hooks-terminal = エージェントのターミナルで回答してください。{ $text }

hooks-terminal-unread = エージェントのターミナルで回答してください。{ $tool } を使おうとしていますが、全文を読み上げられません。

hooks-refused-unread = 拒否されました。{ $tool } を使おうとしていますが、全文を読み上げられません。

hooks-terminal-allowed = エージェントのターミナルで許可されました。{ $text }

hooks-unasked = 警告。許可を求めずに行いました。{ $text }

hooks-despite = 警告。拒否されたのに行いました。{ $text }

hooks-undescribed = { $tool } を使いましたが、その内容は読み上げられません。

hooks-next = 別の依頼が来ました。

hooks-idle = { $agent } はあなたの次の依頼を待っています。

hooks-closed = { $agent } は閉じられました。

## Falling behind

behind-key = 読み上げが{ $duration }遅れています。最新までスキップするには k を押してください。

behind-line = 読み上げが{ $duration }遅れています。最新までスキップするには { command-skip } と入力してください。

behind-skipped = { $count }件をスキップしました。

behind-nothing = スキップするものはありません。これが最新です。

## Notifications of the desktop

greeting-daemon = バックグラウンドで聞き取っています。

notifications-none = ここでは通知が使えません：デスクトップのサービスが応答しません。

notifications-gone = 通知が終わりました：デスクトップが閉じられました。

notification-answer = ターミナルで回答してください：aaep listen

notification-title = { $agent } が尋ねています

notification-accept = 承認

notification-reject = 拒否

## Durations

duration-moment = 1秒未満

duration-days = { $count }日

duration-hours = { $count }時間

duration-minutes = { $count }分

duration-seconds = { $count }秒

duration-pair = { $first }{ $second }

## Words that a person writes

command-accept = 承認

command-reject = 拒否

command-refuse = 拒否

command-more = 詳しく

command-repeat = 再読

command-next = 次

command-back = 戻る

command-forward = 進む

command-quiet = 静か

command-verbosity = 詳しさ

command-time = 延長

command-quit = 終了

command-help = ヘルプ

command-answer = 回答

command-leave = 残す

command-stay = 続ける

word-yes = はい

word-no = いいえ

command-silence = 消音

command-pause = 一時停止

command-skip = スキップ

command-faster = 速く

command-slower = 遅く

## Putting words together

list = { $first }、{ $second }

list-long = { $first }；{ $second }

decimal-sign = .

value-marks = 引用, いんよう, インヨウ

value-own_words = 承認, 拒否, 確認, 空白, 空のテキスト, 空のリスト, 元に戻, 取り消, リスク, 低い, 中くらい, 高い, 不明, 伏せ字, 引用, なし, はい, いいえ

expected-word = { $words } または { $last }

expected-whole_number = { $lowest }から{ $highest }までの整数

expected-number = { $lowest }から{ $highest }までの数

expected-languages = en-GB のような言語タグのリスト

expected-texts = テキストのリスト

expected-text = テキスト

## The language

language-name = 日本語

language-none = このリーダーには { $languages } の言葉がありません。{ language-name }で話します。

## Why a connection is closed, to the other side

close-producer_shutdown = エージェント側が終了しています。

close-authentication_expired = このリーダーの認証情報は無効になりました。新しいもので接続し直してください。

close-slow_consumer = リーダーが追いついていません。止まった所から続けるには、接続し直してください。

close-superseded = 別のリーダーが引き継ぎました。

close-subscriber_shutdown = リーダーは停止しました。

close-rate_violation = リーダーは送りすぎました。

close-protocol_error = リーダーは許可されていないものを送りました。

close-manifest_invalid = 証明を検証できませんでした。

close-hub_shutdown = 中継が終了しています。
