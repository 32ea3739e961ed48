/**
 * `npm run database-users -- FOLDER`: creates a MongoDB user for each service, who may only
 * read and write the service's own database and read and append to its audit log, and writes each
 * connection string into a file of the folder, `<service>-mongodb`. May be repeated: passwords in
 * existing files stay in use.
 */
import { ensureDatabaseUsers, findDatabaseUsers } from "@vidimus/devstack/backing/database-users";
import { MongoError } from "mongodb";
import { parseArgs } from "node:util";
import { checkPlan, makePlan, type PlanOptions, writePlan } from "./plan.ts";

const usage = `usage: MONGODB_ADMIN_URL=mongodb://… npm run database-users -- FOLDER [--console] [--prefix PREFIX] [--renew SERVICE]…

  FOLDER            where the connection strings are written, or stand from an earlier run
  --console         also for the console
  --prefix PREFIX   of the databases; "vidimus" by default
  --renew SERVICE   gives its user a new password`;

try {
  await createUsers();
} catch (error) {
  const isExpected = error instanceof MongoError || (error instanceof Error && error.constructor === Error);
  console.error(isExpected ? withoutPasswords(error.message) : error);
  process.exitCode = 1;
}

async function createUsers(): Promise<void> {
  const adminUrl = process.env["MONGODB_ADMIN_URL"];
  const options = readArguments();
  const { folder } = options;
  if (!adminUrl) throw new Error(`MONGODB_ADMIN_URL is required: of a user who may create users\n\n${usage}`);
  const plan = await makePlan({ ...options, adminUrl });
  checkPlan(
    plan,
    await findDatabaseUsers(
      adminUrl,
      plan.map(({ user }) => user),
    ),
    folder,
  );
  await writePlan(plan, folder);
  await ensureDatabaseUsers(
    adminUrl,
    plan.map(({ user }) => user),
  );
  for (const { user, file, action } of plan) console.log(`${action.padEnd(8)} ${user.database.padEnd(24)} ${file}`);
}

function readArguments(): Omit<PlanOptions, "adminUrl"> {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        console: { type: "boolean", default: false },
        prefix: { type: "string", default: "vidimus" },
        renew: { type: "string", multiple: true, default: [] },
      },
    });
    const [folder, ...rest] = positionals;
    if (!folder || rest.length > 0) throw new Error("one FOLDER is needed");
    return { folder, console: values.console, prefix: values.prefix, renewed: values.renew };
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`, { cause: error });
  }
}

function withoutPasswords(message: string): string {
  return message.replaceAll(/\/\/[^/@\s]*@/g, "//…@");
}
