/**
 * Frees the memory of bytes at once and leaves them empty. Has no effect on bytes that share their
 * memory with other bytes or threads.
 */
export function freeBuffer({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
