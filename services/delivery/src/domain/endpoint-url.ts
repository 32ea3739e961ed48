import { DomainError } from "@vidimus/kit/errors";
import { isIP } from "node:net";

/** Which URLs the deployment allows. */
export interface UrlRule {
  readonly allowHttp: boolean;
  readonly mayDial: (address: string) => boolean;
  readonly mayUsePort: (port: number) => boolean;
}

const lengthMax = 2_048;
/** A host name, with or without the final dot. DNS has no longer ones (RFC 1035). */
const namePattern = /^[a-z0-9._-]{1,253}\.?$/;

/**
 * Checks a receiver's URL as far as possible without DNS; resolved addresses are checked at every
 * dial.
 *
 * @returns the URL in its normal form: a path of at least `/`, a lowercase host, a name in Unicode
 * as Punycode
 * @throws DomainError `invalid`, pointing at `/url`, for a URL that `rule` does not allow, that
 * contains a user, password or fragment, that is too long, or that another reader might read
 * differently
 */
export function parseEndpointUrl(text: string, rule: UrlRule): string {
  requireOneReading(text);
  const url = text.length <= lengthMax ? URL.parse(text) : null;
  if (!url) throw refusal(`must be an absolute URL of at most ${lengthMax} characters`);
  if (url.protocol === "http:" && !rule.allowHttp) {
    throw refusal("must use https (an operator allows http with DELIVERY_ALLOW_HTTP)");
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") throw refusal("must use https");
  requireWrittenHost(text, url.hostname);
  if (url.username !== "" || url.password !== "") throw refusal("must not carry a user name or password");
  if (url.hash !== "" || text.includes("#")) throw refusal("must not carry a fragment");
  const port = portOf(url);
  if (!rule.mayUsePort(port)) {
    throw refusal(`must not use port ${port} (an operator allows ports with DELIVERY_ALLOW_PORTS)`);
  }
  const literal = addressOfHost(url.hostname);
  if (literal !== undefined && !rule.mayDial(literal)) {
    throw refusal(`must not point at ${literal} (an operator allows ranges with DELIVERY_ALLOW_CIDRS)`);
  }
  return url.href;
}

/**
 * The URL parser drops tabs, line ends and outer spaces, and reads a backslash as a slash. Another
 * reader of the same text, such as a proxy, might see another host, so such texts are refused.
 */
function requireOneReading(text: string): void {
  if (/\p{Cc}/u.test(text)) throw refusal("must not contain control characters such as line ends, tabs or NUL");
  if (/\s/u.test(text)) throw refusal("must not contain spaces (write %20)");
  if (text.includes("\\")) throw refusal("must not contain a backslash (write / or %5C)");
}

/** Refuses `https:host`, `https://a..b` and `https://0x7f.1`, which only some parsers accept. */
function requireWrittenHost(text: string, hostname: string): void {
  const [, authority] = /^[a-z]+:\/\/([^/?#]+)/i.exec(text) ?? [];
  if (authority === undefined) throw refusal("must have a host after https://");
  if (
    hostname
      .split(".")
      .slice(0, hostname.endsWith(".") ? -1 : undefined)
      .includes("")
  ) {
    throw refusal(`must not have an empty label in its host ${hostname}`);
  }
  if (!hostname.startsWith("[") && !namePattern.test(hostname)) {
    throw refusal("must have a host of at most 253 characters: letters, digits, hyphens, underscores and dots");
  }
  const host = authority.replace(/^.*@/, "").replace(/:\d*$/, "");
  if (isIP(hostname) === 4 && host !== hostname) {
    throw refusal(`must write an IPv4 address as four decimal numbers: ${hostname}`);
  }
}

/** The port of an http or https URL; 80 or 443 when the URL names none. */
export function portOf({ protocol, port }: Pick<URL, "protocol" | "port">): number {
  if (port !== "") return Number(port);
  return protocol === "http:" ? 80 : 443;
}

/**
 * The address of a URL's host if it is known without DNS: an IP literal, or loopback for
 * `localhost` and its subdomains. Undefined for any other name.
 */
function addressOfHost(hostname: string): string | undefined {
  const host = bareHost(hostname);
  if (isLocalhost(host)) return "127.0.0.1";
  return isIP(host) === 0 ? undefined : host;
}

/** A host without the brackets of an IPv6 literal and without the final dot. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}

/** Whether a name is reserved for loopback (RFC 6761). */
export function isLocalhost(host: string): boolean {
  return /^(?:.+\.)?localhost$/i.test(host);
}

function refusal(message: string): DomainError {
  return new DomainError("invalid", `url ${message}`, { violations: [{ pointer: "/url", message }] });
}
