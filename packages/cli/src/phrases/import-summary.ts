import type { ImportAnswer } from "../public-api/phrases-api.ts";
import type { LeftOut } from "./hunspell/read-dictionary.ts";
import type { PhraseFile } from "./read-phrase-file.ts";

export function addAnswer(sum: ImportAnswer, answer: ImportAnswer): ImportAnswer {
  return {
    imported: sum.imported + answer.imported,
    created: sum.created + answer.created,
    changed: sum.changed + answer.changed,
    unchanged: sum.unchanged + answer.unchanged,
  };
}

/** The sum from which `addAnswer` starts, before a part of a file was imported. */
export const noAnswer: ImportAnswer = { imported: 0, created: 0, changed: 0, unchanged: 0 };

export function leftOutOf(files: readonly PhraseFile[]): LeftOut {
  const sum = (name: keyof LeftOut) => files.reduce((total, { leftOut }) => total + leftOut[name], 0);
  return {
    comments: sum("comments"),
    fragments: sum("fragments"),
    stems: sum("stems"),
    duplicates: sum("duplicates"),
  };
}

const nouns: Readonly<Record<keyof LeftOut, string>> = {
  comments: "lines of comment",
  fragments: "words only in compounds",
  stems: "words only with an affix",
  duplicates: "words twice",
};

/** `2 imported: 1 created, 0 changed, 1 unchanged; left out: 3 lines of comment` */
export function summarize({ imported, created, changed, unchanged }: ImportAnswer, leftOut: LeftOut): string {
  const repeated = imported - created - changed - unchanged;
  const counts = [`${created} created`, `${changed} changed`, `${unchanged} unchanged`];
  if (repeated > 0) counts.push(`${repeated} rows of a phrase before`);
  const names = Object.keys(nouns) as (keyof LeftOut)[];
  const left = names.flatMap((name) => (leftOut[name] > 0 ? `${leftOut[name]} ${nouns[name]}` : []));
  return `${imported} imported: ${counts.join(", ")}${left.length > 0 ? `; left out: ${left.join(", ")}` : ""}`;
}
