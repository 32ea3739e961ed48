import { EnvReader } from "@vidimus/kit/env";
import { type BrokerSettings, readBroker } from "@vidimus/kit/nats/broker-settings";
import { readTeamsConfig, type TeamsConfig } from "@vidimus/kit/service/service";
import { parseRate, type Rate } from "./rates/rate.ts";
import { readTrustedProxies } from "@vidimus/kit/service/trusted-proxies";

export const accessDatabase = "vidimus_access";

/** An undefined rate means no limit. */
export interface GatewayConfig extends TeamsConfig {
  /** Address to which the public HTTP port is bound. */
  httpHost: string;
  /** Public HTTP port; 0 picks a free one. */
  httpPort: number;
  broker: BrokerSettings;
  /** `host:port` of the mesh door of each service the gateway calls. */
  documentsTarget: string;
  phrasesTarget: string;
  signingTarget: string;
  deliveryTarget: string;
  /** Limit for the requests of one address to this process. */
  ipRate: Rate | undefined;
  /** Limit for the failed authentications of one address at this process. */
  authFailureRate: Rate | undefined;
  /** Limit for the writes of one tenant, over all gateways. */
  writeBudget: Rate | undefined;
  /** CIDR ranges of proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies: string[];
  /** Whether the public port serves `/`, `/openapi.json`, and `/docs` with its guides. */
  publicDocs: boolean;
  /** Base URL at which the guides of docs/ are also published, without a final slash. */
  docsUrl?: string | undefined;
}

/**
 * Reads the settings; docs/operations.md lists the variables. Throws a `ConfigError` that names
 * every fault.
 */
export function readConfig(source: Readonly<Record<string, string | undefined>>): GatewayConfig {
  const env = new EnvReader(source);
  const ports = { grpcPort: 7050, meshPort: 7150, opsPort: 9090 };
  const config = {
    ...readTeamsConfig(env, { ...ports, database: accessDatabase }),
    httpHost: env.string("HTTP_HOST", { fallback: "127.0.0.1" }),
    httpPort: env.int("HTTP_PORT", { min: 0, max: 65_535, fallback: 8080 }),
    broker: readBroker(env),
    documentsTarget: env.string("DOCUMENTS_TARGET", { fallback: "127.0.0.1:7151" }),
    phrasesTarget: env.string("PHRASES_TARGET", { fallback: "127.0.0.1:7152" }),
    signingTarget: env.string("SIGNING_TARGET", { fallback: "127.0.0.1:7153" }),
    deliveryTarget: env.string("DELIVERY_TARGET", { fallback: "127.0.0.1:7154" }),
    ipRate: readRate(env, "IP_RATE_LIMIT", "3000/60s"),
    authFailureRate: readRate(env, "AUTH_FAILURE_RATE_LIMIT", "300/60s"),
    writeBudget: readRate(env, "WRITE_BUDGET", "3000/60s"),
    trustedProxies: readTrustedProxies(env, "TRUSTED_PROXIES"),
    publicDocs: env.onOff("DOCS", "off"),
    docsUrl: readDocsUrl(env),
  };
  env.finish();
  return config;
}

/** DOCS_URL, fit for a header between angle brackets; undefined when it is not set. */
function readDocsUrl(env: EnvReader): string | undefined {
  const text = env.string("DOCS_URL", { fallback: "" });
  if (text === "") return undefined;
  const url = URL.parse(text);
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "";
  if (!isPlain) env.fault(`DOCS_URL must be an http or https URL without query and fragment, not "${text}"`);
  return url?.href.replace(/\/+$/, "");
}

function readRate(env: EnvReader, name: string, fallback: string): Rate | undefined {
  const text = env.string(name, { fallback });
  if (text === "off") return undefined;
  const rate = parseRate(text);
  if (!rate) env.fault(`${name} must be a rate such as ${fallback}, or off, not "${text}"`);
  return rate;
}
