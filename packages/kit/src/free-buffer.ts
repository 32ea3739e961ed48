/**
 * Frees the memory of bytes at once; they are empty then. Bytes that share their memory with others
 * stay as they are, and so do those that share it with other threads.
 */
export function freeBuffer({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
