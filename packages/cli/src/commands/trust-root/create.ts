import { Command } from "commander";
import { resolve } from "node:path";
import { openSession } from "../../session.ts";
import { createRootKey } from "../../trust-root/root-key.ts";
import type { World } from "../../world.ts";

export function createTrustRoot(world: World): Command {
  return new Command("create")
    .description("make an offline root in a new file, and print its public key, which verifiers pin")
    .argument("<file>", "where the private key is written, with mode 0600; keep it off every networked machine")
    .action(async (file: string, _: unknown, command: Command) => {
      const session = await openSession(world, command);
      const root = await createRootKey(resolve(world.cwd, file));
      session.print({ root, file }, root);
    });
}
