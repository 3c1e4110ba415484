# checked-by-speaker: no
# language: zh-Hans

## The work

started = 已开始。

part = 属于：{ $parent }

completed = 已完成。

ended = 已结束。

undone = { $action }：没有执行。

undone-more = 另有 { $count } 项没有执行。

possible = { $action }：可能已经执行。

possible-more = 另有 { $count } 项可能已经执行。

possible-check = 重试之前先检查。

undone-failed = { $action }：失败了。

undone-failed-more = 另有 { $count } 项失败了。

failed-check = 重试之前先检查已经做了什么。

errored = 失败。

cancelled = 已停止。

unfinished = 工作没有完成。

tools = 使用了 { $count } 个工具。

took = 用时 { $duration }。

takes = 大约需要 { $duration }。

left = 大约还剩 { $duration }。

by-user = 用户停止了它。

by-producer = 智能体停止了它。

by-timeout = 用时太长。

by-system = 系统停止了它。

partial = 到目前为止：{ $result }

code = 错误代码 { $code }。

category-transient = 重试可能有用。

category-permanent = 重试没有用。

category-requires_user = 您需要先做一件事。

hint-transient = 稍后重试可能有用。

hint-permanent = 重试没有用。告诉智能体的管理者。

hint-requires_user = 检查智能体是否有权这样做，然后重试。

hint-unknown = 重试。如果再次失败，告诉智能体的管理者。

lost = 智能体意外停止了。工作没有完成。

lost-hint = 重新启动之前先检查已经做了什么。

lost-detailed = 智能体意外停止了。工作没有完成。它已经开始的操作可能已经执行。

handoff-human = 正在移交给人工。

handoff-specialist_agent = 正在移交给另一个智能体。

handoff-escalation_queue = 正在移交。会有人处理。

handoff-other = 正在移交。

not_taken = 没有人接手。

## What goes on

state-idle = 空闲。

state-thinking = 正在思考。

state-thinking-detailed = 正在思考下一步做什么。

state-calling_tool = 正在使用工具。

state-writing_output = 正在书写。

state-awaiting_input = 正在等您。

state-deciding = 正在决定。

state-deciding-detailed = 正在决定怎样继续。

state-handing_off = 正在移交。

state-other = 现在：{ $state }。

state-unnamed = 现在在做别的事。

resync = 补报当前情况。

percent = 百分之 { $percent }。

step = 第 { $step } 步。

step-of = 第 { $step } 步，共 { $total } 步。

progress-none = 仍在工作。

invoked = 正在调用 { $tool }。

tool = 一个工具

with = 内容：{ $arguments }。

undo-warning = 这无法撤销。

success = { $tool } 结束了。

stopped = { $tool } 被停止。

stopped-early = { $tool } 被提前停止。

success-summary = { $call }：完成。

error-unnamed = 一个错误

error-mistake = 智能体自身的错误

error-several =
    { $count ->
       *[other] { $count } 个错误：{ $name } 等
    }

error = { $call } 失败。

error-reason = { $call } 失败：{ $reason }

timeout = { $call }：没有结束。可能已经执行。重试之前先检查。

status = 报告的状态是 { $status }。

skipped = { $action }：智能体不再等待，所以没有执行此项。

says = { $agent }：

says-quoted = { $agent } 的原话：

agent = 智能体

agent-named = 智能体 { $name }

session = { $work }：{ $text }

notice = 通知。

notice-type = 此阅读器不认识的内容：{ $type }。

incomplete = 消息不完整。

incomplete-prompt = 在这里无法接受或回答。

cut = 在此截断，还剩 { $count } 个字符。

## Prompts

confirm = 需要确认。

action-none = 智能体没有说明它要做什么。

consequence = 如果您接受：{ $consequence }

consequence-none = 智能体没有说明会发生什么。

consequence-unstated = 没有人说明这会改变什么。应视为无法撤销。

consequence-unknown = 没有说明这会改变什么。

