/** `npm run bench -- NAME`: runs one benchmark; without a name, lists them. */
import { readdir } from "node:fs/promises";

const names = (await readdir(import.meta.dirname))
  .filter((file) => file.endsWith(".ts") && file !== "main.ts")
  .map((file) => file.slice(0, -3));
const name = process.argv[2];

if (name !== undefined && names.includes(name)) {
  await import(`./${name}.ts`);
} else {
  console.log(`npm run bench -- NAME, where NAME is one of: ${names.join(", ")}`);
  if (name !== undefined) process.exitCode = 1;
}
