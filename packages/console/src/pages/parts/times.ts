import { type Html, html } from "../../markup/html.ts";
import { dayOf, distance, minuteOf, secondOf } from "../../markup/in-words.ts";

const relativeMsMax = 30 * 86_400_000;

/**
 * An instant in words, `2 minutes ago`, `in 3 days` or, from 30 days on, `27 Nov 2027`. The tooltip
 * has the time to the minute, in UTC.
 */
export function timeAgo(at: Date, now: Date): Html {
  return html`<time datetime="${at.toISOString()}" title="${toMinute(at)} UTC">${inWords(at, now)}</time>`;
}

/** An instant with its zone: `24 Nov 2026, 01:10 UTC`. */
export function instant(at: Date): Html {
  return html`<time datetime="${at.toISOString()}">${toMinute(at)} UTC</time>`;
}

/** An instant to the second: `24 Nov 2026, 01:10:09 UTC`. */
export function exactly(at: Date): Html {
  return html`<time datetime="${at.toISOString()}">${dayOf(at)}, ${secondOf(at)} UTC</time>`;
}

/** When something comes: `in 3 hours`, or `within a minute`, also when it is overdue. */
export function dueIn(at: Date, now: Date): Html {
  return at.getTime() - now.getTime() < 60_000 ? html`within a minute` : timeAgo(at, now);
}

function inWords(at: Date, now: Date): string {
  const ms = at.getTime() - now.getTime();
  return Math.abs(ms) >= relativeMsMax ? dayOf(at) : distance(ms);
}

function toMinute(at: Date): string {
  return `${dayOf(at)}, ${minuteOf(at)}`;
}
