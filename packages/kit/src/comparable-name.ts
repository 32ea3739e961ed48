/**
 * The form of an actor's name by which names are compared. Two names with the same form are one
 * person's: neither case, nor spaces around it, nor composed, wide or invisible characters tell
 * people apart. Letters that only look alike, such as Latin "a" and Cyrillic "а", do. "" for a name
 * of which nothing can be seen.
 */
export function comparableName(actor: string): string {
  const visible = actor.normalize("NFKC").replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "");
  // By way of upper case, so that "ß" and "SS", and the two small sigmas, become one; from lower
  // case, since upper case leaves the capital "ẞ" as it is.
  return visible.trim().toLowerCase().toUpperCase().toLowerCase().normalize("NFKC");
}
