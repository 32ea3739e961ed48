import { ConfigError, type EnvReader } from "@vidimus/kit/env";
import { readPrivateFile, readSmallFile } from "@vidimus/kit/private-file";
import { isLoopback } from "@vidimus/kit/rpc/doors/shared/connections";
import { type GroupRules, parseGroupRules } from "./group-rules.ts";

export interface OidcConfig {
  readonly issuer: URL;
  readonly clientId: string;
  /** Undefined for a public client, which uses only PKCE. */
  readonly clientSecret: string | undefined;
  /** The scopes that the console asks the issuer for, separated by spaces. */
  readonly scope: string;
  /** Roles that groups give; undefined when members are only invited. */
  readonly groups: GroupRules | undefined;
}

const secretBytesMax = 4_096;
const rulesBytesMax = 262_144;

/** Reads the settings that begin with CONSOLE_OIDC_. Undefined without an issuer. */
export function readOidcConfig(env: EnvReader): OidcConfig | undefined {
  const issuer = readIssuer(env);
  if (!issuer) return undefined;
  const secretFile = env.optional("CONSOLE_OIDC_CLIENT_SECRET_FILE");
  const groupsFile = env.optional("CONSOLE_OIDC_GROUPS");
  const read = <T>(name: string, file: string | undefined, parse: (path: string) => T): T | undefined => {
    try {
      return file === undefined ? undefined : parse(file);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      for (const line of error.message.split("\n")) env.fault(`${name}: ${line}`);
      return undefined;
    }
  };
  return {
    issuer,
    clientId: env.string("CONSOLE_OIDC_CLIENT_ID"),
    clientSecret: read("CONSOLE_OIDC_CLIENT_SECRET_FILE", secretFile, (path) =>
      readPrivateFile(path, secretBytesMax).toString("utf8").trim(),
    ),
    scope: env.string("CONSOLE_OIDC_SCOPE", {
      fallback: "openid profile email",
      pattern: /(?:^| )openid(?: |$)/,
      shape: "a list of scopes with openid in it",
    }),
    groups: read("CONSOLE_OIDC_GROUPS", groupsFile, (path) =>
      parseGroupRules(readSmallFile(path, rulesBytesMax).toString("utf8")),
    ),
  };
}

function readIssuer(env: EnvReader): URL | undefined {
  const text = env.optional("CONSOLE_OIDC_ISSUER");
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  const isSafe =
    url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname.replace(/^\[|\]$/g, "")));
  if (url && isSafe) return url;
  env.fault(`CONSOLE_OIDC_ISSUER must be an https URL, not "${text}"`);
  return undefined;
}
