import { DomainError, type Violation } from "@vidimus/kit/errors";
import { LRUCache } from "lru-cache";
import type { DocumentParts } from "../document/document.ts";
import type { TypeRegistry } from "../types/document-type.ts";

/**
 * One version of a document, and the schema generation that it is checked against. Both are
 * immutable.
 */
interface VersionToCheck {
  readonly documentId: string;
  readonly version: number;
  readonly type: string;
  readonly schemaGeneration: number;
  readonly parts: DocumentParts;
}

/**
 * A version must be checked outside of the transaction first: call `check`, then repeat the
 * transition.
 */
class Unchecked extends DomainError {
  readonly check: (signal?: AbortSignal) => Promise<void>;

  constructor(check: Unchecked["check"]) {
    super("unavailable", "the version has not been checked yet; try again");
    this.check = check;
  }
}

/**
 * Most versions whose result is kept for the repetition of the transition. A version whose result
 * was dropped is checked once more.
 */
const rememberedMax = 10_000;

/** Slow checks run outside of the transaction, because the transaction locks the tenant's clock. */
export class PublicationChecks {
  readonly #types: Pick<TypeRegistry, "at">;
  readonly #found = new LRUCache<string, readonly Violation[]>({ max: rememberedMax });

  constructor(types: Pick<TypeRegistry, "at">) {
    this.#types = types;
  }

  /**
   * The violations that keep a version from publication. Rejects with `Unchecked` when the check is
   * slow and its result is not remembered.
   */
  async violations(tenantId: string, version: VersionToCheck): Promise<readonly Violation[]> {
    const { documentId, version: number, type: name, schemaGeneration, parts } = version;
    const type = await this.#types.at(tenantId, name, schemaGeneration);
    if (type.isQuick({ parts })) return type.check({ parts }, "publication");
    const key = JSON.stringify([tenantId, documentId, number, schemaGeneration]);
    const found = this.#found.get(key);
    if (found) return found;
    throw new Unchecked(async (signal) => {
      this.#found.set(key, await type.check({ parts }, "publication", signal));
    });
  }
}

/** Repeats `attempt` after each `Unchecked`, whose check runs outside of any transaction. */
export async function checkedFirst<T>(attempt: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Unchecked)) throw error;
      await error.check(signal);
    }
  }
}
