import { PhraseFormat } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import type { Services } from "@vidimus/console/rpc/called-methods";
import { asOwner, asReader } from "./signed-in.ts";

/** What pages show: a value for each parameter of the console's routes. */
export interface Shown {
  readonly tenant: string;
  readonly key: string;
  readonly member: string;
  readonly invitation: string;
  readonly endpoint: string;
  readonly delivery: string;
  readonly replay: string;
  readonly phrase: string;
  /** Code of the invitation that is open in the reader's browser. */
  readonly code: string;
}

/** A page, and the calls that the page makes once it has identified its reader. */
export interface MeasuredPage {
  /** As the console's server matches it, such as `/t/:tenant/keys/:key`. */
  readonly route: string;
  readonly query?: string;
  calls(): readonly Promise<unknown>[];
}

/** The clients of the console, and its request to the public API. */
export interface BareCalls extends Services {
  readTrustList(): Promise<unknown>;
}

/**
 * The pages that show data, with the calls of each. `scripts/console-bench.test.ts` compares them
 * with the console's own.
 */
export function consolePages(bare: BareCalls, shown: Shown): MeasuredPage[] {
  return [
    ...ownPages(bare, shown),
    ...keyPages(bare, shown),
    ...memberPages(bare, shown),
    ...phrasePages(bare, shown),
    ...endpointPages(bare, shown),
    ...deliveryPages(bare, shown),
    ...replayPages(bare, shown),
    { route: "/t/:tenant/trust-list", calls: () => [bare.readTrustList()] },
  ];
}

/** Pages of the reader and of the tenant as a whole. */
function ownPages(bare: BareCalls, { tenant: tenantId, code }: Shown): MeasuredPage[] {
  const { access, members, endpoints, deliveries, schemas } = bare;
  const audited = { tenantId, limit: 51 };
  return [
    { route: "/newsrooms", calls: () => [] },
    { route: "/sessions", calls: () => [] },
    { route: "/invitation", calls: () => [members.getInvitation({ code }, asReader)] },
    {
      route: "/t/:tenant",
      calls: () => [
        endpoints.listEndpoints({ tenantId }, asOwner),
        deliveries.countDeliveries({ tenantId }, asOwner),
        access.listApiKeys({ tenantId, limit: 50, liveOnly: true }, asOwner),
        memberNames(bare, tenantId),
      ],
    },
    {
      route: "/t/:tenant/audit",
      calls: () => [
        access.listAuditEntries(audited, asOwner),
        endpoints.listAuditEntries(audited, asOwner),
        schemas.listAuditEntries(audited, asOwner),
        memberNames(bare, tenantId),
        endpointNames(bare, tenantId),
      ],
    },
  ];
}

function keyPages(bare: BareCalls, { tenant: tenantId, key: keyId }: Shown): MeasuredPage[] {
  const { access } = bare;
  const listed = { tenantId, limit: 50, liveOnly: true };
  const readKey = () => access.getApiKey({ tenantId, keyId }, asOwner);
  const listScopes = () => access.listScopes({}, asOwner);
  return [
    {
      route: "/t/:tenant/keys",
      calls: () => [access.listApiKeys(listed, asOwner), memberNames(bare, tenantId)],
    },
    { route: "/t/:tenant/keys/new", calls: () => [listScopes()] },
    { route: "/t/:tenant/keys/:key", calls: () => [readKey(), memberNames(bare, tenantId)] },
    { route: "/t/:tenant/keys/:key/scopes", calls: () => [readKey(), listScopes()] },
    { route: "/t/:tenant/keys/:key/roll", calls: () => [readKey()] },
    { route: "/t/:tenant/keys/:key/revoke", calls: () => [readKey()] },
  ];
}

function memberPages(bare: BareCalls, { tenant: tenantId, member: memberId }: Shown): MeasuredPage[] {
  const { members } = bare;
  const readMember = () => members.getMember({ tenantId, memberId }, asOwner);
  const listInvitations = () => members.listInvitations({ tenantId }, asOwner);
  return [
    {
      route: "/t/:tenant/members",
      calls: () => [
        members.listMembers({ tenantId, limit: 50 }, asOwner),
        listInvitations(),
        memberNames(bare, tenantId),
      ],
    },
    { route: "/t/:tenant/members/:member/roles", calls: () => [readMember()] },
    { route: "/t/:tenant/members/:member/remove", calls: () => [readMember()] },
    { route: "/t/:tenant/members/invitations/:invitation/revoke", calls: () => [listInvitations()] },
  ];
}

