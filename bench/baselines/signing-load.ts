/** Snapshots in one call; delivery asks for no more at once. */
export const batchItems = 256;

export const signingCallers = 4;
