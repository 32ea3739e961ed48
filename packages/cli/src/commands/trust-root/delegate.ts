import { Command } from "commander";
import { resolve } from "node:path";
import { wholeNumber } from "../../options/whole-number.ts";
import { openSession } from "../../session.ts";
import { publicKey } from "../../trust-root/public-key.ts";
import { delegate } from "../../trust-root/root-key.ts";
import type { World } from "../../world.ts";

const dayMs = 86_400_000;
const daysMax = 400;

export function delegateTrust(world: World): Command {
  return new Command("delegate")
    .description("sign a delegation to signing's list key with the offline root, and print it; needs no network")
    .argument("<file>", "the root, as `create` made it")
    .requiredOption("--list-key <key>", "signing's list key, as `trust-root show` prints it", publicKey)
    .option("--days <days>", `how long lists may be stated under it, at most ${daysMax}`, wholeNumber(1, daysMax), 365)
    .action(async (file: string, { listKey, days }: { listKey: string; days: number }, command: Command) => {
      const session = await openSession(world, command);
      const validUntil = new Date(Date.now() + days * dayMs);
      const { delegation, root } = delegate(resolve(world.cwd, file), { listKey, validUntil });
      const text = Buffer.from(delegation).toString("base64");
      session.print({ delegation: text, root, listKey, validUntil: validUntil.toISOString() }, text);
    });
}
