import type { DescService } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { SchemaService } from "@vidimus/contracts/vidimus/documents/v1/schema_service";
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";

type MethodsOf<S extends DescService> = readonly (keyof S["method"])[];

const access = [
  "createApiKey",
  "getApiKey",
  "listApiKeys",
  "listAuditEntries",
  "listScopes",
  "revokeApiKey",
  "rollApiKey",
  "updateApiKeyScopes",
] as const satisfies MethodsOf<typeof AccessService>;

const members = [
  "acceptInvitation",
  "getInvitation",
  "getMember",
  "getSignInLink",
  "inviteMember",
  "listInvitations",
  "listMembers",
  "listMemberships",
  "redeemSignInLink",
  "removeMember",
  "revokeInvitation",
  "updateMemberRoles",
] as const satisfies MethodsOf<typeof MemberService>;

const endpoints = [
  "createEndpoint",
  "deleteEndpoint",
  "disableEndpoint",
  "enableEndpoint",
  "getEndpoint",
  "listAuditEntries",
  "listEndpoints",
  "rotateEndpointSecret",
  "testEndpoint",
  "updateEndpoint",
] as const satisfies MethodsOf<typeof EndpointService>;

const deliveries = [
  "cancelReplay",
  "countDeliveries",
  "countReplay",
  "getDelivery",
  "getReplay",
  "listDeliveries",
  "listReplays",
  "redeliver",
  "startReplay",
] as const satisfies MethodsOf<typeof DeliveryLogService>;

const schemas = ["listAuditEntries"] as const satisfies MethodsOf<typeof SchemaService>;

const phrases = [
  "deletePhrase",
  "getPhrase",
  "importPhrases",
  "listPhrases",
  "upsertPhrase",
] as const satisfies MethodsOf<typeof PhraseService>;

/** Every method that the console calls, by service. The console's grant contains exactly these. */
export const calledMethods = [
  [AccessService, access],
  [MemberService, members],
  [EndpointService, endpoints],
  [DeliveryLogService, deliveries],
  [SchemaService, schemas],
  [PhraseService, phrases],
] as const;

export type AccessCalls = Pick<Client<typeof AccessService>, (typeof access)[number]>;
export type MemberCalls = Pick<Client<typeof MemberService>, (typeof members)[number]>;
export type EndpointCalls = Pick<Client<typeof EndpointService>, (typeof endpoints)[number]>;
export type DeliveryCalls = Pick<Client<typeof DeliveryLogService>, (typeof deliveries)[number]>;
export type SchemaCalls = Pick<Client<typeof SchemaService>, (typeof schemas)[number]>;
export type PhraseCalls = Pick<Client<typeof PhraseService>, (typeof phrases)[number]>;

export interface Services {
  readonly access: AccessCalls;
  readonly members: MemberCalls;
  readonly endpoints: EndpointCalls;
  readonly deliveries: DeliveryCalls;
  readonly schemas: SchemaCalls;
  readonly phrases: PhraseCalls;
}
