/** Largest message in either direction, in bytes. Set on both ends: grpc-js receives 4 MiB by default. */
export const messageBytesMax = 16 * 1024 * 1024;
