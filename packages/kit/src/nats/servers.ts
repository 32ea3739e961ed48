import { ConfigError } from "../env.ts";

/** The broker's URLs as options of nats.js, which itself reads only host and port of a URL. */
interface BrokerAddress {
  /** `host:port` or `host` each. Contains no credentials, so it may be logged. */
  readonly servers: string[];
  /** Whether the URLs say `tls://`: a server without TLS is then refused. */
  readonly isTls: boolean;
  readonly user?: string;
  readonly pass?: string;
  readonly token?: string;
}

/**
 * Parses one or several URLs, separated by commas: `nats://user:password@host:4222`,
 * `nats://token@host`, `tls://host`, `host:port`. Credentials of one URL hold for all.
 *
 * @throws ConfigError naming NATS_URL when a URL is malformed or the URLs contradict each other.
 * Its message does not quote the text, which may contain a password.
 */
export function parseServers(text: string): BrokerAddress {
  const urls = text.split(",").map((part) => readUrl(part.trim()));
  const [first, ...others] = urls;
  if (others.some(({ protocol }) => protocol !== first?.protocol))
    throw new ConfigError("NATS_URL: either all URLs begin with tls:// or none does");
  return { servers: urls.map(({ host }) => host), isTls: first?.protocol === "tls:", ...readCredentials(urls) };
}

function readUrl(text: string): URL {
  const url = URL.parse(text.includes("://") ? text : `nats://${text}`);
  if (!url || url.hostname === "" || !["nats:", "tls:"].includes(url.protocol))
    throw new ConfigError("NATS_URL must be one or more URLs such as nats://host:4222, separated by commas");
  // A bare `/`, `?` or `#` in credentials ends the host: the user name is taken for the host.
  if (!["", "/"].includes(url.pathname) || url.search || url.hash)
    throw new ConfigError(`NATS_URL: nothing may follow the port, and ${encoded}`);
  return url;
}

const encoded = "reserved characters of the user and the password must be percent-encoded";

function readCredentials(urls: readonly URL[]): Pick<BrokerAddress, "user" | "pass" | "token"> {
  const [first, ...others] = urls.filter(({ username, password }) => username !== "" || password !== "");
  if (!first) return {};
  if (others.some(({ username, password }) => username !== first.username || password !== first.password))
    throw new ConfigError("NATS_URL: the URLs have different users or passwords; one is used for all servers");
  const [user, pass] = [decode(first.username), decode(first.password)];
  if (user === "") throw new ConfigError("NATS_URL: there is a password without a user");
  return pass === "" ? { token: user } : { user, pass };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ConfigError(`NATS_URL: ${encoded}`);
  }
}
