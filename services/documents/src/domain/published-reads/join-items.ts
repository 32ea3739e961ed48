const open = Buffer.from("[");
const comma = Buffer.from(",");
const close = Buffer.from("]");

/** Joins JSON values, each given in one or more pieces, to one JSON array. */
export function joinItems(items: readonly (readonly Uint8Array[])[]): Buffer {
  const pieces: Uint8Array[] = [open];
  for (const [index, item] of items.entries()) {
    if (index > 0) pieces.push(comma);
    pieces.push(...item);
  }
  pieces.push(close);
  return Buffer.concat(pieces);
}
