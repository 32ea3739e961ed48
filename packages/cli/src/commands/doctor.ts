import { Command } from "commander";
import { CliError } from "../cli-error.ts";
import { broken, type Finding } from "../doctor/finding.ts";
import { openSession } from "../session.ts";
import type { Settings } from "../settings/settings.ts";
import { findStoppedStack } from "../settings/stopped-stack.ts";
import { table } from "../terminal/table.ts";
import type { World } from "../world.ts";

export function doctor(world: World): Command {
  return new Command("doctor")
    .option("--root <key>", "public key of the trust list's offline root; better in VIDIMUS_TRUST_ROOT")
    .option("--phrases <host:port>", "address of the phrases service")
    .option("--mesh <list>", "mesh doors: access=host:7150,documents=…,phrases=…,signing=…,delivery=…")
    .option("--ops <list>", "ops ports: gateway=http://host:9090,documents=…,phrases=…,signing=…,delivery=…,console=…")
    .option("--mongodb <url>", "MongoDB of the services; better in VIDIMUS_MONGODB, since it may hold a password")
    .option("--nats <url>", "NATS of the services; better in VIDIMUS_NATS, since it may hold a password")
    .addHelpText("after", help)
    .action(async (_: unknown, command: Command) => {
      const session = await openSession(world, command);
      const findings = await findingsOf(session.settings);
      const count = (status: Finding["status"]) => findings.filter((finding) => finding.status === status).length;
      const sums = { broken: count("broken"), warnings: count("warning"), unchecked: count("unchecked") };
      session.print({ ...sums, findings }, toText(findings));
      if (sums.broken > 0) throw new CliError(`${sums.broken} of ${findings.length} checks found something broken`);
    });
}

/**
 * Looks for a stopped dev stack first, because loading the checks takes time. If the stack is
 * stopped, that is the only finding.
 */
async function findingsOf(settings: Settings): Promise<Finding[]> {
  const stopped = await findStoppedStack(settings, "gateway", `the gateway at ${settings.get("gateway")}`);
  if (stopped)
    return [broken("dev stack", stopped.finding, "Start it with `npm start`. Its logs lie in .vidimus/logs/.")];
  const { runChecks } = await import("../doctor/run-checks.ts");
  return runChecks(settings);
}

function toText(findings: readonly Finding[]): string {
  const rows = findings.map(({ status, check, finding }) => [status, check, finding]);
  const todo = findings.flatMap((each) =>
    each.status === "ok" ? [] : [`${each.status}: ${each.check}: ${each.remedy}`],
  );
  const advice = todo.length > 0 ? `\n\nWhat to do:\n${todo.join("\n")}` : "";
  return `${table(["status", "check", "finding"], rows)}${advice}`;
}

const help = `
Checks each part of the deployment whose address it knows: the gateway, its clock, the trust list, the services behind
it (with a key), the tenant's receivers of webhooks, health of each teams door and mesh door, /readyz of each ops port,
versions, MongoDB and NATS. In a dev stack it knows all of them. It changes nothing, but uses one write of the budget of
the key's tenant.

Exit codes: 1 when anything is broken, 0 otherwise, warnings and what could not be checked included.

--json prints {"broken","warnings","unchecked","findings":[{"check","status","finding","remedy"?}…]}.`;
