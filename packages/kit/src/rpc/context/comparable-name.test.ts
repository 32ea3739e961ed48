import * as fc from "fast-check";
import { expect, test } from "vitest";
import { comparableName } from "./comparable-name.ts";

const characters = Array.from({ length: 0x110000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code));
/** Characters that programs may show as nothing, according to Unicode. */
const ignorable = characters.filter((character) => /\p{Default_Ignorable_Code_Point}/u.test(character));

test.each([
  ["ida", "ida"],
  [" Wanda\u00a0", "wanda"],
  ["ida\u200b", "ida"],
  ["\u2060 i\u00adda", "ida"],
  ["\uff29da", "ida"],
  ["STRASSE", "strasse"],
  ["Stra\u00dfe", "strasse"],
  ["\u1e9e", "ss"],
  ["Ju\u0308rgen", "j\u00fcrgen"],
  ["J\u00dcRGEN", "j\u00fcrgen"],
  ["\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3", "\u03bf\u03b4\u03c5\u03c3\u03c3\u03b5\u03c5\u03c2"],
  ["\u01f0", "\u01f0"],
  ["\u3164\u200b ", ""],
])("%j is compared as %j", (actor, form) => {
  expect(comparableName(actor)).toBe(form);
});

test.each([
  ["with different letters", "ida", "idb"],
  ["of which one has a Cyrillic letter", "ida", "\u0456da"],
  ["of which one has a space inside", "an na", "anna"],
])("names %s have different comparable forms", (_, one, other) => {
  expect(comparableName(one)).not.toBe(comparableName(other));
});

test("no invisible character before, in or after a name changes its comparable form", () => {
  expect(ignorable.length).toBeGreaterThan(4_000);
  for (const character of ignorable) {
    expect(comparableName(`${character}Jo\u0308${character}rg ${character}`)).toBe("j\u00f6rg");
  }
});

test("each assigned character is compared as equal to its capital, small letter and comparable form", () => {
  const assigned = characters.filter((character) => !/[\p{Cn}\p{Co}]/u.test(character));
  const unstable = assigned.filter((character) => {
    const form = comparableName(`a${character}b`);
    const others = [form, `a${character.toUpperCase()}b`, `a${character.toLowerCase()}b`];
    return others.some((other) => comparableName(other) !== form);
  });
  expect(unstable).toEqual([]);
});

test("a comparable form ignores composition, capitals, outer spaces and outer invisible characters", () => {
  const name = fc.string({ unit: "binary", maxLength: 24 });
  const hidden = fc.array(fc.constantFrom(...ignorable), { maxLength: 4 });
  fc.assert(
    fc.property(name, hidden, hidden, (actor, before, after) => {
      const form = comparableName(actor);
      const padded = ` ${before.join("")}${actor}${after.join("")} `;
      for (const other of [padded, actor.normalize("NFD"), actor.normalize("NFKC"), actor.toUpperCase(), form]) {
        expect(comparableName(other)).toBe(form);
      }
    }),
    { numRuns: 2_000 },
  );
});
