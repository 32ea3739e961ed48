/**
 * A test vector: a trust list, its statement and the delegation of an offline root, computed by
 * other software. The private seed of the root is 32 bytes of 0x03, of the list key 32 bytes of
 * 0x04. The listed key is that of `webhook-vector.ts`.
 */
export const trustVector = {
  /** Base64 of SPKI DER. */
  root: "MCowBQYDK2VwAyEA7UkoxijRwsbq6QM4kFmVYSlZJzpcY/k2NsFGFKyHN9E=",
  listKey: "MCowBQYDK2VwAyEAypOsFwUYcHHWe4PH/w7+gQjo7EUwV113JoeTM9vavnw=",
  listKeyId: "ed25519-0BbfPYM3NhfAa14d",
  revision: 5,
  issuedAt: new Date("2026-11-21T09:30:00.000Z"),
  delegatedUntil: new Date("2027-11-21T00:00:00.000Z"),
  body: [
    '{"active":"ed25519-_RENMB0vB33hQUuP","keys":[{"keyId":"ed25519-_RENMB0vB33hQUuP","algorithm":"ed25519",',
    '"publicKey":"MCowBQYDK2VwAyEAiojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w=",',
    '"validFrom":"2026-11-01T00:00:00.000Z","validUntil":null}]}',
  ].join(""),
  statement: [
    "vidimus-trust-v1",
    "5",
    "2026-11-21T09:30:00.000Z",
    "08dc58bf6be65798ec57a45fb31183599310da3eaac47aea9a0a32a32b057c63",
  ].join("\n"),
  /** Base64 of 64 bytes: the list key's signature of the statement. */
  signature: "mTIpcdsa2vzOYhSFFfbv0A0Tpi4NZWZeJt3W5X5hYQy6PGuqUQ330lFwYKf1dnqq/7JSNTPGyLtrVvY+0UY5Dw==",
  delegation: [
    "vidimus-trust-root-v1",
    "ed25519-0BbfPYM3NhfAa14d",
    "MCowBQYDK2VwAyEAypOsFwUYcHHWe4PH/w7+gQjo7EUwV113JoeTM9vavnw=",
    "2027-11-21T00:00:00.000Z",
    "xTqhfYSe2I4qyfpnENr+Wj9S43TpExTRG3ryE7aghslOOJ1bToB/XI0o5qU22ySOwCRNuQaSmBpUD8byizW2CA==",
  ].join("\n"),
  headers: {
    "vidimus-trust-statement":
      "dmlkaW11cy10cnVzdC12MQo1CjIwMjYtMTEtMjFUMDk6MzA6MDAuMDAwWgowOGRjNThiZjZiZTY1Nzk4ZWM1N2E0NWZiMzExODM1OTkzMTBkYTNlYWFjNDdhZWE5YTBhMzJhMzJiMDU3YzYz",
    "vidimus-trust-signature": [
      'keyid="ed25519-0BbfPYM3NhfAa14d"',
      "key=:MCowBQYDK2VwAyEAypOsFwUYcHHWe4PH/w7+gQjo7EUwV113JoeTM9vavnw=:",
      "sig=:mTIpcdsa2vzOYhSFFfbv0A0Tpi4NZWZeJt3W5X5hYQy6PGuqUQ330lFwYKf1dnqq/7JSNTPGyLtrVvY+0UY5Dw==:",
      [
        "delegation=:dmlkaW11cy10cnVzdC1yb290LXYxCmVkMjU1MTktMEJiZlBZTTNOaGZBYTE0ZApNQ293QlFZREsyVndBeUVBeXBPc0Z3VVljSEhX",
        "ZTRQSC93NytnUWpvN0VVd1YxMTNKb2VUTTl2YXZudz0KMjAyNy0xMS0yMVQwMDowMDowMC4wMDBaCnhUcWhmWVNlMkk0cXlmcG5FTnIrV2o5UzQzVHBFeFRSRzNyeUU3YWdoc2xPT0oxYlRvQi9YSTBvNXFVMjJ5U093Q1JOdVFhU21CcFVEOGJ5aXpXMkNBPT0=:",
      ].join(""),
    ].join(", "),
  },
};
