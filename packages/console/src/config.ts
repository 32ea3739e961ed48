import { EnvReader } from "@vidimus/kit/env";
import { isLoopback } from "@vidimus/kit/rpc/connections";
import { type ProcessConfig, readProcessConfig } from "@vidimus/kit/service/service";
import { readTrustedProxies } from "@vidimus/kit/service/trusted-proxies";
import { type OidcConfig, readOidcConfig } from "./sign-in/oidc-config.ts";

export const consoleDatabase = "vidimus_console";

/** Settings of the console. */
export interface ConsoleConfig extends ProcessConfig {
  /** Address of the pages. */
  pagesHost: string;
  /** Port of the pages. */
  pagesPort: number;
  /** What people type to reach the console: scheme, host and port. */
  origin: URL;
  /** `host:port` of the teams door that serves `vidimus.access.v1`. */
  accessTarget: string;
  /** CIDR ranges of proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies: string[];
  /** Whether one-time codes sign in. */
  links: boolean;
  /** Undefined while only codes sign in. */
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
    accessTarget: env.string("ACCESS_TARGET", { fallback: "127.0.0.1:7050" }),
    trustedProxies: readTrustedProxies(env, "TRUSTED_PROXIES"),
    links,
    oidc,
  };
  env.finish();
  return config;
}

/** Whether only browsers of this machine reach an origin. */
export function isLoopbackOrigin({ hostname }: URL): boolean {
  return isLoopback(hostname.replace(/^\[|\]$/g, ""));
}

function readOrigin(env: EnvReader, port: number): URL {
  const fallback = `http://127.0.0.1:${port}`;
  const text = env.string("CONSOLE_ORIGIN", { fallback });
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`) {
    env.fault(`CONSOLE_ORIGIN must be an origin such as https://console.example.org, not "${text}"`);
    return new URL(fallback);
  }
  // Without TLS a cookie could be read on the way.
  if (url.protocol === "http:" && !isLoopbackOrigin(url)) {
    env.fault(`CONSOLE_ORIGIN must be https unless it is of this machine, not "${text}"`);
  }
  return url;
}