consequence-again = 影响未说明。

risk-low = 低风险

risk-medium = 中等风险

risk-high = 高风险

risk-none = 风险未说明，应视为高风险

risk-unstated = 风险不明

undo-irreversible = 无法撤销

undo-reversible_with_effort = 费些力气可以撤销

undo-reversible = 可以撤销

undo-none = 未说明能否撤销

risk = { $risk }，{ $undo }。

default-reject = { $duration }内没有回答就拒绝。

default-accept = { $duration }内没有回答就接受。

default-reject-short = { $duration }后拒绝。

default-accept-short = { $duration }后接受。

expired = 回答时间已过。

unrefusable = 不提供拒绝。

unacceptable = 不提供接受。

uncut = 听完全文才能接受：{ $key }。

uncut-plain = 听完全文才能接受。

rest = 接下来是：{ $text }

rest-action = 操作的后续内容：{ $text }

rest-consequence = 接受后果的后续内容：{ $text }

key = { $key } { $effect }

key-accept = 接受

key-reject = 拒绝

key-yes = 是

key-no = 否

key-more = 更多

key-time = 更多时间

key-close = 退出

write = 输入 { $words } 或 { $last }。

write-one = 输入 { $word }。

question = 提问。

question-none = 智能体没有说明它问什么。

why = 原因：{ $reason }

choice = { $number }：{ $label }

kind-freetext = 用自己的话回答。

kind-yes_no = 回答 { word-yes } 或 { word-no }。

kind-numeric = 用数字回答。

time = 回答时间为 { $duration }。

time-default = 回答时间为 { $duration }，否则：{ $answer }

longer = 您现在有 { $duration }。

countdown = 回答时间还剩 { $duration }。{ $action }

time_left = 回答时间还剩 { $duration }。

again = 再说一遍。

still = 仍在等您。

other = 另一个请求在等您。

prompt-waiting = 另一个问题在等待。

about = 刚才说的是这件事：{ $action }

flood = 紧急消息很多。从现在起它们依次播报。

## Values in what is asked

tool-use = 使用 { $tool }。

with-nothing = 没有其他内容

value-quoted = 左引号 { $value } 右引号

value-word = 词语 { $word }

value-line = 行 { $number }：{ $text }

value-ending = 尾号为 { $digits } 的号码

value-empty = 空文本

value-blank = 空白文本

value-invisible = 不可见字符 { $character }

value-private = 专用字符 { $character }

value-unknown = 未知字符 { $character }

value-times =
    { $count ->
       *[other] { $character }，{ $count } 次
    }

value-none = 没有

value-yes = 是

value-no = 否

value-items =
    { $count ->
        [0] 空列表
       *[other] { $count } 项：{ $items }
    }

value-entries =
    { $count ->
        [0] 没有条目
       *[other] { $count } 个条目：{ $items }
    }

value-parts =
    { $count ->
        [0] 没有组成部分
       *[other] { $count } 个部分：{ $items }
    }

value-bytes = { $count } 字节

value-digest = { $size }，SHA-256 开头为 { $digest }

value-other = 一个 { $kind }

## Outcomes of prompts

outcome-accepted = 已接受。

outcome-rejected = 已拒绝。

outcome-answered = 已回答。

outcome-accepted-elsewhere = 已在别处接受。

outcome-rejected-elsewhere = 已在别处拒绝。

outcome-answered-elsewhere = 已在别处回答。

outcome-timed_out = 时间到了。

outcome-withdrawn = 不再询问。

outcome-unavailable = 已经没有人可以回答。

outcome-no_reply_channel = 谁都无法回答。

outcome-other = 请求已关闭。

outcome-modified = 想要的是别的做法。智能体必须重新询问。

outcome-granted = 视为已接受。

outcome-defaulted = 智能体按它说过的答案继续。

outcome-unanswered = 智能体在没有回答的情况下继续。

outcome-longer = 时间延长了。会再问一次。

