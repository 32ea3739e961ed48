import { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { Command } from "commander";
import { CliError } from "../../cli-error.ts";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

const timeoutMs = 3_600_000;

/** `signing-keys audit [--head HASH]` */
export function auditSignatures(world: World): Command {
  return new Command("audit")
    .description("verify every signature ever made; fails at the first that is missing, changed or planted")
    .option("--head <hash>", "the head of an earlier audit, or of the log: finds what was cut off since")
    .action(async ({ head: notedHead = "" }: { head?: string }, command: Command) => {
      const session = await openSession(world, command);
      using signing = await openService(session, "signing", KeyAdminService);
      const { batches, entries, head, fault } = await signing.read((client, options) =>
        client.auditLedger({ notedHead }, { ...options, timeoutMs }),
      );
      const counts = { batches: Number(batches), entries: Number(entries), head };
      if (fault) throw new CliError(`the ledger is broken after ${entries} signatures: ${fault}`);
      session.print(counts, `${entries} signatures in ${batches} batches are whole. Note the head: ${head}`);
    });
}
