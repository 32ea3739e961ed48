import { DomainError } from "@vidimus/kit/errors";
import { TenantSlots } from "@vidimus/kit/fair/tenant-slots";

/** Most uploads at once. Each holds up to 10 MiB, and as much again while it is sent on. */
const atOnce = 2;
/**
 * Longest wait of an upload for its turn. The wait is part of the 60 seconds in which a request
 * must arrive, so 45 are left for the bytes.
 */
const waitMsMax = 15_000;

/**
 * Limits the uploads in memory, and each tenant to half of them. The console does not read an
 * upload that waits for its turn, so TCP makes the browser wait.
 */
export function uploadTurns(): TenantSlots {
  const refuse = (why: "share" | "pool") => {
    const sent = why === "share" ? "another file or webhook of this newsroom is" : "other files are";
    const message = `${sent} being sent to this console, so nothing was done: send yours again in a moment`;
    return new DomainError("exhausted", message);
  };
  return new TenantSlots({ capacity: atOnce, share: atOnce / 2, wait: { msMax: waitMsMax, refuse } });
}
