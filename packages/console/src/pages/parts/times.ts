import { type Html, html } from "../../markup/html.ts";

const units = [
  { ms: 86_400_000, name: "day" },
  { ms: 3_600_000, name: "hour" },
  { ms: 60_000, name: "minute" },
] as const;
/** Beyond this distance a date is shown instead of a number of days. */
const relativeMsMax = 30 * 86_400_000;
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const instants = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });
const seconds = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium", timeZone: "UTC" });
const dates = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone: "UTC" });

/**
 * An instant in words, `2 minutes ago`, `in 3 days` or `27 Nov 2027`, with the time to the minute,
 * in UTC, in the title.
 */
export function timeAgo(at: Date, now: Date): Html {
  return html`<time datetime="${at.toISOString()}" title="${instants.format(at)} UTC">${inWords(at, now)}</time>`;
}

/** An instant with its zone: `24 Nov 2026, 01:10 UTC`. */
export function instant(at: Date): Html {
  return html`<time datetime="${at.toISOString()}">${instants.format(at)} UTC</time>`;
}

/** An instant to the second: `24 Nov 2026, 01:10:09 UTC`. */
export function exactly(at: Date): Html {
  return html`<time datetime="${at.toISOString()}">${seconds.format(at)} UTC</time>`;
}

/** When something comes: `in 3 hours`, or `within a minute`, also when it is overdue. */
export function dueIn(at: Date, now: Date): Html {
  return at.getTime() - now.getTime() < 60_000 ? html`within a minute` : timeAgo(at, now);
}

function inWords(at: Date, now: Date): string {
  const ms = at.getTime() - now.getTime();
  if (Math.abs(ms) >= relativeMsMax) return dates.format(at);
  const unit = units.find((each) => Math.abs(ms) >= each.ms);
  return unit ? relative.format(Math.trunc(ms / unit.ms), unit.name) : "just now";
}
