import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makePlan } from "./plan.ts";

const options = {
  folder: join(tmpdir(), "no-folder-of-database-users"),
  prefix: "vidimus",
  renewed: [],
  adminUrl: "mongodb://admin@db.example.org/",
};

test('the plan has a user "console", with a database of its own, if and only if there is a console', async () => {
  const plan = await makePlan({ ...options, console: true });
  const own = plan.find(({ user }) => user.user === "console");
  expect([own?.user.database, own?.action]).toEqual(["vidimus_console", "created"]);
  expect(own?.content).toContain("authSource=vidimus_console");
  const without = await makePlan({ ...options, console: false });
  expect(without.map(({ user }) => user.user)).toEqual(
    plan.map(({ user }) => user.user).filter((name) => name !== "console"),
  );
});

test("the password of the console can be renewed only when there is a console", async () => {
  const renewed = ["console"];
  expect((await makePlan({ ...options, console: true, renewed })).at(-1)?.action).toBe("renewed");
  await expect(makePlan({ ...options, console: false, renewed })).rejects.toThrow("--renew must be one of signing");
});
