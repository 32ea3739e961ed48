import { DomainError } from "@vidimus/kit/errors";

/**
 * Result of a change that was not stored: somebody else has changed the endpoint since it was read.
 */
export const overtaken = Symbol("overtaken");

const triesMax = 5;

/**
 * Repeats a change of an endpoint while others change the endpoint between its read and its write.
 *
 * @param change reads, changes and stores
 * @throws DomainError `conflict` when five tries were overtaken; errors of `change`
 */
export async function unlessOvertaken<T>(change: () => Promise<T | typeof overtaken>): Promise<T> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const changed = await change();
    if (changed !== overtaken) return changed;
  }
  throw new DomainError("conflict", "others change this endpoint at the same time; try again");
}
