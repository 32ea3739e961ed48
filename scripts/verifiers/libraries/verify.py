"""Verifies deliveries with `standardwebhooks` and `svix` from PyPI; see ../../check-libraries.ts."""

import base64
import importlib
import json
import sys


def flips(data):
    for bit in range(len(data) * 8):
        flipped = bytearray(data)
        flipped[bit >> 3] ^= 1 << (bit & 7)
        yield bit, bytes(flipped)


def accepts(webhook, body, headers):
    try:
        webhook.verify(body, headers)
        return True
    except Exception:
        return False


cases_file, library = sys.argv[1:]
webhook_class = importlib.import_module(library).Webhook
with open(cases_file, encoding="utf-8") as file:
    cases = json.load(file)
refused = 0
for case in cases:
    webhook = webhook_class(case["secret"])
    headers = case["headers"]
    body = base64.b64decode(case["body"])
    webhook.verify(body, headers)
    for bit, flipped in flips(body):
        if accepts(webhook, flipped, headers):
            sys.exit(f"{case['name']} is accepted with bit {bit} of the body flipped")
        refused += 1
    for name in ("webhook-id", "webhook-timestamp"):
        for bit, flipped in flips(headers[name].encode()):
            if accepts(webhook, body, {**headers, name: flipped.decode("latin-1")}):
                sys.exit(f"{case['name']} is accepted with bit {bit} of {name} flipped")
            refused += 1
print(f"{len(cases)} deliveries accepted, {refused} changed ones refused")
