import type { Violation } from "@vidimus/kit/errors";
import { parseUuid } from "@vidimus/kit/ids";
import { parseLanguage, languageFault } from "./language.ts";
import type { PhraseDraft } from "./phrase.ts";

const phraseCharsMax = 256;
const descriptionCharsMax = 1_000;
const mistakesMax = 50;
/**
 * Most violations that are reported of one phrase, and of one import. Every unknown member is a
 * violation, so their number must be limited.
 */
export const violationsMax = 20;

/** Separates mistakes in a CSV cell. */
export const mistakeSeparator = "|";

/** Names under which callers send a tenant; ignored, because the RPC call names the tenant. */
export const tenantMembers: ReadonlySet<string> = new Set(["tenant", "tenantId", "tenant_id"]);

/**
 * Members that the service sets. They are ignored instead of refused, so that an export can be
 * imported again.
 */
const stampedMembers: ReadonlySet<string> = new Set(["createdAt", "updatedAt"]);

type Report = (pointer: string, message: string) => undefined;
/** Reads one member and reports its faults. After a fault its result is not used. */
type MemberReader<T> = (value: unknown, report: Report, pointer: string) => T | undefined;

const members = {
  id: readId,
  language: readLanguage,
  phrase: (value, report, pointer) => readText(value, report, pointer, 1, phraseCharsMax),
  caseSensitive: readSwitch,
  forbidden: readSwitch,
  commonMistakes: readMistakes,
  description: (value, report, pointer) => readText(value, report, pointer, 0, descriptionCharsMax),
} as const satisfies Record<keyof PhraseDraft, MemberReader<unknown>>;

/**
 * Parses a phrase object that `JSON.parse` returned.
 *
 * @param violations receives the faults, with pointers relative to the object
 * @param most maximum number of faults, at least one
 * @returns undefined when there are faults
 */
export function parsePhrase(
  value: unknown,
  violations: Violation[],
  most: number = violationsMax,
): PhraseDraft | undefined {
  const report: Report = (pointer, message) => {
    if (violations.length < most) violations.push({ pointer, message });
  };
  if (!isObject(value)) {
    report("", "must be a phrase object");
    return undefined;
  }
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(members, name) || stampedMembers.has(name) || tenantMembers.has(name)) continue;
    report(pointerTo(name), "is unknown");
    if (violations.length === most) return undefined;
  }
  const id = "id" in value ? members.id(value.id, report, "/id") : undefined;
  const language = members.language(value.language, report, "/language");
  const phrase = members.phrase(value.phrase, report, "/phrase");
  const { caseSensitive = false, forbidden = false, commonMistakes = [], description = "" } = value;
  const optional = {
    caseSensitive: members.caseSensitive(caseSensitive, report, "/caseSensitive") ?? false,
    forbidden: members.forbidden(forbidden, report, "/forbidden") ?? false,
    commonMistakes: members.commonMistakes(commonMistakes, report, "/commonMistakes") ?? [],
    description: members.description(description, report, "/description") ?? "",
  };
  if (violations.length > 0 || language === undefined || phrase === undefined) return undefined;
  return { ...(id === undefined ? {} : { id }), language, phrase, ...optional };
}

/** A violation as text, for example `phrase is required`. */
export function violationText({ pointer, message }: Violation): string {
  return `${pointer.slice(1) || "the row"} ${message}`;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function pointerTo(name: string): string {
  return `/${name.toWellFormed().slice(0, 40).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

function readId(value: unknown, report: Report, pointer: string): string | undefined {
  const id = typeof value === "string" ? parseUuid(value) : undefined;
  if (id === undefined) report(pointer, "must be a UUID");
  return id;
}

function readLanguage(value: unknown, report: Report, pointer: string): string | undefined {
  if (value === undefined || value === "") report(pointer, "is required");
  else if (typeof value !== "string") report(pointer, "must be a string");
  else {
    const language = parseLanguage(value);
    if (language === undefined) report(pointer, languageFault(value));
    return language;
  }
  return undefined;
}

function readSwitch(value: unknown, report: Report, pointer: string): boolean | undefined {
  if (typeof value === "boolean") return value;
  report(pointer, "must be true or false");
  return undefined;
}

function readMistakes(value: unknown, report: Report, pointer: string): string[] | undefined {
  if (!Array.isArray(value)) return report(pointer, "must be an array of strings");
  if (value.length > mistakesMax) return report(pointer, `must hold at most ${mistakesMax} strings`);
  return value.flatMap((item: unknown, index) => {
    const at = `${pointer}/${index}`;
    const mistake = readText(item, report, at, 1, phraseCharsMax);
    if (mistake?.includes(mistakeSeparator)) report(at, `must not contain ${mistakeSeparator}`);
    return mistake ?? [];
  });
}

function readText(value: unknown, report: Report, pointer: string, min: number, max: number): string | undefined {
  if (value === undefined) return report(pointer, "is required");
  if (typeof value !== "string") return report(pointer, "must be a string");
  if (!value.isWellFormed()) return report(pointer, "holds a lone surrogate");
  // NFC, because NFKC would change ligatures and superscripts.
  const text = value.normalize("NFC").trim();
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)) return report(pointer, "must not hold line breaks or control characters");
  if (text.length < min) return report(pointer, value === "" ? "is required" : "must not be blank");
  // A text has at least as many code units as code points, so most need no counting of code points.
  if (text.length > max && Array.from(text).length > max) {
    return report(pointer, `must have at most ${max} characters`);
  }
  return text;
}
