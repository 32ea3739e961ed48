import { checkKey } from "./check-key.ts";
import { fetchPage } from "./fetch-page.ts";
import { broken, type Finding, ok } from "./finding.ts";
import { checkClock } from "./check-clock.ts";
import { checkTrustList } from "./check-trust-list.ts";

/**
 * Asks the gateway for `/api/keys`, which needs no key, and checks its clock and its trust list.
 * When the gateway answers, checks the API key, too.
 *
 * @param root public key of the trust list's offline root, base64 of SPKI DER
 */
export async function checkGateway(
  gateway: string,
  key: string | undefined,
  root: string | undefined,
): Promise<Finding[]> {
  const page = await fetchPage(`${gateway}/api/keys`);
  if (typeof page === "string") {
    const remedy = "Is the gateway running, and is this its public port (HTTP_HOST, HTTP_PORT)? See its log.";
    return [broken("gateway", `${gateway} cannot be reached: ${page}`, remedy)];
  }
  return [
    ok("gateway", `${gateway} answers`),
    ...clockOf(page.headers.get("date"), page.askedAtMs),
    page.status === 200
      ? await checkTrustList(page, root, Date.now())
      : broken("trust list", `/api/keys answered ${page.status}`, remedyOf(page.status)),
    ...(await checkKey(gateway, key)),
  ];
}

function remedyOf(status: number): string {
  if (status === 429) return "This address asks too often (IP_RATE_LIMIT): wait a minute, or ask from another.";
  return "The gateway does not get the list from the signing service: see SIGNING_TARGET and the log of both.";
}

/**
 * A Date header is rounded down to whole seconds, by half a second on average, which is added here.
 */
function clockOf(date: string | null, askedAtMs: number): Finding[] {
  const theirsMs = Date.parse(date ?? "");
  return Number.isNaN(theirsMs) ? [] : [checkClock("the gateway", theirsMs + 500 - askedAtMs)];
}
