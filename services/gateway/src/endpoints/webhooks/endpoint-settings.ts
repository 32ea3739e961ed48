interface GivenSettings {
  readonly url?: string;
  readonly name?: string | null;
  readonly description?: string;
  readonly secret?: string;
  readonly rotateSecret?: boolean;
  readonly events?: readonly string[];
  readonly documentTypes?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly maxInFlight?: number;
  readonly ratePerSecond?: number | null;
}

/**
 * Settings as delivery takes them. Those that the body does not have stay absent. null becomes ""
 * or 0, which delivery reads as the default.
 */
export function settingsOf({ name, events, documentTypes, headers, ratePerSecond, ...same }: GivenSettings) {
  return {
    ...same,
    ...(name === undefined ? {} : { name: name ?? "" }),
    ...(events ? { events: { names: [...events] } } : {}),
    ...(documentTypes ? { documentTypes: { names: [...documentTypes] } } : {}),
    ...(headers ? { headers: { values: { ...headers } } } : {}),
    ...(ratePerSecond === undefined ? {} : { ratePerSecond: ratePerSecond ?? 0 }),
  };
}
