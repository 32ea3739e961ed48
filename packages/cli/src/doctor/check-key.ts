import { isJsonObject } from "../json-object.ts";
import { fetchPage, jsonOf, type Page } from "./fetch-page.ts";
import { broken, type Finding, ok, unchecked, warning } from "./finding.ts";
import { checkBudget } from "./check-budget.ts";

interface Probe {
  readonly check: string;
  readonly path: string;
  readonly init: RequestInit;
  /** The status with which a healthy gateway answers. */
  readonly expected: number;
  readonly scope: string;
  /** What to do about an unexpected status, or about no answer. */
  readonly remedy: string;
}

const reads: readonly Probe[] = [
  {
    check: "documents by HTTP",
    path: "/v1/documents?type=core/article&limit=1",
    init: {},
    expected: 200,
    scope: "publisher:read",
    remedy: "The gateway does not reach documents: see DOCUMENTS_TARGET, and /readyz of documents.",
  },
  {
    check: "phrases by HTTP",
    // `zxx` means "no linguistic content": no dictionary has phrases of it, so the answer is small.
    path: "/v1/phrases?language=zxx",
    init: {},
    expected: 200,
    scope: "phrases:read",
    remedy: "The gateway does not reach phrases: see PHRASES_TARGET, and /readyz of phrases.",
  },
];

/** An empty document is charged to the budget and then refused, so nothing is stored. */
const write: Probe = {
  check: "write budget",
  path: "/v1/documents",
  init: { method: "POST", body: "{}", headers: { "content-type": "application/json" } },
  expected: 400,
  scope: "documents:create",
  remedy: "See the log of the gateway, and whether it reaches MongoDB.",
};

export async function checkKey(gateway: string, key: string | undefined): Promise<Finding[]> {
  if (!key)
    return [unchecked("API key", "Pass --key or VIDIMUS_API_KEY to check what lies behind the gateway.", "none given")];
  const answers = await Promise.all(
    [...reads, write].map(async (probe) => [probe, await ask(gateway, key, probe)] as const),
  );
  const seen = answers.flatMap(([, page]) => (typeof page === "string" ? [] : [page]));
  return [...checkAcceptance(seen), ...answers.flatMap(([probe, page]) => toFindings(probe, page))];
}

function ask(gateway: string, key: string, { path, init }: Probe): Promise<Page | string> {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${key}`);
  return fetchPage(`${gateway}${path}`, { ...init, headers });
}

function checkAcceptance(pages: readonly Page[]): Finding[] {
  if (pages.some(({ status }) => status === 401)) {
    const remedy = "It is mistyped, revoked, expired, or its tenant is disabled: `vidimus keys list` says which.";
    return [broken("API key", "the gateway refuses the key", remedy)];
  }
  return pages.some(({ status }) => status < 429) ? [ok("API key", "the gateway takes the key")] : [];
}

function toFindings({ check, expected, scope, remedy }: Probe, page: Page | string): Finding[] {
  if (typeof page === "string") return [broken(check, page, remedy)];
  const { status, headers } = page;
  // A refused key is reported once, as a finding of its own.
  if (status === 401) return [];
  if (status === 403)
    return [unchecked(check, `Pass a key with the scope ${scope} to have it checked.`, "the key may not")];
  if (status !== expected && status !== 429) return [broken(check, `${status} ${reasonOf(page)}`, remedy)];
  const budget = check === write.check ? checkBudget(status, headers) : undefined;
  if (budget) return [budget];
  if (status === expected) return [ok(check, "answers")];
  const advice = "Wait, or raise the limit that fired: docs/operations.md.";
  return [warning(check, `${status} ${reasonOf(page)}`, advice)];
}

function reasonOf(page: Page): string {
  const body = jsonOf(page);
  const error = isJsonObject(body) ? body["error"] : undefined;
  return isJsonObject(error) ? `${String(error["code"])}: ${String(error["message"])}` : "without an error of Vidimus";
}
