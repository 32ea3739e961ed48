import type { Draft } from "../draft.ts";

export type Mapping = Pick<Draft, "type" | "title" | "meta" | "content">;
