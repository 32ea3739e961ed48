import type { Draft } from "../draft.ts";

/** The part of a document that depends on the type of item; id, links and `meta.ninjs` do not. */
export type Mapping = Pick<Draft, "type" | "title" | "meta" | "content">;
