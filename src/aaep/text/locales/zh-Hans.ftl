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

help-speech = 空格键停止语音，p 暂停和继续，k 跳到最新内容，句号键加快，逗号键放慢。

help-speech-lines = 用 { command-silence } 停止语音，用 { command-pause } 暂停和继续，用 { command-skip } 跳到最新内容。还有 { command-faster } 和 { command-slower }。

line-too_soon = 输入得太早，不算数。先把请求听完。

## Settings

settings-line = 设置的第 { $line } 行无法读取，不算数：{ $text }

settings-repeated = 设置的第 { $line } 行第二次写了 { $setting }。以第一次为准。

settings-unknown = 设置的第 { $line } 行写了 { $setting }，没有这项设置。

settings-similar = 您是指 { $setting } 吗？

settings-value = 设置的第 { $line } 行不算数：{ $setting } 必须是 { $expected }。

settings-variable = 变量 { $variable } 不算数。它必须是 { $expected }。

settings-more = 设置中另有 { $count } 行不算数。

settings-unreadable = 设置无法读取，所以使用默认值。{ $reason }

settings-missing = 没有文件 { $file }，所以使用默认值。

settings-encoding = 第 { $line } 行有不属于 UTF-8 的字符。

settings-unsafe = 其他用户可以更改 { $file }，所以使用默认值。对它运行 chmod go-w。

settings-stranger = { $file } 属于另一个用户，所以使用默认值。

settings-allow = 您设置中的规则无法读取，所以每件事都会询问。{ $reason }

## Words for sounds

earcon-sent = 已发送。

earcon-working = 正在工作。

earcon-done = 结束了。

earcon-needs-you = 轮到您了。

earcon-error = 错误。

## Coding agents

code-started = { $agent } 正在工作。

code-run = 运行 { $command }。

code-create = 新建 { $file }，{ $size }：{ $text }。

code-change = 更改 { $file }：增加 { $added }，删除 { $removed }。

code-change-nothing = 重写 { $file }，内容不变。

code-hunk-add = 在第 { $line } 行增加 { $text }。

code-hunk-remove = 在第 { $line } 行删除 { $text }。

code-hunk-replace = 在第 { $line } 行把 { $old } 换成 { $new }。

code-hunk-blank = 那里只有空格或换行不同。

code-own_words = 智能体没有说明它要运行什么，只说了：{ $text }。

code-effect-run = 它以您的全部权限运行。

code-effect-change = 文件会被写入。

code-effect-delete = 除非您有副本，否则它就没有了。

code-effect-move = 它会换到别的地方。

code-effect-read = 智能体和它的模型会读到它。

code-effect-search = 智能体和它的模型会读到找出的内容。

code-effect-think = 不会改变任何东西。

code-effect-fetch = 地址和发往那里的内容会离开本机。

code-effect-switch_mode = 此后智能体询问的事可能会减少。

code-effect-other = 不知道这会改变什么。应视为无法撤销。

code-running = 正在运行 { $command }。

code-creating = 正在新建 { $file }。

code-changing = 正在更改 { $file }。

code-reading = 正在读取 { $file }。

code-searching = 正在搜索 { $text }。

code-described = 按它自己的说法：{ $text }。

code-using = 正在使用 { $tool }。

code-ruled = 您自己的规则允许这样做。{ $text }

code-unasked = 警告。它没有询问就做了这件事：{ $text }

code-unasked-failed = 警告。它没有询问就试着做这件事，失败了：{ $text }

code-despite = 警告。这件事已被拒绝，它还是做了：{ $text }

code-stopping = 正在停止它。

code-undescribed = 一件无法说明的事

code-too_long = 已拒绝：太长，无法全部朗读。{ $text } 让它把步骤分小一些。

code-unreadable = 已拒绝：似乎含有机密，无法全部朗读。{ $text }

code-unofferable = 已拒绝：智能体没有提供只允许这一次的选项。{ $text }

code-between = 已拒绝：智能体在不工作时提出了这件事。{ $text }

code-mode = 模式：{ $mode }。

code-mode-unasked = 警告。在 { $mode } 模式下，它不询问就行动。

code-mode-back = 正在改回原来的模式。

code-mode-unknown = 不知道这个智能体行动之前是否会询问。它没有询问就做的事会播报，它也会因此被停止。

code-subagent = 助手 { $name }：{ $state }。

code-stop-refusal = 模型拒绝继续。

code-stop-max_tokens = 回复太长，超出了模型的限度。

code-stop-max_turn_requests = 它的步数超过了允许的数目。

code-stop-other = 它停止了，没有说明原因。

code-stop-error = 智能体报告了一个错误。

code-stop-gone = 智能体的程序已经结束。

code-stop-stuck = 它没有停下来，所以它的程序被结束了。

code-stop-fault = 本程序出了故障，所以智能体被停止了。

