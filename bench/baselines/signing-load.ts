/** Snapshots in one call; delivery asks for no more at once. */
export const batchItems = 256;

/** Concurrent calls; two busy delivery processes may make more. */
export const signingCallers = 4;
