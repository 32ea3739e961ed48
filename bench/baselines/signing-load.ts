/** Snapshots in one call: delivery pulls no more at once. */
export const batchItems = 256;

/** Calls at once: two delivery processes, each with two batches on the way. */
export const signingCallers = 4;
