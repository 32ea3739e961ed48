import { Type } from "typebox";

const text = (maxLength: number, description: string) => Type.String({ minLength: 1, maxLength, description });

const said = {
  language: Type.String({ maxLength: 35, description: "BCP 47 tag; kept as sent but for its case." }),
  phrase: text(256, "Kept in NFC, without white space around it. No line breaks, no control characters."),
};

const optional = {
  caseSensitive: Type.Boolean({ default: false, description: "Advice to the programs that use the dictionary." }),
  forbidden: Type.Boolean({ default: false, description: "Flag the phrase instead of accepting it." }),
  commonMistakes: Type.Array(text(256, "Without |."), {
    maxItems: 50,
    default: [],
    description: "What to correct to the phrase.",
  }),
  description: Type.String({ maxLength: 1000, default: "" }),
};

const id = Type.String({ format: "uuid", description: "Stable; used by delete." });
const stamp = Type.String({ format: "date-time" });

/** A phrase as it is answered and exported. */
export const phraseSchema = Type.Object(
  { id, ...said, ...optional, createdAt: stamp, updatedAt: stamp },
  { additionalProperties: false },
);

/** A phrase as clients send it, for the API description only: the phrases service validates it. */
export const phraseInput = Type.Object(
  {
    id: Type.Optional(id),
    ...said,
    caseSensitive: Type.Optional(optional.caseSensitive),
    forbidden: Type.Optional(optional.forbidden),
    commonMistakes: Type.Optional(optional.commonMistakes),
    description: Type.Optional(optional.description),
    createdAt: Type.Optional(Type.Unknown({ description: "Ignored." })),
    updatedAt: Type.Optional(Type.Unknown({ description: "Ignored." })),
  },
  { additionalProperties: false },
);

export const phraseExample = {
  id: "01980f6e-3c1b-7f42-9b1e-2f6f0a3d5c77",
  language: "sv-SE",
  phrase: "Försvarsmakten",
  caseSensitive: true,
  forbidden: false,
  commonMistakes: ["Forsvarsmakten"],
  description: "",
  createdAt: "2026-11-21T09:30:00.000Z",
  updatedAt: "2026-11-21T09:30:00.000Z",
};

/** `phraseExample` as CSV exports write it. */
export const csvExample =
  "id,language,phrase,caseSensitive,forbidden,commonMistakes,description,createdAt,updatedAt\r\n" +
  "01980f6e-3c1b-7f42-9b1e-2f6f0a3d5c77,sv-SE,Försvarsmakten,true,false,Forsvarsmakten,,2026-11-21T09:30:00.000Z,2026-11-21T09:30:00.000Z\r\n";
