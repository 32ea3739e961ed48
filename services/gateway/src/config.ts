import { EnvReader } from "@vidimus/kit/env";
import { type BaseConfig, readBaseConfig } from "@vidimus/kit/service";
import ipaddr from "ipaddr.js";
import { parseRate, type Rate } from "./domain/rate.ts";

/** Settings of the gateway. A rate that is undefined is off. */
export interface GatewayConfig extends BaseConfig {
  /** Address of the public HTTP port. */
  httpHost: string;
  /** Public HTTP port; 0 picks a free one. */
  httpPort: number;
  natsUrl: string;
  /** `host:port` of each service the gateway calls. */
  documentsTarget: string;
  phrasesTarget: string;
  signingTarget: string;
  /** Requests an address may make, in this process. */
  ipRate: Rate | undefined;
  /** Failed authentications an address may have, in this process. */
  authFailureRate: Rate | undefined;
  /** Writes a tenant may make, over all gateways. */
  writeBudget: Rate | undefined;
  /** Ranges whose `X-Forwarded-For` is believed. */
  trustedProxies: string[];
  /** Whether `/openapi.json` and `/docs` are on the public port too. */
  publicDocs: boolean;
}

/** Reads the settings; README.md lists the variables. Throws a `ConfigError` that names every fault. */
export function readConfig(source: Readonly<Record<string, string | undefined>>): GatewayConfig {
  const env = new EnvReader(source);
  const config = {
    ...readBaseConfig(env, { grpcPort: 50_050, opsPort: 9090, database: "vidimus_access" }),
    httpHost: env.string("HTTP_HOST", { fallback: "127.0.0.1" }),
    httpPort: env.int("HTTP_PORT", { min: 0, max: 65_535, fallback: 8080 }),
    natsUrl: env.string("NATS_URL"),
    documentsTarget: env.string("DOCUMENTS_TARGET", { fallback: "127.0.0.1:50051" }),
    phrasesTarget: env.string("PHRASES_TARGET", { fallback: "127.0.0.1:50052" }),
    signingTarget: env.string("SIGNING_TARGET", { fallback: "127.0.0.1:50053" }),
    ipRate: readRate(env, "IP_RATE_LIMIT", "3000/60s"),
    authFailureRate: readRate(env, "AUTH_FAILURE_RATE_LIMIT", "300/60s"),
    writeBudget: readRate(env, "WRITE_BUDGET", "3000/60s"),
    trustedProxies: readRanges(env, "TRUSTED_PROXIES"),
    publicDocs: env.onOff("DOCS", "off"),
  };
  env.finish();
  return config;
}

function readRate(env: EnvReader, name: string, fallback: string): Rate | undefined {
  const text = env.string(name, { fallback });
  if (text === "off") return undefined;
  const rate = parseRate(text);
  if (!rate) env.fault(`${name} must be a rate such as ${fallback}, or off, not "${text}"`);
  return rate;
}

/** A list of ranges only: a hop count trusts nobody in this Fastify, and `true` trusts a header the client wrote. */
function readRanges(env: EnvReader, name: string): string[] {
  const ranges = (env.optional(name) ?? "").split(",").map((range) => range.trim());
  const given = ranges.filter((range) => range !== "");
  for (const range of given) {
    if (!ipaddr.isValidCIDR(range)) env.fault(`${name} must be a list of CIDR ranges, "${range}" is none`);
  }
  return given;
}
