const year = String.raw`(?<year>\d{4})`;
const two = (name: string) => String.raw`(?<${name}>\d\d)`;
const fraction = String.raw`(?:[.,](?<fraction>\d+))?`;
const offset = String.raw`(?<offset>Z|[+-]\d\d(?::?\d\d)?)?`;
const extended = `${year}-${two("month")}-${two("day")}(?:T${two("hour")}(?::${two("minute")}(?::${two("second")}${fraction})?)?${offset})?`;
const basic = `${year}${two("month")}${two("day")}(?:T${two("hour")}(?:${two("minute")}(?:${two("second")}${fraction})?)?${offset})?`;
const patterns = [new RegExp(`^${extended}$`), new RegExp(`^${basic}$`)];

const minuteMs = 60_000;
const dayMs = 86_400_000;

/**
 * Milliseconds since 1970 of an ISO 8601 date or date-time in extended or basic form; undefined for
 * anything else.
 *
 * Without an offset it is UTC. Fractions of a millisecond are rounded up, so that "at or after"
 * stays exact for times of whole milliseconds. A leap second counts as the second after it, and is
 * accepted only at 23:59:60 UTC. A space before the offset is read as `+`, because an unescaped `+`
 * in a URL arrives as a space.
 */
export function parseTimestamp(text: string): number | undefined {
  const repaired = text.replace(/ (?=\d\d(?::?\d\d)?$)/, "+");
  const groups = patterns.map((pattern) => pattern.exec(repaired)?.groups).find((found) => found !== undefined);
  if (!groups) return undefined;
  const shift = offsetMs(groups.offset ?? "Z");
  const leap = groups.second === "60";
  const local = wallClockMs(groups, leap ? 59 : Number(groups.second ?? 0));
  if (shift === undefined || local === undefined) return undefined;
  const utc = local - shift + (leap ? 1000 : 0);
  if (leap && mod(utc, dayMs) >= 1000) return undefined;
  return utc + fractionMs(groups.fraction ?? "");
}

function wallClockMs(groups: Readonly<Record<string, string | undefined>>, second: number): number | undefined {
  const { year, month, day, hour, minute } = groups;
  const fields = { year: Number(year), month: Number(month), day: Number(day) };
  const time = { hour: Number(hour ?? 0), minute: Number(minute ?? 0), second };
  try {
    const wall = Temporal.PlainDateTime.from({ ...fields, ...time }, { overflow: "reject" });
    return wall.toZonedDateTime("UTC").epochMilliseconds;
  } catch {
    return undefined;
  }
}

function offsetMs(text: string): number | undefined {
  if (text === "Z") return 0;
  const hours = Number(text.slice(1, 3));
  const minutes = Number(text.slice(3).replace(":", "") || 0);
  if (hours > 23 || minutes > 59) return undefined;
  return (text.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * minuteMs;
}

function fractionMs(digits: string): number {
  const whole = Number(digits.slice(0, 3).padEnd(3, "0"));
  return /[1-9]/.test(digits.slice(3)) ? whole + 1 : whole;
}

const mod = (value: number, by: number): number => ((value % by) + by) % by;
