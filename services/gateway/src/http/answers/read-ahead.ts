import type { Answer, StreamedBody } from "./answer.ts";

/** An answer below this size is sent as a whole. */
const wholeBytesMax = 64 * 1024;

/**
 * Opens the stream of an answer and reads its beginning. An answer that ends there becomes a
 * buffered one: its length is known, and it is compressed and sent in one step. An error in the
 * beginning is thrown and gets its own status; later errors can only cut the answer off.
 */
export async function readAhead(answer: Answer): Promise<Answer> {
  const { body } = answer;
  if (typeof body !== "function") return answer;
  const begun = await begin(body);
  return { ...answer, headers: answer.headersOnceBegun?.() ?? answer.headers, body: begun };
}

async function begin(open: StreamedBody): Promise<Buffer | StreamedBody> {
  const stream = open()[Symbol.asyncIterator]();
  const begun: Uint8Array[] = [];
  for (let bytes = 0; bytes < wholeBytesMax;) {
    const { done, value } = await stream.next();
    if (done) return Buffer.concat(begun);
    begun.push(value);
    bytes += value.length;
  }
  return () => resumed(begun, stream);
}

/**
 * Yields what was read and then the rest. Ends the stream when the reader leaves early, unless the
 * reader took no piece: a generator that has not begun runs no `finally`.
 */
async function* resumed(begun: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* begun;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
