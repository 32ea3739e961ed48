import { comparableName } from "@vidimus/kit/rpc/context/comparable-name";
import { DomainError, type Violation } from "@vidimus/kit/errors";
import { jsonPointer } from "../json/json-value.ts";
import type { CheckedGuard } from "./definition.ts";

/** What guards look at. "The version" is the one that the transition acts on. */
export interface GuardFacts {
  readonly actor: string;
  /** The actor that wrote the version. */
  readonly writer: string;
  /** Whether any version of the document was ever published. */
  readonly everPublished: boolean;
  readonly now: Date;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly links: readonly unknown[];
  /** Violations that keep the version from publication; called only by `publishValid`. */
  violations(): Promise<readonly Violation[]>;
  /**
   * Id of another published document of the type that has the version's slug; called only by
   * `slugFree`.
   */
  slugHolder(): Promise<string | undefined> | string | undefined;
  /**
   * Hosts of the version that are no host names, and conflicts of its claims with other published
   * sites; called only by `siteFree`.
   */
  siteFaults(): Promise<readonly Violation[]> | readonly Violation[];
}

/**
 * Checks guards in turn; `Guard` in `definition.ts` says what a new guard needs.
 *
 * @param standing metadata of the refusal, besides `guard`
 * @throws DomainError `failed_precondition` with reason `guard_failed` for the first guard that
 * fails, with JSON pointers when the version is at fault
 */
export async function checkGuards(
  guards: readonly CheckedGuard[],
  facts: GuardFacts,
  standing: Readonly<Record<string, string>> = {},
): Promise<void> {
  for (const guard of guards) {
    const violations = await faultsOf(guard, facts);
    if (violations.length > 0) throw guardFailed(guard.kind, violations, standing);
  }
}

/** The refusal of a transition by a guard; its message names the first of `violations`. */
export function guardFailed(
  guard: CheckedGuard["kind"],
  violations: readonly Violation[],
  standing: Readonly<Record<string, string>>,
): DomainError {
  const [first] = violations;
  const message = `${guard}: ${first?.pointer ? `${first.pointer} ` : ""}${first?.message}`;
  const metadata = { guard, ...standing };
  return new DomainError("failed_precondition", message, { violations, reason: "guard_failed", metadata });
}

async function faultsOf(guard: CheckedGuard, facts: GuardFacts): Promise<readonly Violation[]> {
  switch (guard.kind) {
    case "publishValid":
      return facts.violations();
    case "slugFree":
      return fault(await facts.slugHolder(), "/meta/slug", (id) => `is the slug of published document ${id}`);
    case "siteFree":
      return facts.siteFaults();
    case "notEmbargoed":
      return fault(embargo(facts), "/meta/embargoUntil", (until) => `is ${until}, which is not past`);
    case "fourEyes":
      return fault(secondPair(facts), "", (text) => text);
    case "neverPublished":
      return fault(facts.everPublished || undefined, "", () => "the document was published before");
    case "metaPresent":
      return guard.keys
        .filter((key) => isMissing(facts.meta[key]))
        .map((key) => ({ pointer: jsonPointer(["meta", key]), message: "is missing" }));
    case "linkPresent":
      return hasLink(facts.links, guard.rel) ? [] : [{ pointer: "/links", message: `has no link "${guard.rel}"` }];
    default:
      return guard satisfies never;
  }
}

function fault<T>(found: T | undefined, pointer: string, message: (found: T) => string): readonly Violation[] {
  return found === undefined ? [] : [{ pointer, message: message(found) }];
}

/**
 * The value of an embargo that has not ended, as JSON. An unreadable time counts as not ended,
 * because what receivers have got cannot be called back.
 */
function embargo({ meta, now }: GuardFacts): string | undefined {
  const until = meta["embargoUntil"];
  if (until === undefined || until === null || until === "") return undefined;
  const time = typeof until === "string" ? instantOf(until) : Number.NaN;
  return time <= now.getTime() ? undefined : JSON.stringify(until);
}

/** Epoch milliseconds of an ISO 8601 time, in UTC when it has no offset; NaN for anything else. */
function instantOf(text: string): number {
  try {
    return Temporal.Instant.from(text).epochMilliseconds;
  } catch {
    return plainInstantOf(text);
  }
}

function plainInstantOf(text: string): number {
  try {
    return Temporal.PlainDateTime.from(text).toZonedDateTime("UTC").epochMilliseconds;
  } catch {
    return Number.NaN;
  }
}

function secondPair({ actor, writer }: GuardFacts): string | undefined {
  const [approver, author] = [comparableName(actor), comparableName(writer)];
  if (approver === "") return "a second pair of eyes needs a name (metadata vidimus-actor)";
  if (author === "") return "nobody knows who wrote this version: write it again, with a name";
  return approver === author ? `${writer} wrote this version` : undefined;
}

function isMissing(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === null || value === "";
}

function hasLink(links: readonly unknown[], rel: string): boolean {
  return links.some((link) => typeof link === "object" && link !== null && "rel" in link && link.rel === rel);
}
