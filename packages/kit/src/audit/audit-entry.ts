import type { CallContext } from "../rpc/call-context.ts";

/** Who makes an administrative change. */
export interface AuditAuthor extends Omit<CallContext, "traceparent"> {
  /** Prefix of the API key with which it is made over public HTTP; "" otherwise. */
  readonly keyPrefix: string;
}

/** What was changed. */
export interface AuditedChange {
  /** "" for a change that concerns the whole platform. */
  readonly tenantId: string;
  /** Such as `update_endpoint`. */
  readonly action: string;
  /** Id of what was changed. */
  readonly subject: string;
  /** JSON. Never a secret or a header's value, and of URLs the origin alone. */
  readonly detail: Readonly<Record<string, unknown>>;
}

/** One administrative change, with who made it and when. */
export interface AuditEntry extends AuditAuthor, AuditedChange {
  /** UUIDv7. */
  readonly entryId: string;
  readonly at: Date;
}

const keyActor = /^key:([0-9A-Za-z]+)$/;

/** The author of a change at a teams door. An actor there may call itself a key, so none is read from it. */
export function authorOf({ actor, role, identity, from, requestId }: CallContext): AuditAuthor {
  return { actor, role, identity, from, requestId, keyPrefix: "" };
}

/** The author of a change over public HTTP: the gateway names the API key as the actor. */
export function keyHolderOf(context: CallContext): AuditAuthor {
  return { ...authorOf(context), keyPrefix: keyActor.exec(context.actor)?.[1] ?? "" };
}
