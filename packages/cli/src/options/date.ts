import { InvalidArgumentError } from "commander";

/** Reads an ISO 8601 date or date-time; without an offset it is in UTC. */
export function readDate(text: string): Date {
  const isDate = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?$/.test(text);
  const date = new Date(/T/.test(text) && !/(?:Z|[+-]\d\d:\d\d)$/.test(text) ? `${text}Z` : text);
  if (isDate && !Number.isNaN(date.getTime())) return date;
  throw new InvalidArgumentError("It must be an ISO 8601 date or date-time, such as 2026-11-21T09:30:00Z.");
}
