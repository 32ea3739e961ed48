import { defineConfig, type OxlintOverride } from "oxlint";
import { depths, forbiddenTo, layers } from "./scripts/layers.ts";

const paths = [
  {
    name: "ghtml",
    message: "Pages are made with packages/console/src/markup/html.ts, which escapes everything.",
  },
];

/** Each folder imports only from the folders that scripts/layers.ts names for it. */
const layered: OxlintOverride[] = Object.entries(layers).flatMap(([root, folders]) =>
  Object.keys(folders).flatMap((folder) =>
    depths.map((depth) => ({
      files: [`${root}/${folder}${"/*".repeat(depth)}`],
      rules: {
        "eslint/no-restricted-imports": ["error", { paths, patterns: forbiddenTo(root, folder, depth) }],
      },
    })),
  ),
);

export default defineConfig({
  plugins: ["typescript", "unicorn", "import", "promise", "node", "oxc"],
  categories: {
    correctness: "error",
    suspicious: "error",
    perf: "error",
  },
  rules: {
    "eslint/no-restricted-imports": ["error", { paths }],
    "typescript/no-explicit-any": "error",
    "typescript/no-non-null-assertion": "error",
    "typescript/no-floating-promises": "error",
    "typescript/no-misused-promises": "error",
    "typescript/switch-exhaustiveness-check": "error",
    "typescript/consistent-type-imports": "error",
    "import/no-cycle": [
      "error",
      {
        ignoreTypes: false,
      },
    ],
    "eslint/max-lines": [
      "error",
      {
        max: 300,
        skipBlankLines: false,
        skipComments: false,
      },
    ],
    "eslint/max-lines-per-function": [
      "error",
      {
        max: 50,
        skipBlankLines: true,
        skipComments: true,
      },
    ],
    "eslint/no-await-in-loop": "off",
    "eslint/no-shadow": "off",
    "unicorn/no-array-sort": "off",
    "import/no-unassigned-import": "off",
    "typescript/no-unsafe-type-assertion": "off",
    "typescript/unbound-method": "off",
    "typescript/consistent-return": "off",
    "eslint/no-underscore-dangle": "off",
    "unicorn/consistent-function-scoping": "off",
    "unicorn/require-post-message-target-origin": "off",
  },
  overrides: [
    ...layered,
    {
      // A test may import from any folder, whatever scripts/layers.ts says.
      files: ["{services,packages}/*/src/**/*.test.ts"],
      rules: { "eslint/no-restricted-imports": ["error", { paths }] },
    },
    {
      files: ["packages/console/src/markup/html.ts"],
      rules: {
        "eslint/no-restricted-imports": "off",
      },
    },
    {
      files: ["**/*.test.ts", "tests/**", "bench/**"],
      rules: {
        "typescript/no-non-null-assertion": "off",
        "eslint/max-lines-per-function": "off",
        "eslint/max-lines": "off",
      },
    },
  ],
  ignorePatterns: ["packages/contracts/gen/**", "**/node_modules/**", ".vidimus/**"],
});
