import { type DeliveryCheck, type DeliveryStep, explainDelivery } from "../../../../verify/src/verify.ts";
import type { ReadTrustList } from "../../rpc/read-trust-list.ts";
import type { Part } from "../parts/service-down.ts";
import type { PastedWebhook } from "./read-pasted.ts";

export interface Step extends Pick<DeliveryStep, "outcome" | "detail"> {
  readonly check: DeliveryCheck | "list";
  readonly title: string;
}

const titles: Readonly<Record<Step["check"], string>> = {
  headers: "Headers found",
  clock: "Time of sending",
  "content-digest": "Body, by content-digest",
  "webhook-signature": "HMAC of Standard Webhooks, webhook-signature",
  "x-vidimus-signature-256": "HMAC of the body, x-vidimus-signature-256",
  payload: "Payload read",
  statement: "Statement about the snapshot",
  list: "Trust list",
  key: "Key of the signature, in the trust list",
  signature: "Ed25519 signature of the statement",
  digest: "Snapshot, by the SHA-256 in the statement",
  envelope: "What stands beside the snapshot",
};

interface Asked {
  readonly pasted: PastedWebhook;
  /** The endpoint's typed secrets; empty when none was typed. */
  readonly secrets: readonly string[];
  readonly trust: Part<ReadTrustList>;
  readonly now: Date;
}

/** Makes the checks of a pasted webhook, in order; one that cannot be made is `unchecked`. */
export async function verifySteps({ pasted, secrets, trust, now }: Asked): Promise<readonly Step[]> {
  const list = listStep(trust);
  const keys = "value" in trust && trust.value.list?.keys;
  const unavailable = list.outcome === "failed" ? "the trust list is refused" : list.detail;
  const steps = await explainDelivery(pasted, { secrets, keys: keys || { unavailable }, now: now.getTime() });
  return steps.flatMap((step) => {
    const titled = { ...step, title: titles[step.check] };
    return step.check === "key" ? [list, titled] : [titled];
  });
}

function listStep(trust: Part<ReadTrustList>): Step {
  const step = { check: "list", title: titles.list } as const;
  if ("down" in trust) return { ...step, outcome: "unchecked", detail: "the public API does not answer" };
  const { list, refusal = "", hasRoot } = trust.value;
  if (!list) return { ...step, outcome: "failed", detail: refusal };
  const { revision, issuedAt } = list;
  const by = hasRoot ? "by a list key to which the pinned root delegated" : "by its list key; no root is pinned here";
  return { ...step, outcome: "ok", detail: `version ${revision}, stated at ${issuedAt.toISOString()} ${by}` };
}

interface Verdict {
  readonly tone: "ok" | "wait" | "bad";
  readonly text: string;
}

export function verdictOf(steps: readonly Step[]): Verdict {
  const failed = steps.filter(({ outcome }) => outcome === "failed").length;
  if (failed > 0) {
    return { tone: "bad", text: `Not genuine as it stands: ${failed} of ${steps.length} checks failed.` };
  }
  const isOk = (check: Step["check"]) => steps.some((step) => step.check === check && step.outcome === "ok");
  const isSigned = isOk("signature") && isOk("digest") && isOk("envelope");
  const isSent = isOk("webhook-signature");
  if (isSigned && isSent) return { tone: "ok", text: "Genuine: the platform sent it to this endpoint, and signed it." };
  if (isSigned) {
    return { tone: "ok", text: "The snapshot is genuine. Only the secret shows that it was sent to your endpoint." };
  }
  if (isSent) return { tone: "ok", text: "Genuine: the platform sent this message to this endpoint." };
  const isSecretMissing = steps.some(({ check, outcome }) => check === "webhook-signature" && outcome === "unchecked");
  const missing = isSecretMissing ? " Give the endpoint's secret to check the rest." : "";
  return { tone: "wait", text: `Nothing failed, but too little could be checked to call it genuine.${missing}` };
}