## Markdown

markdown-heading = 标题：{ $text }

markdown-bullet = 项目：{ $text }

markdown-bullet-nested = 子项目：{ $text }

markdown-number = { $number }：{ $text }

markdown-checked = 已勾选：{ $text }

markdown-unchecked = 未勾选：{ $text }

markdown-quote = 引文：{ $text }

markdown-code = 代码

markdown-coming = 正在写

markdown-lines = { $count } 行

markdown-table = 表格：{ $columns }。

markdown-cell = { $column }：{ $cell }

markdown-image = 图片：{ $text }

markdown-picture = 图片

## The connection

connected = 已连接。

connected-name = 已连接到 { $agent }。

reconnected = 已重新连接。

gap = 已重新连接。其间漏掉了一些内容。

connection-lost = 连接断开了。{ $reason }

retrying = { $reason } { $seconds } 秒后重试。

gave_up = { $duration }后仍没有连接，已放弃。{ $reason }

resume-slow_consumer = 我们太慢了，现在从原处继续。

resume-authentication_expired = 我们的凭据过期了。我们出示现有的凭据，并从原处继续。

absent = { $agent } 目前联系不上。

absent-terse = { $agent } 联系不上。

absent-asking = 恢复后它会收到您的回答。

returned = { $agent } 又能联系上了。

waiting = 正在等待。会自动继续。

connection-ended = 连接已彻底结束。{ $reason }

unreadable = 收到无法读取的内容。如果智能体在提问，它可能正在等待回答。

no_answers = 智能体不接收此阅读器的回答。

proven = 这是 { $agent }，用密钥 { $key } 签名。

unproven = 身份未经证实。

unproven-local = 签名为 { $agent }，密钥为 { $key }，但出示它的可能是本机的另一个用户。

refused = 智能体拒绝了连接：{ $reason }

refused-code = 智能体拒绝了连接，{ $code }：{ $reason }

refused-code-only = 智能体拒绝了连接，{ $code }。

closed-producer_shutdown = { $agent } 已经结束。

closed-authentication_expired = 您的访问权限已过期。用新的权限重新连接。

closed-slow_consumer = 此阅读器太慢了。重新连接可从停下的地方继续。

closed-superseded = 另一个阅读器接管了。

closed-subscriber_shutdown = 此阅读器已停止。

closed-rate_violation = 此阅读器发送得太多。

closed-protocol_error = 此阅读器发送了不允许的内容。

closed-manifest_invalid = 对方无法证明自己的身份。

closed-other = { $agent } 结束了连接：{ $reason }。

arrived = 新的智能体：{ $agent }。

discover-none = 还没有智能体在运行。每个开始运行的都会收听。

reconnected-name = 已经重新连接到智能体 { $agent }。

gap-name = 已经重新连接到智能体 { $agent }。其间漏掉了一些内容。

connection-lost-name = 与 { $agent } 的连接断开了。{ $reason }

connection-ended-name = 与 { $agent } 的连接已彻底结束。{ $reason }

waiting-name = 正在等待 { $agent }。会自动继续。

no_answers-name = { $agent } 不接收此阅读器的回答。

unread-name = 这是关于 { $agent } 的。

asker-gone = 提问的智能体已不再连接。

## Why a connection is refused

refused-version_unsupported = 它不支持我们所用的任何协议版本。

refused-manifest_invalid = 有一份证明无法核实。

refused-manifest_signature_required = 它没有经过签名的身份证明。

refused-capabilities_incompatible = 它无法提供我们要求的内容。

refused-rate_limit = 目前对它的要求太多。

refused-authentication_required = 它不知道我们是谁。

refused-authentication_expired = 我们的凭据已过期。

refused-authorization_denied = 我们没有访问权限。

refused-transport_unavailable = 目前无法用这种方式使用它。

refused-unknown = 它没有说明原因。

refused-slow_consumer = 我们太慢了。

refused-rate_violation = 我们发送得太多。

