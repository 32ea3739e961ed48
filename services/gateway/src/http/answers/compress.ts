import { pipeline, type Readable } from "node:stream";
import { promisify } from "node:util";
import {
  brotliCompress,
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  gzip,
  gzipSync,
  type BrotliOptions,
} from "node:zlib";
import type { Encoding } from "./choose-encoding.ts";

/**
 * Brotli's default quality, 11, takes about a hundred times as long as 4 and saves a quarter of the
 * bytes. That does not pay, because most answers are compressed for a single reader. Brotli's
 * default window of 4 MiB would take several times its size for each answer under way.
 */
const brotli: BrotliOptions = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 18 },
};

const brotliAsync = promisify<Buffer, BrotliOptions, Buffer>(brotliCompress);
const gzipAsync = promisify<Buffer, Buffer>(gzip);

/** Compresses in this thread, which it blocks; for small bodies. */
export function compressNow(bytes: Buffer, encoding: Encoding): Buffer {
  return encoding === "br" ? brotliCompressSync(bytes, brotli) : gzipSync(bytes);
}

/** Compresses in a thread of the pool of libuv. */
export function compressAside(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  return encoding === "br" ? brotliAsync(bytes, brotli) : gzipAsync(bytes);
}

/**
 * A compressed stream, which fails when the source fails. Destroying it ends the source: a `Readable`
 * at once, a generator only after its next piece, so give that one a signal.
 */
export function compressStream(source: AsyncIterable<Uint8Array>, encoding: Encoding): Readable {
  const compressor = encoding === "br" ? createBrotliCompress(brotli) : createGzip();
  // The error is ignored here, because the reader of the compressor gets it, too.
  return pipeline(source, compressor, () => {});
}
