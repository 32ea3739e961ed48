import { checkKey } from "./check-key.ts";
import { fetchPage, jsonOf } from "./fetch-page.ts";
import { broken, type Finding, ok } from "./finding.ts";
import { judgeClock } from "./judge-clock.ts";
import { judgeTrustList } from "./judge-trust-list.ts";

/**
 * Asks for the one page of the gateway that is open, judges the answer, its clock and the trust list, and goes on with
 * the key unless nobody answers.
 */
export async function checkGateway(gateway: string, key: string | undefined): Promise<Finding[]> {
  const page = await fetchPage(`${gateway}/api/keys`);
  if (typeof page === "string") {
    const remedy = "Is the gateway running, and is this its public port (HTTP_HOST, HTTP_PORT)? See its log.";
    return [broken("gateway", `${gateway} cannot be reached: ${page}`, remedy)];
  }
  return [
    ok("gateway", `${gateway} answers`),
    ...clockOf(page.headers.get("date"), page.askedAtMs),
    page.status === 200
      ? judgeTrustList(jsonOf(page), page.headers, Date.now())
      : broken("trust list", `/api/keys answered ${page.status}`, remedyOf(page.status)),
    ...(await checkKey(gateway, key)),
  ];
}

function remedyOf(status: number): string {
  if (status === 429) return "This address asks too often (IP_RATE_LIMIT): wait a minute, or ask from another.";
  return "The gateway does not get the list from the signing service: see SIGNING_TARGET and the log of both.";
}

/** A Date header has whole seconds, cut off. */
function clockOf(date: string | null, askedAtMs: number): Finding[] {
  const theirsMs = Date.parse(date ?? "");
  return Number.isNaN(theirsMs) ? [] : [judgeClock("the gateway", theirsMs + 500 - askedAtMs)];
}