refused-protocol_error = 我们发送了协议不允许的内容。

advice-version_unsupported = 使用支持对方版本的本程序库。

advice-manifest_invalid = 向智能体的管理者索取可以核实的证明。

advice-manifest_signature_required = 向智能体的管理者索取经过签名的身份证明。

advice-capabilities_incompatible = 减少要求，或选择对方提供的语言。

advice-rate_limit = 稍后重试。

advice-authentication_required = 用 { $options } 提供有效的凭据。

advice-authentication_expired = 用新的凭据重新连接。

advice-authorization_denied = 向智能体的管理者申请访问权限。

advice-transport_unavailable = 稍后重试，或换一种连接方式。

advice-slow_consumer = 减少要求，或读得快一些。

advice-rate_violation = 少发一些回答和更改。

advice-unknown = 问智能体的管理者这是什么意思。

## At the terminal

attention = 注意。{ $text }

greeting-keys = 按 ? 听帮助，按 q 退出。

greeting-lines = 输入 { command-help } 并按回车键听帮助。

greeting-pipe = 非交互：从标准输入读取命令，每行一个。

greeting-none = 非交互：请求会显示，但不会回答。

prompts-shown = 请求会显示，但不会回答。

input-ended = 标准输入已结束。收听继续。

goodbye = 已停止收听。

goodbye-open = { $count } 个问题没有回答。

other_session = 另一项工作在问一件这里不显示的事。

typed_before = 这一行之前输入的内容不算数。

draft = 您刚才在写：{ $text }

nothing_said = 还没有说过任何内容。

nothing_before = 在那之前没有说过任何内容。

nothing_after = 那是最后一条。

backlog = 还有 { $count } 条更新。

quiet-begin = 勿扰。只播报提问和警告。

quiet-end =
    { $count ->
        [0] 其间没有发生任何事。
       *[other] 其间有 { $count } 条更新。
    }

quiet-hear-key = 按 f 听第一条。

quiet-hear-line = 输入 { command-forward } 听第一条。

verbosity =
    { $verbosity ->
        [terse] 详细程度：简短。
        [detailed] 详细程度：详细。
       *[normal] 详细程度：普通。
    }

asking_time = 正在申请 { $duration }。

sending-accept = 正在发送：接受。

sending-reject = 正在发送：拒绝。

sending = 正在发送：{ $answer }

no_time = 智能体不同意延长时间。

unsent = 无法发送。{ $reason }

still_open = 请求仍未回答。

may_have_arrived = 用时太长，可能已送达，也可能没有。

not_connected = 还没有连接。

speech-paused = 语音已暂停。

speech-nothing = 现在没有在朗读。

speech-gone = 语音没有了。文字在这里继续。

speech-back = 语音恢复了。

speech-no_voice = 这里没有{ $language }的语音。用{ $other }的语音朗读。

speech-none = 这里什么都不朗读。

speech-unavailable = Speech Dispatcher 没有回应。请安装或启动它。

speech-none-prism = 需要 Prism 库。安装命令：pip install prismatoid。

speech-address = SPEECHD_ADDRESS 是 { $address }。请写 unix_socket:path 或 inet_socket:host:port。

speech-refused = Speech Dispatcher 不认识 { $value }。

braille-unavailable = { $address } 没有回应。请启动 BRLTTY，或设置 BRLAPI_HOST。在 Debian 上：apt install brltty。

braille-library = 盲文需要 liblouis，但没有安装。在 Debian 上：apt install liblouis20 liblouis-data。

speech-rate = 每分钟 { $count } 个词。

## Answering

help-keys = 按键：a 接受，r 拒绝，m 多说一些，s 再说一遍，o 转到下一个未回答的请求。

help-keys-more = v 更改详细程度，t 申请更多时间，q 退出，? 说本帮助。

help-keys-history = b 后退，f 前进。按两次 s 全部说出。d 是勿扰。

