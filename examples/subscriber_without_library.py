"""A subscriber in twenty lines, with nothing but the standard library: prints what it hears, and refuses when asked."""

import datetime
import json
import sys
from urllib.request import Request, urlopen


def post(path, **message):
    request = Request(sys.argv[1] + path, json.dumps(message).encode(), {"Content-Type": "application/json"})
    return json.loads(urlopen(request).read() or "null")


wish = {"supports_confirmation_reply": True, "supported_conformance_levels": [1, 2]}
hello = {"type": "subscription.request", "aaep_version": "1.0.0", "subscriber_id": "twenty", "capabilities": wish}
mine = {"subscription_id": post("/aaep/v1/subscriptions", **hello)["subscription_id"]}
stream = urlopen(f"{sys.argv[1]}/aaep/v1/events?subscription_id={mine['subscription_id']}")
for event in (json.loads(line[6:]) for line in stream if line.startswith(b"data: {")):
    text = event.get("action") or event.get("summary_normal") or event.get("chunk") or event["type"]
    print(text.strip(), flush=True)
    if event["type"] == "aaep:agent.awaiting.confirmation":
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        reply = {"type": "confirmation.reply", "reply_token": event["reply_token"], "decision": "reject"}
        post("/aaep/v1/replies", **reply, **mine, timestamp=now)
    elif event["type"].removeprefix("aaep:agent.session.") in ("completed", "errored", "cancelled"):
        break
