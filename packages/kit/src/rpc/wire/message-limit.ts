/** Largest message in both directions, in bytes. grpc-js receives at most 4 MiB by default. */
export const messageBytesMax = 16 * 1024 * 1024;

/**
 * HTTP/2 flow-control window, in bytes. With the default of 64 KiB a page of documents or a batch
 * waits for several round trips: pages took 1.76 times as long, intake 1.28 times.
 */
export const flowWindowBytes = 4 * 1024 * 1024;

/**
 * Memory for answers that wait on one connection, in megabytes: fifteen of the largest messages.
 * Beyond it Node resets waiting and new calls. Three pages of 4 MiB exceed Node's default of 10.
 */
export const sessionMegabytesMax = 256;
