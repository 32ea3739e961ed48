/** What the system's codes of failed connections mean. */
const meanings: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection broke",
  ENOTFOUND: "the host name is unknown",
  EAI_AGAIN: "the host name cannot be looked up",
  EHOSTUNREACH: "no way to the host",
  ENETUNREACH: "no way to the network",
  ETIMEDOUT: "no answer",
};

const codes = new RegExp(String.raw`\b(${Object.keys(meanings).join("|")})\b`);

/**
 * Says in words why a connection failed. Messages of transports quote the system's code among
 * addresses and stack names; a message without such a code is kept.
 */
export function connectionFailure(message: string): string {
  const [code = ""] = codes.exec(message) ?? [];
  return code === "" ? message : `${meanings[code]} (${code})`;
}
