import type { Draft } from "../draft.ts";

/** What a mapping for one type of item makes of it; id, links and leftovers are the same for all. */
export type Mapping = Pick<Draft, "type" | "title" | "meta" | "content">;
