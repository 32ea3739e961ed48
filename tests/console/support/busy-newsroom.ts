import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { openDevClient } from "@vidimus/devstack/stack/dev-client";
import type { DevJson } from "@vidimus/devstack/stack/dev-json";
import { vi } from "vitest";
import { as, openNewsroom } from "../../support/newsroom.ts";
import { openReceiver } from "../../support/receiver.ts";

/**
 * A newsroom with something on every page: keys, invitations, phrases, deliveries, endpoints that
 * are healthy, failing, disabled (`paused`) and slow, and a replay that runs until its disposal.
 */
export interface BusyNewsroom extends AsyncDisposable {
  readonly endpointIds: {
    readonly healthy: string;
    readonly failing: string;
    readonly paused: string;
    readonly slow: string;
  };
  readonly deliveryId: string;
  readonly replayId: string;
}

const tenantId = "demo";

/**
 * Titles are filled up to this length without a space, so a page that does not break them scrolls
 * sideways.
 */
const titleCharacters = 300;

/**
 * Fills the tenant `demo` of a dev stack, with `texts` as names, notes, phrases and descriptions,
 * and as the beginnings of titles.
 */
export async function openBusyNewsroom(dev: DevJson, texts: readonly string[]): Promise<BusyNewsroom> {
  await using opening = new AsyncDisposableStack();
  await fillLists(dev, texts);
  const room = opening.use(openNewsroom(dev));
  const log = opening.use(openDevClient(dev, "delivery", DeliveryLogService));
  const [good, bad, slow] = [
    opening.use(await openReceiver()),
    opening.use(await openReceiver()),
    opening.use(await openReceiver()),
  ];
  bad.answerWith(() => 503);
  const register = async (name: string, url: string, description = "") => {
    const { endpoint } = await room.endpoints.createEndpoint({ tenantId, name, url, description });
    return endpoint!.endpointId;
  };
  const [name = "Site", ...others] = texts;
  const endpointIds = {
    healthy: await register(name, good.url, others.join(" ")),
    failing: await register("Print", bad.url),
    paused: await register("Archive", good.url.replace("hook", "archive")),
    slow: await register("App", slow.url),
  };
  await room.endpoints.disableEndpoint({ tenantId, endpointId: endpointIds.paused });
  for (let count = 0; count < 8; count += 1) {
    const id = await room.push({ title: (texts[count % texts.length] ?? name).padEnd(titleCharacters, "t") });
    await room.transition(id, "publish");
    await slow.about(id);
  }
  const never = Promise.withResolvers<number>();
  opening.defer(() => never.resolve(204));
  slow.answerWith(() => never.promise);
  const { replay } = await log.startReplay({ tenantId, endpointId: endpointIds.slow, all: true }, as("admin"));
  const deliveryId = await vi.waitFor(
    async () => {
      const { endpoint } = await room.endpoints.getEndpoint({ tenantId, endpointId: endpointIds.failing });
      if (endpoint?.health?.gate !== "open") throw new Error(`its gate is ${endpoint?.health?.gate}`);
      const found = await log.listDeliveries({ tenantId, endpointId: endpointIds.failing, limit: 10 }, as("admin"));
      return found.deliveries.find(({ attemptCount }) => attemptCount > 0)!.deliveryId;
    },
    { timeout: 40_000, interval: 200 },
  );
  const opened = opening.move();
  return { endpointIds, deliveryId, replayId: replay!.replayId, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function fillLists(dev: DevJson, texts: readonly string[]): Promise<void> {
  using access = openDevClient(dev, "access", AccessService);
  using members = openDevClient(dev, "access", MemberService);
  using phrases = openDevClient(dev, "phrases", PhraseService);
  for (const text of texts) {
    await access.createApiKey({ tenantId, name: text, scopes: ["publisher:read"] }, as("owner"));
    await members.inviteMember({ tenantId, roles: ["editor"], note: text }, as("owner"));
    const json = { language: "mul", phrase: text, commonMistakes: [`${text} 2`], description: text };
    await phrases.upsertPhrase({ tenantId, phraseJson: Buffer.from(JSON.stringify(json)) }, as("owner"));
  }
}
