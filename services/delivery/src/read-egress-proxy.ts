import type { EnvReader } from "@vidimus/kit/env";
import type { EgressProxy } from "./net/proxy-connector.ts";

/**
 * Reads the forward proxy that a setting names: `http://host:port` or `https://host:port`,
 * optionally with user and password. Faults do not quote the value, which may hold the password.
 */
export function readEgressProxy(env: EnvReader, name: string): EgressProxy | undefined {
  const text = env.optional(name);
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (!url || !isProxyUrl(url)) {
    env.fault(`${name} must be http://host:port or https://host:port, with user:password@ if the proxy wants them`);
    return undefined;
  }
  const { origin, username, password } = url;
  if (username === "" && password === "") return { origin };
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { origin, authorization: `Basic ${Buffer.from(credentials).toString("base64")}` };
}

function isProxyUrl({ protocol, hostname, pathname, search, hash, username, password }: URL): boolean {
  if (!["http:", "https:"].includes(protocol) || hostname === "") return false;
  return pathname === "/" && search === "" && hash === "" && isDecodable(username) && isDecodable(password);
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
