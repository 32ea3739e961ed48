import type { HandlerContext } from "@connectrpc/connect";
import { type AuditAuthor, authorOf } from "@vidimus/tenancy/audit/audit-entry";
import { DomainError } from "@vidimus/kit/errors";
import { callContext } from "@vidimus/kit/rpc/context/call-context";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { KeyRing, RingKey } from "../../domain/key-ring.ts";
import type { RingEntry } from "../../domain/ring-entry.ts";
import { RingFault } from "../../domain/sealed-ring.ts";
import { type GenerateKey, type RingRules, withStandby } from "../../domain/tend-ring.ts";
import { type RingStorage, updateRing } from "../../domain/update-ring.ts";

export interface ChangeRingDeps {
  rings: RingStorage;
  generate: GenerateKey;
  rules: RingRules;
  log: Pick<Logger, "warn">;
  now(): Date;
}

interface RingChange {
  /** Action in log lines, for example `revoke`; in the audit log it is `revoke_key`. */
  readonly action: string;
  /** Absent for a change that makes a key, which is then the last key of the ring. */
  readonly keyId?: string;
  readonly emergency?: boolean;
  change(keys: readonly RingKey[], now: Date): readonly RingKey[] | Promise<readonly RingKey[]>;
}

export const operatorChangedRing = "an operator changed the key ring";

/**
 * Changes the ring, keeps at least one key pending, and logs who did it.
 *
 * @returns the stored ring
 * @throws DomainError permission_denied, errors of `change`, failed_precondition without a key,
 * unavailable when the ring cannot be used
 */
export async function changeRing(
  { rings, generate, rules, log, now }: ChangeRingDeps,
  context: HandlerContext,
  { action, keyId, emergency = false, change }: RingChange,
): Promise<KeyRing> {
  const by = requireOperator(context);
  const changedKey = ({ keys }: KeyRing) => keyId ?? keys.at(-1)?.keyId ?? "";
  const apply = async (standing: KeyRing | undefined) => {
    const at = now();
    if (!standing?.keys.length) return undefined;
    return withStandby(await change(standing.keys, at), at, rules, generate);
  };
  const entryOf = (ring: KeyRing) => ringEntry(by, `${action}_key`, changedKey(ring), { emergency });
  const ring = await verified(() => updateRing(rings, apply, entryOf));
  if (!ring?.keys.length) {
    throw new DomainError("failed_precondition", "there is no signing key yet: signing was never on");
  }
  const { actor, identity } = by;
  const line = { action, keyId: changedKey(ring), emergency, actor, identity, ringRevision: ring.revision };
  log.warn(line, operatorChangedRing);
  return ring;
}

/** The audit log's entry for a change of the ring, which belongs to no tenant. */
export function ringEntry(by: AuditAuthor, action: string, subject: string, detail: object): RingEntry {
  return { by, change: { tenantId: "", action, subject, detail: { ...detail } } };
}

/** @throws DomainError permission_denied unless the caller's role is owner or admin */
export function requireOperator(context: HandlerContext): AuditAuthor {
  const by = authorOf(callContext(context));
  if (by.role === "owner" || by.role === "admin") return by;
  throw new DomainError("permission_denied", `role owner or admin is needed, not "${by.role}"`);
}

/**
 * Converts a RingFault to `unavailable`, because a ring that cannot be used is not the caller's
 * fault.
 */
export async function verified<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof RingFault) throw new DomainError("unavailable", error.message, { cause: error });
    throw error;
  }
}
