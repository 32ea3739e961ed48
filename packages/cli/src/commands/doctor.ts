import { Command } from "commander";
import { examine } from "../doctor/examine.ts";
import type { Finding } from "../doctor/finding.ts";
import { CliError } from "../failure.ts";
import { openSession } from "../session.ts";
import { printable } from "../terminal/printable.ts";
import { table } from "../terminal/table.ts";
import type { World } from "../world.ts";

/** `doctor` */
export function doctor(world: World): Command {
  return new Command("doctor")
    .description("check a deployment, and say what to do")
    .option("--phrases <host:port>", "address of the phrases service")
    .option("--signing <host:port>", "address of the signing service")
    .option("--ops <list>", "ops ports: gateway=http://host:9090,documents=…,phrases=…,signing=…,delivery=…")
    .option("--mongodb <url>", "MongoDB of the services; better in VIDIMUS_MONGODB, for it may hold a password")
    .option("--nats <url>", "NATS of the services; better in VIDIMUS_NATS, for it may hold a password")
    .addHelpText("after", help)
    .action(async (_: unknown, command: Command) => {
      const session = await openSession(world, command);
      const findings = await examine(session.settings);
      const count = (status: Finding["status"]) => findings.filter((finding) => finding.status === status).length;
      const sums = { broken: count("broken"), warnings: count("warning"), unchecked: count("unchecked") };
      session.print({ ...sums, findings }, words(findings));
      if (sums.broken > 0) throw new CliError(`${sums.broken} of ${findings.length} checks found something broken`);
    });
}

function words(findings: readonly Finding[]): string {
  const rows = findings.map(({ status, check, finding }) => [status, check, finding]);
  const todo = findings.flatMap((each) =>
    each.status === "ok" ? [] : [`${each.status}: ${each.check}: ${each.remedy}`],
  );
  const advice = todo.length > 0 ? `\n\nWhat to do:\n${todo.join("\n")}` : "";
  return `${table(["status", "check", "finding"], rows)}${printable(advice)}`;
}

const help = `
Checks whatever of the deployment it knows the address of: the gateway, its clock, the trust list, what lies behind it
(with a key), health of each RPC port, /readyz of each ops port, versions, MongoDB and NATS. In a dev stack it knows all.
It changes nothing, but uses one write of the budget of the key's tenant.

Exit codes: 1 when anything is broken, 0 otherwise, warnings and what could not be checked included.

--json prints {"broken","warnings","unchecked","findings":[{"check","status","finding","remedy"?}…]}.`;
