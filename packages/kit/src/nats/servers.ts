import { ConfigError } from "../env.ts";

/** Connection options of nats.js, which ignores credentials in its server URLs. */
interface BrokerAddress {
  /** `host:port` or `tls://host:port` each. Contains no credentials, so it may be logged. */
  readonly servers: string[];
  readonly user?: string;
  readonly pass?: string;
  readonly token?: string;
}

/**
 * Parses one or several URLs, separated by commas: `nats://user:password@host:4222`,
 * `nats://token@host`, `tls://host`, `host:port`.
 *
 * @throws ConfigError naming NATS_URL. It does not quote the text, which may contain a password.
 */
export function parseServers(text: string): BrokerAddress {
  const urls = text.split(",").map((part) => readUrl(part.trim()));
  const known = urls.find(({ username }) => username !== "");
  const user = decodeURIComponent(known?.username ?? "");
  const pass = decodeURIComponent(known?.password ?? "");
  const servers = urls.map(({ protocol, host }) => (protocol === "tls:" ? `tls://${host}` : host));
  if (user === "") return { servers };
  return pass === "" ? { servers, token: user } : { servers, user, pass };
}

function readUrl(text: string): URL {
  const url = URL.parse(text.includes("://") ? text : `nats://${text}`);
  if (url && url.hostname !== "" && ["nats:", "tls:"].includes(url.protocol)) return url;
  throw new ConfigError("NATS_URL must be one or more URLs such as nats://host:4222, separated by commas");
}
