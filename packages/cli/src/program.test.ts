import { expect, test } from "vitest";
import { buildProgram } from "./program.ts";
import { nouns } from "./nouns.ts";
import { settingNames } from "./settings/setting-rules.ts";

test("every setting has a flag of its name", async () => {
  const { stdin, stdout, stderr } = process;
  const world = { env: {}, cwd: "/", home: "/", user: "kari", stdin, stdout, stderr, sleep: async () => {} };
  const program = await buildProgram(world, ["doctor"]);
  const doctor = program.commands.find((command) => command.name() === "doctor");
  const flags = [program, doctor].flatMap((command) => command?.options.map(({ long }) => long) ?? []);
  expect(flags).toEqual(expect.arrayContaining(settingNames.map((name) => `--${name}`)));
});

test.each(nouns.flatMap(({ name, commands }) => Object.keys(commands).map((command) => [name, command] as const)))(
  "the command %s %s is loaded alone, under its own name",
  async (noun, name) => {
    const { stdin, stdout, stderr } = process;
    const world = { env: {}, cwd: "/", home: "/", user: "kari", stdin, stdout, stderr, sleep: async () => {} };
    const program = await buildProgram(world, ["--tenant", "t", noun, "--json", name]);
    const parents = program.commands.filter(({ commands }) => commands.length > 0);
    expect(parents.map((parent) => [parent.name(), parent.commands.map((command) => command.name())])).toEqual([
      [noun, [name]],
    ]);
  },
);
