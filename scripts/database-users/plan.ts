import { type DatabaseUser, userUrl } from "@vidimus/devstack/backing/database-users";
import { databaseOf } from "@vidimus/devstack/stack/service-plan";
import { programNames, serviceNames } from "@vidimus/devstack/stack/program-names";
import { randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

interface PlannedUser {
  readonly user: DatabaseUser;
  readonly file: string;
  /** The connection string to write; undefined to keep the file. */
  readonly content: string | undefined;
  readonly action: "created" | "kept" | "renewed";
}

export interface PlanOptions {
  readonly folder: string;
  readonly prefix: string;
  /** Whether there is a console with a database for its sessions. */
  readonly console: boolean;
  /** Services whose users get a new password. */
  readonly renewed: readonly string[];
  readonly adminUrl: string;
}

/**
 * Keeps passwords in files of an earlier run, even of one that ended before it had created the
 * user; renewed users and those without a file get new ones.
 *
 * @throws Error naming what is wrong with the options or with a file
 */
export async function makePlan({ folder, prefix, console, renewed, adminUrl }: PlanOptions): Promise<PlannedUser[]> {
  if (!/^\w{1,28}$/.test(prefix)) throw new Error(`--prefix must be letters, digits and _, not "${prefix}"`);
  const users = console ? programNames : serviceNames;
  const unknown = renewed.find((name) => !users.some((user) => user === name));
  if (unknown !== undefined) throw new Error(`--renew must be one of ${users.join(", ")}, not "${unknown}"`);
  const plan: PlannedUser[] = [];
  for (const name of users) {
    const file = join(folder, `${name}-mongodb`);
    const database = databaseOf(name, prefix);
    const kept = await readPassword(file, name);
    const isRenewed = renewed.includes(name);
    const password = isRenewed || kept === undefined ? randomBytes(24).toString("base64url") : kept;
    const user = { user: name, password, database };
    const content = password === kept ? undefined : userUrl(adminUrl, user);
    plan.push({ user, file, content, action: isRenewed ? "renewed" : kept === undefined ? "created" : "kept" });
  }
  return plan;
}

async function readPassword(file: string, user: string): Promise<string | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
  const [, name, password] = /^mongodb(?:\+srv)?:\/\/([^:/?@]+):([^:/?@]+)@/.exec(text) ?? [];
  if (name !== user || password === undefined)
    throw new Error(`${file} holds no connection string of the user ${user}; move it away, or write one`);
  return decodeURIComponent(password);
}

/**
 * Checks that no existing user gets a new password unless `--renew` names the user.
 *
 * @throws Error naming existing users whose password is not in the folder
 */
export function checkPlan(plan: readonly PlannedUser[], existing: ReadonlySet<string>, folder: string): void {
  const lost = plan.filter(({ user, action }) => action === "created" && existing.has(user.user));
  if (lost.length === 0) return;
  const names = lost.map(({ user }) => user.user);
  throw new Error(
    `the users ${names.join(", ")} exist, and ${folder} has no connection string of theirs. ` +
      `Bring the files of the run that created them, or give new passwords: ` +
      names.map((name) => `--renew ${name}`).join(" "),
  );
}

/**
 * Call it before the users get the passwords, so that a run that ends in between can be repeated.
 */
export async function writePlan(plan: readonly PlannedUser[], folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const { file, content } of plan) {
    if (content === undefined) continue;
    // Renamed, so that no reader sees an incomplete file. Without a line end, because a Secret
    // contains the file unchanged.
    const draft = `${file}.new`;
    await writeFile(draft, content, { mode: 0o600 });
    await chmod(draft, 0o600);
    await rename(draft, file);
  }
}
