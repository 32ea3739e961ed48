/** A message and, one a line below it, the invalid places of the input by their JSON pointers. */
export function withPlaces(message: string, places: readonly { pointer: string; message: string }[]): string {
  return [message, ...places.map((place) => `  ${place.pointer || "(the whole)"}: ${place.message}`)].join("\n");
}
