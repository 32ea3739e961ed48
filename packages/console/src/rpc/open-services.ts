import type { DescService } from "@bufbuild/protobuf";
import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { SchemaService } from "@vidimus/contracts/vidimus/documents/v1/schema_service";
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { openRpcClient, type RpcClient } from "@vidimus/kit/rpc/client/client";
import type { ServiceContext } from "@vidimus/kit/service/service";
import type { Services } from "./called-methods.ts";
import { countRounds } from "./rounds.ts";

/** Teams doors, each as `host:port`. */
export interface ServiceTargets {
  /** The gateway's, which serves `vidimus.access.v1`. */
  accessTarget: string;
  documentsTarget: string;
  phrasesTarget: string;
  deliveryTarget: string;
}

/**
 * Opens clients of the teams doors. They connect at their first call, so that a service that is
 * down affects only pages that call it.
 */
export function openServices(
  stack: AsyncDisposableStack,
  targets: ServiceTargets,
  credentialsFor: ServiceContext["credentialsFor"],
): Services {
  /** `name` is the service that the certificate at the door must name. */
  const open = <S extends DescService>(service: S, target: string, name: string): RpcClient<S> =>
    stack.use(openRpcClient(service, { target, credentials: credentialsFor(name), wrap: countRounds }));
  const { accessTarget, deliveryTarget, documentsTarget, phrasesTarget } = targets;
  return {
    access: open(AccessService, accessTarget, "gateway"),
    members: open(MemberService, accessTarget, "gateway"),
    endpoints: open(EndpointService, deliveryTarget, "delivery"),
    deliveries: open(DeliveryLogService, deliveryTarget, "delivery"),
    schemas: open(SchemaService, documentsTarget, "documents"),
    phrases: open(PhraseService, phrasesTarget, "phrases"),
  };
}