help-second-key = 如果有风险，或有多个未回答的请求，接受时需要再按一个键。

help-second-line = 如果有风险，或有多个未回答的请求，接受时需要再输入一行。

help-answer = 用编号或 y 或 n 回答问题，然后按回车键。

help-freetext = 要用自己的话回答，按回车键，输入，再按回车键。

help-lines = 命令，每行一个：{ command-accept }、{ command-reject }、{ command-more }、{ command-repeat }、{ command-next }、{ command-verbosity }、{ command-time }、{ command-quit }、{ command-help }。

help-lines-history = 用 { command-back } 和 { command-forward } 浏览说过的内容。输入两次 { command-repeat } 听全部内容。用 { command-quiet } 免受打扰。

help-next = 用 { command-next } 转到下一个未回答的请求。

help-answer-lines = 用编号、{ word-yes }、{ word-no } 或自己的话回答问题。

help-command-answer = 要把命令词作为回答发送，在前面加上 { command-answer }。

several_open =
    { $count ->
       *[other] 有 { $count } 个请求未回答。您现在回答的是这一个。{ $hint }
    }

prompt-hear-key = 按 o 收听。

prompt-hear-line = 输入 { command-next } 收听。

next-key = 按 o 转到下一个请求。

next-line = 输入 { command-next } 转到下一个请求。

still_answering = 您仍在回答这件事：{ $action }

draft-unsent = 您正在写的内容没有发送：{ $text }

accept-void = 这里没有接受任何操作。

accept-taken_back = 已收回。没有接受任何操作。

accept-second-key = 尚未接受。按 y 接受这件事：{ $action } 按其他任何键收回。

accept-second-key-long = 尚未接受。按 y 接受这样开头的内容：{ $action } 按其他任何键收回。

accept-second-line = 尚未接受。输入 { word-yes } 接受这件事：{ $action } 输入其他任何内容收回。

accept-second-line-long = 尚未接受。输入 { word-yes } 接受这样开头的内容：{ $action } 输入其他任何内容收回。

leaving-open = 有 { $count } 个问题未回答。

leaving-keys =
    { $count ->
       *[other] 按 l 不回答并退出，按 Esc 键留下。
    }

leaving-keys-refuse =
    { $count ->
       *[other] 按 r 拒绝并退出，按 l 不回答并退出，按 Esc 键留下。
    }

leaving-keys-some = 按 r 只拒绝其中 { $count } 个并退出，按 l 全部不回答并退出，按 Esc 键留下。

leaving-lines =
    { $count ->
       *[other] 输入 { command-leave } 不回答并退出，输入 { command-stay } 留下。
    }

leaving-lines-refuse =
    { $count ->
       *[other] 输入 { command-refuse } 拒绝并退出，输入 { command-leave } 不回答并退出，输入 { command-stay } 留下。
    }

leaving-lines-some = 输入 { command-refuse } 只拒绝其中 { $count } 个并退出，输入 { command-leave } 全部不回答并退出，输入 { command-stay } 留下。

stay = 您留下了。没有回答任何内容。

keys-several = 同时收到多个按键。都不算数。每次只按一个键。

keys-unknown = { $key } 键在这里没有作用。按 ? 听帮助。

keys-too_soon = 这个键按得太早，不算数。稍等片刻，再按一次。

draft-begin = 输入您的回答。回车键发送。Esc 键放弃，不发送。

draft-empty = 没有输入内容。没有发送任何内容。

draft-left = 已放弃。没有发送任何内容。

draft-removed = 您输入的内容已删除。输入您的回答。

enter-prompt = 只按回车键不算回答。按 s 再听一遍请求。

enter-nothing = 没有需要回答的内容。按 ? 听帮助。

line-empty = 空行不算回答。

line-no_prompt = 没有请求，所以那一行不算回答。输入 { command-help } 听帮助。

line-unknown = 没有看懂那一行。没有发送任何内容。输入 { command-accept }、{ command-reject } 或 { command-help }。

