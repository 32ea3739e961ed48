import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HeldSignatureSchema } from "@vidimus/contracts/vidimus/documents/v1/signature_audit_service";
import type { HeldSignature } from "../../domain/snapshots/snapshot-feed.ts";
import { toReference } from "../snapshot-feed/messages.ts";

export function heldSignatureToProto(held: HeldSignature): MessageInitShape<typeof HeldSignatureSchema> {
  const { signature, newestSequence = 0 } = held;
  return { reference: toReference(held), newestSequence: BigInt(newestSequence), ...(signature && { signature }) };
}
