/**
 * The form of an actor's name by which names are compared. Names that differ only in case,
 * surrounding spaces, or composed, wide or invisible characters have the same form and count as one
 * person's. Letters that only look alike, such as Latin "a" and Cyrillic "а", have different forms.
 * "" for a name without visible characters.
 */
export function comparableName(actor: string): string {
  const visible = actor.normalize("NFKC").replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "");
  // Upper case makes "ß" and "SS", and the two small sigmas, equal. Lower case comes before it,
  // because upper case keeps the capital "ẞ".
  return visible.trim().toLowerCase().toUpperCase().toLowerCase().normalize("NFKC");
}
