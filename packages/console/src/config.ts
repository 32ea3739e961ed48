import { EnvReader } from "@vidimus/kit/env";
import { isLoopback } from "@vidimus/kit/rpc/doors/shared/connections";
import { type ProcessConfig, readProcessConfig } from "@vidimus/kit/service/service";
import { readTrustedProxies } from "@vidimus/kit/service/trusted-proxies";
import type { ServiceTargets } from "./rpc/open-services.ts";
import { type OidcConfig, readOidcConfig } from "./sign-in/oidc-config.ts";

export const consoleDatabase = "vidimus_console";

export interface ConsoleConfig extends ProcessConfig, ServiceTargets {
  pagesHost: string;
  pagesPort: number;
  /** Scheme, host and port at which people reach the console. */
  origin: URL;
  /** Origin at which integrators reach the public API; shown in commands that they copy. */
  apiOrigin: URL;
  /** Origin of the public API at which the console itself reads the trust list. */
  gatewayUrl: URL;
  /** Public key of the trust list's offline root, base64 of SPKI DER; undefined without one. */
  trustRoot: string | undefined;
  /** CIDR ranges of proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies: string[];
  /** Whether people may sign in with one-time codes. */
  links: boolean;
  /** The issuer at which people sign in; undefined when one-time codes are the only way. */
  oidc: OidcConfig | undefined;
}

/**
 * Reads the settings; docs/operations.md lists the variables. Throws a `ConfigError` that names
 * every fault.
 */
export function readConfig(variables: Readonly<Record<string, string | undefined>>): ConsoleConfig {
  const env = new EnvReader(variables);
  const base = readProcessConfig(env, { opsPort: 9095, database: consoleDatabase });
  const pagesPort = env.int("CONSOLE_PORT", { min: 1, max: 65_535, fallback: 8090 });
  const origin = readOrigin(env, pagesPort);
  const apiOrigin = readUrl(env, "CONSOLE_API_ORIGIN", "http://127.0.0.1:8080");
  const oidc = readOidcConfig(env);
  const isLocal = isLoopbackOrigin(origin);
  const links = env.onOff("CONSOLE_LINKS", oidc || !isLocal ? "off" : "on");
  if (!links && !oidc)
    env.fault("CONSOLE_OIDC_ISSUER is required, unless CONSOLE_LINKS=on lets one-time codes sign in");
  const config = {
    ...base,
    pagesHost: env.string("CONSOLE_HOST", { fallback: "127.0.0.1" }),
    pagesPort,
    origin,
    apiOrigin,
    gatewayUrl: readUrl(env, "GATEWAY_URL", apiOrigin.origin),
    trustRoot: readTrustRoot(env),
    accessTarget: env.string("ACCESS_TARGET", { fallback: "127.0.0.1:7050" }),
    documentsTarget: env.string("DOCUMENTS_TARGET", { fallback: "127.0.0.1:7051" }),
    phrasesTarget: env.string("PHRASES_TARGET", { fallback: "127.0.0.1:7052" }),
    deliveryTarget: env.string("DELIVERY_TARGET", { fallback: "127.0.0.1:7054" }),
    trustedProxies: readTrustedProxies(env, "TRUSTED_PROXIES"),
    links,
    oidc,
  };
  env.finish();
  return config;
}

/** Whether an origin can be reached only from this machine. */
export function isLoopbackOrigin({ hostname }: URL): boolean {
  return isLoopback(hostname.replace(/^\[|\]$/g, ""));
}

/** An Ed25519 key in SPKI DER has 44 bytes, of which the first 12 are always the same. */
const publicKeyPattern = /^MCowBQYDK2VwAyEA[A-Za-z0-9+/]{43}=$/;

function readTrustRoot(env: EnvReader): string | undefined {
  const text = env.string("CONSOLE_TRUST_ROOT", { fallback: "" });
  if (text === "") return undefined;
  if (!publicKeyPattern.test(text)) {
    env.fault(
      "CONSOLE_TRUST_ROOT must be the public key of the offline root, as `vidimus trust-root create` prints it",
    );
  }
  return text;
}

function readUrl(env: EnvReader, name: string, fallback: string): URL {
  const text = env.string(name, { fallback });
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url;
  env.fault(`${name} must be an origin such as https://api.example.org, not "${text}"`);
  return new URL("http://127.0.0.1:8080");
}

function readOrigin(env: EnvReader, port: number): URL {
  const fallback = `http://127.0.0.1:${port}`;
  const text = env.string("CONSOLE_ORIGIN", { fallback });
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`) {
    env.fault(`CONSOLE_ORIGIN must be an origin such as https://console.example.org, not "${text}"`);
    return new URL(fallback);
  }
  // Without TLS a cookie could be read on the network.
  if (url.protocol === "http:" && !isLoopbackOrigin(url)) {
    env.fault(`CONSOLE_ORIGIN must be https unless it is of this machine, not "${text}"`);
  }
  return url;
}
