const before = Buffer.from('{"ok":true,"data":');
const after = Buffer.from("}");

/**
 * Streams the value of `data` of an answer `{"ok":true,"data":…}`, byte for byte.
 *
 * @throws Error when the answer begins otherwise or does not end with `}`
 */
export async function* unwrapEnvelope(answer: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let held = Buffer.alloc(0);
  let begun = false;
  for await (const piece of answer) {
    held = Buffer.concat([held, piece]);
    if (!begun && held.length < before.length) continue;
    if (!begun) {
      if (!held.subarray(0, before.length).equals(before)) throw new Error("the answer is not in its envelope");
      held = held.subarray(before.length);
      begun = true;
    }
    const ready = Math.max(0, held.length - after.length);
    if (ready > 0) yield held.subarray(0, ready);
    held = held.subarray(ready);
  }
  if (!begun || !held.equals(after)) throw new Error("the answer is not in its envelope");
}
