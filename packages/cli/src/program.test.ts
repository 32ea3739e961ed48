import { expect, test } from "vitest";
import { buildProgram } from "./program.ts";
import { settingNames } from "./settings/setting-rules.ts";

test("every setting has a flag, as messages about a missing one say", () => {
  const { stdin, stdout, stderr } = process;
  const program = buildProgram({
    env: {},
    cwd: "/",
    home: "/",
    user: "kari",
    stdin,
    stdout,
    stderr,
    sleep: async () => {},
  });
  const doctor = program.commands.find((command) => command.name() === "doctor");
  const flags = [program, doctor].flatMap((command) => command?.options.map(({ long }) => long) ?? []);
  expect(flags).toEqual(expect.arrayContaining(settingNames.map((name) => `--${name}`)));
});
