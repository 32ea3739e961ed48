import { openProcessConstellation } from "@vidimus/devstack/testing/process-constellation";
import type { TrustedKey } from "../../packages/verify/src/verify.ts";
import { type ArrivedWebhook, openWebhookDesk, untilThere, type WebhookDesk } from "../webhook-desk.ts";

export interface CapturedDelivery {
  readonly name: string;
  /** One secret of the endpoint; a delivery during a rotation is listed for each of the two. */
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  /** In base64. */
  readonly body: string;
}

/**
 * Starts a stack, and receives one webhook of each kind from it: a snapshot, a replayed one, one
 * with the signatures of two secrets, a ping, and an event about another endpoint.
 */
export async function captureDeliveries(): Promise<{ deliveries: CapturedDelivery[]; keys: readonly TrustedKey[] }> {
  await using stack = await openProcessConstellation();
  await using desk = await openWebhookDesk(stack.dev);
  const events = ["snapshot.usable", "endpoint.disabled"];
  const first = await register(desk, { url: desk.receiverUrl, events });
  const base = `/v1/webhooks/endpoints/${first.id}`;
  const deliveries: CapturedDelivery[] = [];
  const capture = async (name: string, cause: () => Promise<unknown>, secrets: readonly string[] = [first.secret]) => {
    const { headers, body } = await next(desk, name, cause);
    for (const [n, secret] of secrets.entries()) {
      const whose = secrets.length > 1 ? `, for secret ${n + 1} of ${secrets.length}` : "";
      deliveries.push({ name: `${name}${whose}`, secret, headers, body: body.toString("base64") });
    }
  };
  await capture("a snapshot", () => desk.publish());
  await capture("a ping", () => desk.call("POST", `${base}/test`));
  await capture("a snapshot that is replayed", () => desk.call("POST", `${base}/replays`, { all: true }));
  const other = await register(desk, { url: desk.receiverUrl, events: ["endpoint.recovered"] });
  await capture("an event about another endpoint", () =>
    desk.call("POST", `/v1/webhooks/endpoints/${other.id}/disable`),
  );
  const { secret } = await desk.call<{ secret: string }>("POST", `${base}/rotate`, { overlapSeconds: 600 });
  await capture("a snapshot during a rotation", () => desk.publish(), [first.secret, secret]);
  const { keys } = (await (await fetch(`${stack.dev.gateway}/api/keys`)).json()) as { keys: TrustedKey[] };
  return { deliveries, keys };
}

async function register(desk: WebhookDesk, settings: object): Promise<{ id: string; secret: string }> {
  const made = await desk.call<{ endpoint: { id: string }; secret: string }>(
    "POST",
    "/v1/webhooks/endpoints",
    settings,
  );
  return { id: made.endpoint.id, secret: made.secret };
}

/** The first webhook that arrives after `cause` was called. */
async function next(desk: WebhookDesk, name: string, cause: () => Promise<unknown>): Promise<ArrivedWebhook> {
  const before = desk.arrived.length;
  await cause();
  return untilThere(name, () => desk.arrived[before]);
}
