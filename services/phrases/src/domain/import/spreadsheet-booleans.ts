/**
 * The booleans of Excel and LibreOffice, which depend on the program's language. No word means true
 * in one language and false in another.
 */
const trueWords =
  "TRUE PRAVDA SAND WAAR TOSI VRAI WAHR IGAZ VERO SANN PRAWDA VERDADEIRO ИСТИНА VERDADERO SANT DOĞRU ІСТИНА";
const falseWords =
  "FALSE NEPRAVDA FALSK ONWAAR EPÄTOSI FAUX FALSCH HAMIS FALSO USANN FAŁSZ ЛОЖЬ FALSKT YANLIŞ ХИБНІСТЬ";

const booleans: ReadonlyMap<string, boolean> = new Map([
  ...trueWords.split(" ").map((word) => [word, true] as const),
  ...falseWords.split(" ").map((word) => [word, false] as const),
]);

/** The boolean in a CSV cell, in any case; undefined for anything else. */
export function readBoolean(cell: string): boolean | undefined {
  return booleans.get(cell.trim().normalize("NFC").toUpperCase());
}
