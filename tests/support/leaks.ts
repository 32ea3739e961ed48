/** The ways in which a text can stand in a log: as it is, escaped, and encoded. */
function writings(secret: string): string[] {
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

/** Names the secrets that stand in a text, in any of their writings. */
export function findLeaks(text: string, secrets: Readonly<Record<string, string>>): string[] {
  const found = Object.entries(secrets).filter(([, secret]) =>
    writings(secret).some((written) => text.includes(written)),
  );
  return found.map(([name]) => name);
}
