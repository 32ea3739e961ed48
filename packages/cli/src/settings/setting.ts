/** What a command can be told, by whichever way. */
export interface SettingRule {
  /** Of its environment variable. */
  readonly variable: string;
  /** Completes "… is needed". */
  readonly what: string;
  readonly pattern?: RegExp;
  /** What the pattern asks for, in words. */
  readonly shape?: string;
}

const target = { pattern: /^(dns:\/\/\/)?[^\s/:]+:\d{1,5}$|^\[[0-9a-f:]+\]:\d{1,5}$/i, shape: "host:port" };

/** Every setting, with the names it goes by: the flag is `--` and the setting's own name. */
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
  tenant: {
    variable: "VIDIMUS_TENANT",
    what: "a tenant",
    pattern: /^[a-z][a-z0-9_]{0,31}$/,
    shape: "a small letter, then up to 31 of a-z, 0-9 and _",
  },
  role: { variable: "VIDIMUS_ROLE", what: "a role", pattern: /^[\w-]{1,64}$/, shape: "one word" },
  key: { variable: "VIDIMUS_API_KEY", what: "an API key", pattern: /^\S+$/, shape: "without spaces" },
} as const satisfies Record<string, SettingRule>;

/** The name of a setting, in flags and profiles. */
export type SettingName = keyof typeof settingRules;

/** All names, in the order of the table. */
export const settingNames = Object.keys(settingRules) as SettingName[];

/** Values of some settings. */
export type SettingValues = Partial<Record<SettingName, string>>;