function phrasePages({ phrases }: BareCalls, { tenant: tenantId, phrase: phraseId }: Shown): MeasuredPage[] {
  const listed = { tenantId, format: PhraseFormat.JSON, limit: 50 };
  const readPhrase = () => phrases.getPhrase({ tenantId, phraseId }, asOwner);
  return [
    { route: "/t/:tenant/phrases", calls: () => [readAll(phrases.listPhrases(listed, asOwner))] },
    {
      route: "/t/:tenant/phrases",
      query: "contains=999",
      calls: () => [readAll(phrases.listPhrases({ ...listed, contains: "999" }, asOwner))],
    },
    {
      route: "/t/:tenant/phrases/export",
      calls: () => [readAll(phrases.listPhrases({ tenantId, format: PhraseFormat.CSV }, asOwner))],
    },
    { route: "/t/:tenant/phrases/:phrase", calls: () => [readPhrase()] },
    { route: "/t/:tenant/phrases/:phrase/delete", calls: () => [readPhrase()] },
  ];
}

function endpointPages(bare: BareCalls, { tenant: tenantId, endpoint: endpointId }: Shown): MeasuredPage[] {
  const { endpoints } = bare;
  const readEndpoint = () => endpoints.getEndpoint({ tenantId, endpointId }, asOwner);
  return [
    { route: "/t/:tenant/endpoints", calls: () => [endpoints.listEndpoints({ tenantId }, asOwner)] },
    { route: "/t/:tenant/endpoints/:endpoint", calls: () => [readEndpoint(), memberNames(bare, tenantId)] },
    { route: "/t/:tenant/endpoints/:endpoint/edit", calls: () => [readEndpoint()] },
    { route: "/t/:tenant/endpoints/:endpoint/rotate", calls: () => [readEndpoint()] },
    { route: "/t/:tenant/endpoints/:endpoint/delete", calls: () => [readEndpoint()] },
  ];
}

function deliveryPages(bare: BareCalls, { tenant: tenantId, delivery: deliveryId }: Shown): MeasuredPage[] {
  const { deliveries } = bare;
  const readRequest = () => deliveries.getDelivery({ tenantId, deliveryId, includeRequest: true }, asOwner);
  return [
    {
      route: "/t/:tenant/deliveries",
      calls: () => [deliveries.listDeliveries({ tenantId, limit: 50 }, asOwner), endpointNames(bare, tenantId)],
    },
    {
      route: "/t/:tenant/deliveries/:delivery",
      calls: () => [
        deliveries.getDelivery({ tenantId, deliveryId }, asOwner),
        readRequest(),
        endpointNames(bare, tenantId),
      ],
    },
    { route: "/t/:tenant/deliveries/:delivery/body", calls: () => [readRequest()] },
  ];
}

function replayPages(bare: BareCalls, { tenant: tenantId, endpoint, replay: replayId }: Shown): MeasuredPage[] {
  const { deliveries, endpoints } = bare;
  const ofEndpoint = { tenantId, endpointId: endpoint };
  const readReplay = () => deliveries.getReplay({ tenantId, replayId }, asOwner);
  const listEndpoints = () => endpoints.listEndpoints({ tenantId }, asOwner);
  return [
    {
      route: "/t/:tenant/replays",
      query: `endpoint=${endpoint}`,
      calls: () => [deliveries.listReplays({ ...ofEndpoint, limit: 50 }, asOwner), endpointNames(bare, tenantId)],
    },
    { route: "/t/:tenant/replays/new", calls: () => [endpointNames(bare, tenantId)] },
    {
      route: "/t/:tenant/replays/count",
      query: `endpoint=${endpoint}&options=all`,
      calls: () => [deliveries.countReplay({ ...ofEndpoint, all: true }, asOwner), listEndpoints()],
    },
    { route: "/t/:tenant/replays/:replay", calls: () => [readReplay(), listEndpoints()] },
    { route: "/t/:tenant/replays/:replay/cancel", calls: () => [readReplay()] },
  ];
}

function memberNames({ members }: BareCalls, tenantId: string): Promise<unknown> {
  return members.listMembers({ tenantId, limit: 5_000, namesOnly: true }, asOwner);
}

function endpointNames({ endpoints }: BareCalls, tenantId: string): Promise<unknown> {
  return endpoints.listEndpoints({ tenantId, namesOnly: true }, asOwner);
}

async function readAll(parts: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of parts);
}
