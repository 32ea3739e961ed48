import type { JsonObject } from "./json.ts";

/** A document in the flat form of the public API, with an id that a repeat of the import gives again. */
export interface Draft {
  readonly id: string;
  readonly type: string;
  readonly title: unknown;
  readonly meta: JsonObject;
  readonly content: JsonObject;
  readonly links: readonly JsonObject[];
}

/** A feed item that does not become a document. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  /** The item is of a kind that is not taken; otherwise it is damaged, and the import has failed to deliver it. */
  readonly unmappable: boolean;

  constructor(reason: string, options: { unmappable: boolean }) {
    super(reason);
    this.unmappable = options.unmappable;
  }
}
