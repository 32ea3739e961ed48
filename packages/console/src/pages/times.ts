import { type Html, html } from "./html.ts";

const units = [
  { ms: 86_400_000, name: "day" },
  { ms: 3_600_000, name: "hour" },
  { ms: 60_000, name: "minute" },
] as const;
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const instants = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });

/** An instant as people say it, `2 minutes ago`, with the instant itself. */
export function timeAgo(at: Date, now: Date): Html {
  return html`<time datetime="${at.toISOString()}" title="${instants.format(at)} UTC">${inWords(at, now)}</time>`;
}

/** An instant with its zone: `24 Nov 2026, 01:10 UTC`. */
export function instant(at: Date): Html {
  return html`<time datetime="${at.toISOString()}">${instants.format(at)} UTC</time>`;
}

function inWords(at: Date, now: Date): string {
  const ms = at.getTime() - now.getTime();
  const unit = units.find((each) => Math.abs(ms) >= each.ms);
  return unit ? relative.format(Math.trunc(ms / unit.ms), unit.name) : "just now";
}
