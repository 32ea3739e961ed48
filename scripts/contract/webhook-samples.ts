import { untilThere, type WebhookDesk } from "../webhook-desk.ts";

/** Existing ids for the resources that paths of the webhooks API name. */
interface WebhookSamples {
  readonly deliveries: readonly string[];
  readonly replays: readonly string[];
  readonly endpoints: readonly string[];
  /**
   * From HTTP method to the endpoints for its requests: for `patch` some whose URL may be changed,
   * for `delete` some that may be removed.
   */
  readonly spare: Readonly<Record<string, readonly string[]>>;
}

interface Listed {
  readonly items: readonly { readonly id: string; readonly state: string }[];
}

/** Nothing listens at this address, so deliveries to it stay pending. */
const deadUrl = "http://127.0.0.1:9/";
/** Without `superseded`, which needs a second snapshot, and `exhausted`, which takes three days. */
const states = ["delivered", "pending", "held"];

/**
 * Makes endpoints that accept, fail and are disabled, a delivery in each of `states`, a finished
 * replay, and one that runs as long as its endpoint fails.
 */
export async function makeWebhookSamples(desk: WebhookDesk): Promise<WebhookSamples> {
  const register = async (url: string, settings: object = {}) => {
    const body = { url, events: ["snapshot.usable", "endpoint.disabled"], ...settings };
    const { endpoint } = await desk.call<{ endpoint: { id: string } }>("POST", "/v1/webhooks/endpoints", body);
    return endpoint.id;
  };
  const accepting = await register(desk.receiverUrl);
  const failing = await register(deadUrl);
  const held = await register(desk.receiverUrl, { enabled: false });
  const disabled = () => register(deadUrl, { enabled: false });
  const spare = { patch: [await disabled()], delete: [await disabled(), await disabled()] };
  for (let n = 0; n < 3; n += 1) await desk.publish();
  const deliveries = await Promise.all(
    states.map((state) =>
      untilThere(`a delivery that is ${state}`, async () => {
        const { items } = await desk.call<Listed>("GET", `/v1/webhooks/deliveries?state=${state}`);
        return items[0]?.id;
      }),
    ),
  );
  const replay = async (endpointId: string) => {
    const path = `/v1/webhooks/endpoints/${endpointId}/replays`;
    return (await desk.call<{ replay: { id: string } }>("POST", path, { states: ["delivered", "missing"] })).replay.id;
  };
  const done = await replay(accepting);
  await untilThere("the end of a replay", async () => {
    const { replay: now } = await desk.call<{ replay: { state: string } }>("GET", `/v1/webhooks/replays/${done}`);
    return now.state === "done" ? now : undefined;
  });
  const replays = [done, await replay(failing)];
  return { deliveries, replays, endpoints: [accepting, failing, held], spare };
}

const unknownId = "01980f6e-3c1b-7f42-9b1e-2f6f0a3d5c77";

interface Parameter {
  readonly name: string;
  schema: object;
}

/** Writes existing ids, and one that does not exist, into the parameters of webhook paths. */
export function nameSamples(
  paths: Readonly<Record<string, Readonly<Record<string, { readonly parameters?: readonly Parameter[] }>>>>,
  samples: WebhookSamples,
): void {
  for (const [path, operations] of Object.entries(paths)) {
    const [, resource] = /^\/v1\/webhooks\/(deliveries|replays|endpoints)\/\{id\}/.exec(path) ?? [];
    if (resource !== "deliveries" && resource !== "replays" && resource !== "endpoints") continue;
    for (const [method, { parameters = [] }] of Object.entries(operations)) {
      const ids = samples.spare[method] ?? samples[resource];
      const parameter = parameters.find(({ name }) => name === "id");
      if (parameter) parameter.schema = { type: "string", enum: [...ids, unknownId] };
    }
  }
}
