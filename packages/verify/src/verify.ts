export {
  type DeliveryCheck,
  type DeliveryStep,
  explainDelivery,
  type ExplainDeliveryOptions,
} from "./explain-delivery.ts";
export { type DeliveryRequest, type ReceivedHeaders } from "./received-request.ts";
export { type DocumentSequence, type SequenceOutcome, sequenceGuard, type SequenceStore } from "./sequence-guard.ts";
export { type SnapshotStatement } from "./statement.ts";
export { trustListAt, type FetchTrustList, type TrustListOptions, TrustListUnavailable } from "./trust-list-at.ts";
export { type TrustedKey, type TrustList } from "./trust-list.ts";
export {
  type TrustListAnswer,
  type TrustListPins,
  type VerifiedTrustList,
  verifyTrustList,
} from "./verify-trust-list.ts";
export { type VerificationFault, VerificationError } from "./verification-error.ts";
export {
  type Delivery,
  type EventDelivery,
  type SnapshotDelivery,
  verifyDelivery,
  type VerifyDeliveryOptions,
} from "./verify-delivery.ts";
export { type SnapshotSignature, verifySnapshot } from "./verify-snapshot.ts";
