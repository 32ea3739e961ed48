import { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { Command } from "commander";
import { CliError } from "../../cli-error.ts";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

const timeoutMs = 3_600_000;

export function auditSignatures(world: World): Command {
  return new Command("audit")
    .description("verify every signature ever made; fails at the first that is missing, changed or planted")
    .option("--head <hash>", "the head of an earlier audit, or of the log: finds what was cut off since")
    .action(async ({ head: notedHead = "" }: { head?: string }, command: Command) => {
      const session = await openSession(world, command);
      using signing = await openService(session, "signing", KeyAdminService);
      const { batches, entries, head, fault, documents } = await signing.read((client, options) =>
        client.auditLedger({ notedHead }, { ...options, timeoutMs }),
      );
      const compared = documents && {
        signatures: Number(documents.signatures),
        outdated: Number(documents.outdated),
        unsettled: Number(documents.unsettled),
        revoked: Number(documents.revoked),
      };
      const counts = { batches: Number(batches), entries: Number(entries), head, documents: compared ?? null };
      if (fault) throw new CliError(`the ledger is broken after ${entries} signatures: ${fault}`);
      const whole = `${entries} signatures in ${batches} batches are whole.`;
      session.print(counts, `${whole} ${witness(compared)} Note the head: ${head}`);
    });
}

type Compared = Record<"signatures" | "outdated" | "unsettled" | "revoked", number>;

function witness(compared: Compared | undefined): string {
  if (!compared) return "documents was not asked, because signing has no DOCUMENTS_TARGET.";
  const { signatures, outdated, unsettled, revoked } = compared;
  const rest = [
    ...(outdated > 0 ? [`${outdated} of them were signed anew since`] : []),
    ...(revoked > 0 ? [`${revoked} are of revoked keys and are still to be replaced`] : []),
    ...(unsettled > 0 ? [`${unsettled} more are not settled yet`] : []),
  ];
  return [`documents holds ${signatures} of them`, ...rest].join(", ").concat(".");
}
