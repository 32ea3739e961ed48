import type { CallContext } from "@vidimus/kit/rpc/context/call-context";

export interface AuditAuthor extends Omit<CallContext, "traceparent"> {
  /** Prefix of the API key with which the change is made over public HTTP; "" otherwise. */
  readonly keyPrefix: string;
}

export interface AuditedChange {
  /** "" for a change of the whole platform. */
  readonly tenantId: string;
  /** For example `update_endpoint`. */
  readonly action: string;
  /** Id of what was changed. */
  readonly subject: string;
  /** JSON without secrets and header values; of URLs only the origin. */
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface AuditEntry extends AuditAuthor, AuditedChange {
  /** UUIDv7. */
  readonly entryId: string;
  readonly at: Date;
}

const keyActor = /^key:([0-9A-Za-z]+)$/;

/**
 * The author of a change at a teams door, or at signing's admin door. Callers there choose the
 * actor's name, so no key prefix is read from it.
 */
export function authorOf({ actor, role, identity, from, requestId }: CallContext): AuditAuthor {
  return { actor, role, identity, from, requestId, keyPrefix: "" };
}

/** The author of a change over public HTTP, where the gateway names the API key as the actor. */
export function keyHolderOf(context: CallContext): AuditAuthor {
  return { ...authorOf(context), keyPrefix: keyActor.exec(context.actor)?.[1] ?? "" };
}
