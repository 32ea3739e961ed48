/** Snapshots in one call; delivery asks for no more at once. */
export const batchItems = 256;

/** Concurrent calls: two delivery processes, each with two running batches. */
export const signingCallers = 4;
