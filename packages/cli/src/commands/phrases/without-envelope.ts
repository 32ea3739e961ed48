const before = Buffer.from('{"ok":true,"data":');
const after = Buffer.from("}");

/** What stands under `data` in an answer of the public API, byte for byte, as it streams by. */
export async function* withoutEnvelope(answer: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
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
