import { tenantIdPattern } from "@vidimus/kit/ids";
import { rolePattern } from "@vidimus/kit/rpc/context/role-name";
import { publicKeyPattern } from "../trust-root/public-key.ts";

/** How a setting is named in the environment and in messages, and how its value is checked. */
export interface SettingRule {
  readonly variable: string;
  /** What the setting is; completes "… is needed". */
  readonly what: string;
  readonly pattern?: RegExp;
  /** The form that the pattern accepts, for messages. */
  readonly shape?: string;
  /**
   * Whether the value is or may hold a secret: messages never quote it, and a file may state it.
   */
  readonly secret?: boolean;
}

const target = {
  pattern: /^(dns:\/\/\/)?[^\s/:]+:\d{1,5}$|^\[[0-9a-f:]+\]:\d{1,5}$|^ipv[46]:[^\s/]+:\d{1,5}$/i,
  shape: "host:port",
};

/** Every setting; the flag is `--` and the setting's own name. */
export const settingRules = {
  gateway: {
    variable: "VIDIMUS_GATEWAY",
    what: "the base URL of the public API",
    pattern: /^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/,
    shape: "a URL like https://api.example.org",
  },
  access: { variable: "VIDIMUS_ACCESS", what: "the gateway's internal address", ...target },
  documents: { variable: "VIDIMUS_DOCUMENTS", what: "the address of the documents service", ...target },
  delivery: { variable: "VIDIMUS_DELIVERY", what: "the address of the delivery service", ...target },
  signing: { variable: "VIDIMUS_SIGNING", what: "the address of signing's admin door", ...target },
  phrases: { variable: "VIDIMUS_PHRASES", what: "the address of the phrases service", ...target },
  "console-url": {
    variable: "VIDIMUS_CONSOLE_URL",
    what: "the origin of the console",
    pattern: /^https?:\/\/[^\s/?#@]+$/,
    shape: "an origin like https://console.example.org",
  },
  root: {
    variable: "VIDIMUS_TRUST_ROOT",
    what: "the public key of the trust list's offline root",
    pattern: publicKeyPattern,
    shape: "an Ed25519 public key, base64 of SPKI DER",
  },
  mesh: {
    variable: "VIDIMUS_MESH",
    what: "the mesh doors",
    pattern: /^[a-z]+=[^\s,=]+:\d{1,5}(,[a-z]+=[^\s,=]+:\d{1,5})*$/,
    shape: "a list like documents=host:7151,signing=host:7153",
  },
  ops: {
    variable: "VIDIMUS_OPS",
    what: "the ops ports",
    pattern: /^[a-z]+=https?:\/\/[^\s,]+(,[a-z]+=https?:\/\/[^\s,]+)*$/,
    shape: "a list like gateway=http://host:9090,documents=http://host:9091",
  },
  mongodb: {
    variable: "VIDIMUS_MONGODB",
    what: "the URL of MongoDB",
    pattern: /^mongodb(\+srv)?:\/\/\S+$/,
    shape: "a URL like mongodb://host:27017/?replicaSet=rs0",
    secret: true,
  },
  nats: {
    variable: "VIDIMUS_NATS",
    what: "the URL of NATS",
    pattern: /^(nats|tls):\/\/\S+$/,
    shape: "a URL like nats://host:4222",
    secret: true,
  },
  cert: { variable: "VIDIMUS_CERT", what: "the file of your certificate, PEM" },
  keyfile: { variable: "VIDIMUS_KEYFILE", what: "the file of the certificate's private key, PEM" },
  ca: { variable: "VIDIMUS_CA", what: "the file of the authorities whose services are believed, PEM" },
  "identity-path": {
    variable: "VIDIMUS_IDENTITY_PATH",
    what: "the path of the services' identities",
    pattern: /^\/\S*\{service\}\S*$/,
    shape: "a path like /ns/vidimus/sa/{service}",
  },
  tenant: {
    variable: "VIDIMUS_TENANT",
    what: "a tenant",
    pattern: tenantIdPattern,
    shape: "a small letter, then up to 31 of a-z, 0-9 and _",
  },
  role: { variable: "VIDIMUS_ROLE", what: "a role", pattern: rolePattern, shape: "one word" },
  key: { variable: "VIDIMUS_API_KEY", what: "an API key", pattern: /^\S+$/, shape: "without spaces", secret: true },
} as const satisfies Record<string, SettingRule>;

export type SettingName = keyof typeof settingRules;

export const settingNames = Object.keys(settingRules) as SettingName[];

export type SettingValues = Partial<Record<SettingName, string>>;
