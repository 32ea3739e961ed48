import { DomainError } from "@vidimus/kit/errors";
import { isIP } from "node:net";

/** Which URLs a deployment allows. */
export interface UrlRule {
  readonly allowHttp: boolean;
  readonly mayDial: (address: string) => boolean;
  readonly mayUsePort: (port: number) => boolean;
}

const lengthMax = 2_048;

/**
 * Checks a receiver's URL as far as that is possible without DNS. Resolved addresses are checked at
 * every dial. A refusal names the setting with which an operator allows the URL.
 *
 * @returns the URL in its normal form, in which decimal, hex and octal IPv4 addresses have four
 * parts
 * @throws DomainError `invalid`, pointing at `/url`
 */
export function parseEndpointUrl(text: string, rule: UrlRule): string {
  const url = text.length <= lengthMax ? URL.parse(text) : null;
  if (!url) throw refusal(`must be an absolute URL of at most ${lengthMax} characters`);
  if (url.protocol === "http:" && !rule.allowHttp) {
    throw refusal("must use https (an operator allows http with DELIVERY_ALLOW_HTTP)");
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") throw refusal("must use https");
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

/** The port of an http or https URL. */
export function portOf({ protocol, port }: Pick<URL, "protocol" | "port">): number {
  if (port !== "") return Number(port);
  return protocol === "http:" ? 80 : 443;
}

/**
 * The address of a URL's host that needs no DNS: an IP literal, or loopback for `localhost`.
 * Undefined for a name.
 */
function addressOfHost(hostname: string): string | undefined {
  const host = bareHost(hostname);
  if (isLocalhost(host)) return "127.0.0.1";
  return isIP(host) === 0 ? undefined : host;
}

/** A host without the brackets of an IPv6 literal and without the dot of the DNS root. */
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
