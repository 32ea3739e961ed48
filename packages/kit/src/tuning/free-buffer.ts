/**
 * Frees the memory of bytes at once and leaves them empty. Has no effect on bytes that are empty or
 * freed already, that are a part of a larger buffer, or whose memory threads share.
 */
export function freeBuffer({ buffer, byteLength }: Uint8Array): void {
  if (byteLength > 0 && buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
