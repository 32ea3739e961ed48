import type { JsonObject } from "../json-object.ts";

/**
 * A document in the flat form of the public API. Its id is the same at every import of the item.
 */
export interface Draft {
  readonly id: string;
  readonly type: string;
  readonly title: unknown;
  readonly meta: JsonObject;
  readonly content: JsonObject;
  readonly links: readonly JsonObject[];
}

/** Thrown for a feed item that cannot become a document; the message says why. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  /**
   * True for an unsupported type of item; false for a damaged item, which makes the import fail.
   */
  readonly unmappable: boolean;

  constructor(reason: string, options: { unmappable: boolean }) {
    super(reason);
    this.unmappable = options.unmappable;
  }
}
