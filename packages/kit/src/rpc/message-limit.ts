/** Largest message in either direction, in bytes. Set on both ends: grpc-js receives 4 MiB by default. */
export const messageBytesMax = 16 * 1024 * 1024;

/**
 * What may be under way on a connection before the other end says to go on, in bytes. At HTTP/2's own 64 KiB a page of
 * documents or a batch waits for a round trip several times: pages took 1.76 times as long, intake 1.28 times.
 */
export const flowWindowBytes = 4 * 1024 * 1024;
