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
 * Describes why a connection failed. Node's messages have the system's code between the name of a
 * system call and an address (`connect ECONNREFUSED 127.0.0.1:80`). A message without a known code
 * is returned unchanged.
 */
export function connectionFailure(message: string): string {
  const [code = ""] = codes.exec(message) ?? [];
  return code === "" ? message : `${meanings[code]} (${code})`;
}
