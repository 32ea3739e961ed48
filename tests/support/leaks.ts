/** The forms in which a text can be in a log: plain, escaped and encoded. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const escaped = JSON.stringify(secret).slice(1, -1);
  const base64 = bytes.toString("base64").replace(/=+$/, "");
  return [
    secret,
    escaped,
    JSON.stringify(escaped).slice(1, -1),
    encodeURIComponent(secret),
    base64,
    bytes.toString("hex"),
  ];
}

/** Names the secrets that a text contains in any form. */
export function findLeaks(text: string, secrets: Readonly<Record<string, string>>): string[] {
  const found = Object.entries(secrets).filter(([, secret]) =>
    formsOf(secret).some((written) => text.includes(written)),
  );
  return found.map(([name]) => name);
}