no_other = 没有其他未回答的请求。

no_more_time = 无法再延长时间。

time_asked = 已经申请过更多时间。

cannot_reply = 此阅读器无法回答请求。没有发送任何内容。

answer_sent = 您的回答已发送。等待智能体的反应。

nothing_to-accept = 没有可接受的内容。

nothing_to-reject = 没有可拒绝的内容。

nothing_to-answer = 没有需要回答的内容。

nothing_to-time = 没有需要延长时间的内容。

another_open = 另一个请求未回答。{ $hint }

is_question = 这是一个问题。{ $hint }

answer-word = 要把那个词作为回答发送，在前面加上 { command-answer }。

answer-freetext = 按回车键，输入您的回答，再按回车键。

answer-own_words = 用自己的话回答之前先按回车键。

answer-impossible = 在这里无法回答这个问题。

answer-forms = 用 { $forms } 回答，然后按回车键。

answer-or = { $first } 或 { $second }

answer-number = 不是选项的数字，在前面加 = 输入。

answer-unsent = 没有发送任何内容。{ $hint }

form-multiple_choice = 选项的编号

form-yes_no = { word-yes } 或 { word-no }

form-numeric = 一个数字

form-freetext = 自己的话

help-speech = 空格键停止语音，p 暂停和继续，句号键加快，逗号键放慢。

help-speech-lines = 用 { command-silence } 停止语音，用 { command-pause } 暂停和继续。还有 { command-faster } 和 { command-slower }。

line-too_soon = 输入得太早，不算数。先把请求听完。

## Words for sounds

earcon-sent = 已发送。

earcon-working = 正在工作。

earcon-done = 结束了。

earcon-needs-you = 轮到您了。

earcon-error = 错误。

## Durations

duration-moment = 不到 1 秒

duration-days = { $count } 天

duration-hours = { $count } 小时

duration-minutes = { $count } 分钟

duration-seconds = { $count } 秒

duration-pair = { $first } { $second }

## Words that a person writes

command-accept = 接受

command-reject = 拒绝

command-refuse = 拒绝

command-more = 更多

command-repeat = 重复

command-next = 下一个

command-back = 后退

command-forward = 前进

command-quiet = 勿扰

command-verbosity = 详细

command-time = 时间

command-quit = 退出

command-help = 帮助

command-answer = 回答

command-leave = 离开

command-stay = 留下

word-yes = 是

word-no = 否

command-silence = 静音

command-pause = 暂停

command-skip = 跳过

command-faster = 加快

command-slower = 放慢

## Putting words together

list = { $first }、{ $second }

list-long = { $first }；{ $second }

decimal-sign = .

value-marks = 左引号, 右引号, 左双引号, 右双引号, 引号

value-own_words = 接受, 拒绝, 确认, 空白, 空文本, 空列表, 撤销, 风险, 未说明, 没有, 隐去, 引号, 是, 否

expected-word = { $words } 或 { $last }

expected-whole_number = 从 { $lowest } 到 { $highest } 的整数

expected-number = 从 { $lowest } 到 { $highest } 的数

expected-languages = 像 en-GB 这样的语言代码列表

expected-texts = 文本列表

expected-text = 一段文本

## The language

language-name = 简体中文

language-none = 此阅读器没有{ $languages }的语句。它使用{ language-name }。

## Why a connection is closed, to the other side

close-producer_shutdown = 智能体一方正在关闭。

close-authentication_expired = 此阅读器的凭据不再有效。用新的凭据重新连接。

close-slow_consumer = 阅读器跟不上。重新连接可从停下的地方继续。

close-superseded = 另一个阅读器接管了。

close-subscriber_shutdown = 阅读器已停止。

close-rate_violation = 阅读器发送得太多。

close-protocol_error = 阅读器发送了不允许的内容。

close-manifest_invalid = 有一份证明无法核实。

close-hub_shutdown = 中转站正在关闭。