code-refused = 在被拒绝之后，智能体结束了这一轮工作。

compose-begin = 给智能体写内容。回车键发送。Esc 键留到以后再写。

compose-left = 已留下。按 p 接着写。

compose-left-empty = 已放弃。没有写任何内容。

compose-removed = 这一行已删除。

compose-joined = 前一行：

compose-history-none = 还没有发送过任何内容。

compose-help = 按 p 或回车键给智能体写内容。行末加反斜杠会另起一行。

compose-help-history = 按 h 列出您发送过的内容。按上箭头键把它取回。用 @文件名 指明一个文件。

compose-help-lines = 其他任何一行都会发给智能体，写在 prompt 这个词后面的也一样。输入 history 列出您发送过的内容。

code-ready = { $agent } 准备好了。按 p 给它写内容。

code-ready-lines = { $agent } 准备好了。给它写内容。

code-queued = 仍在工作。接下来就发送这一条。

code-interrupt = 正在停止。再按一次 Control-C 结束。

code-interrupt-idle = 再按一次 Control-C 结束。

code-file = 附上文件 { $file }。

code-file-missing = 这里没有文件 { $file }。它作为普通文字发送了。

code-error = 智能体说：{ $text }

code-last_words = 它最后写的是这些。

code-hint-again = 再给它写内容就可以继续。

code-editor-allowed = 已在编辑器中允许。{ $text }

code-editor-refused = 已在编辑器中拒绝。

code-editor-done = 结束了：{ $text }

code-editor-failed = 失败了：{ $text }

code-editor-only = 这件事只能在编辑器中回答。{ $text }

code-editor-fault = 本程序出了故障。智能体在编辑器中继续工作。

code-editor-gone = 编辑器已经结束。

code-run-long = 运行一个 { $size }的命令。

code-create-long = 新建 { $file }，{ $size }。

code-write-long = 写入 { $file }，{ $size }。

code-edit-long = 在 { $file } 中把 { $removed }换成 { $added }。

code-kilobytes = { $count } 千字节

code-parts = { $overview } 长度为 { $size }，分成 { $count } 个部分。在您全部听完之前，不会执行任何操作。要继续吗？

code-part = 第 { $number } 部分，共 { $count } 个部分。{ $text } 要继续吗？

code-part-last = { $overview } 这是 { $count } 个部分中的最后一个。{ $text }

code-part-line = 接下来从第 { $line } 行开始，这里重新从 1 数起：{ $text }

code-part-word = 接下来仍在第 { $line } 行：{ $text }

code-part-middle = 接下来仍在第 { $line } 行，从一个词的中间开始：{ $text }

code-part-refused = 已拒绝。没有执行任何操作。{ $text }

## Braille

braille-no_table = 语言 { $language } 没有盲文表。使用英文字母。

braille-marks = 在盲文中，如果字母带有盲文表所没有的符号，就用第 8 点标出。

braille-lost = 盲文点显器断开了。恢复后会重新显示。

braille-back = 盲文点显器恢复了。

braille-read_on = 先读到末尾，然后才能接受。

braille-choice = 回车键发送 { $choice }

## Hooks of coding agents

hooks-started = { $agent } 正在工作。


hooks-write = 写入 { $file }，{ $size }：{ $text }。

hooks-edit = 在 { $file } 中把 { $old } 换成 { $new }。

hooks-edit-all = 在 { $file } 中把每一处 { $old } 都换成 { $new }。






hooks-terminal = 请在它的终端上回答。{ $text }

hooks-terminal-unread = 请在它的终端上回答。它想使用 { $tool }，内容无法全部朗读。

hooks-refused-unread = 已拒绝。它想使用 { $tool }，内容无法全部朗读。

hooks-terminal-allowed = 已在它的终端上允许。{ $text }

hooks-unasked = 警告。它没有询问就做了。{ $text }

hooks-despite = 警告。已被拒绝，它还是做了。{ $text }

hooks-undescribed = 它使用了 { $tool }，内容无法朗读。

hooks-next = 又来了一项任务。

hooks-idle = { $agent } 在等您的下一项任务。

hooks-closed = { $agent } 被关闭了。

## Falling behind

behind-key = 语音落后了：还有 { $duration }的内容在等待。按 k 跳到最新内容。

behind-line = 语音落后了：还有 { $duration }的内容在等待。输入 { command-skip } 跳到最新内容。

behind-skipped = 跳过了 { $count } 条。

behind-nothing = 没有可跳过的内容。这就是最新内容。

## Notifications of the desktop

greeting-daemon = 正在后台收听。

notifications-none = 这里没有桌面通知：没有桌面服务回应。

notifications-gone = 桌面通知结束了：桌面已关闭。

notification-answer = 在终端中回答：aaep listen

notification-title = { $agent } 在询问

notification-accept = 接受

notification-reject = 拒绝

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
