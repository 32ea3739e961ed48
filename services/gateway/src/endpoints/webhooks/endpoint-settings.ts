/** Settings as the body of a request gives them. */
interface GivenSettings {
  readonly url?: string;
  readonly events?: readonly string[];
  readonly documentTypes?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly maxInFlight?: number;
  readonly ratePerSecond?: number;
}

/** Settings as delivery takes them: absent where the body has none. */
export function settingsOf({ url, events, documentTypes, headers, maxInFlight, ratePerSecond }: GivenSettings) {
  return {
    ...(url === undefined ? {} : { url }),
    ...(events ? { events: { names: [...events] } } : {}),
    ...(documentTypes ? { documentTypes: { names: [...documentTypes] } } : {}),
    ...(headers ? { headers: { values: { ...headers } } } : {}),
    ...(maxInFlight === undefined ? {} : { maxInFlight }),
    ...(ratePerSecond === undefined ? {} : { ratePerSecond }),
  };
}
