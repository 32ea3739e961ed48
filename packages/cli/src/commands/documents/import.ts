import { Command } from "commander";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { CliError } from "../../cli-error.ts";
import { importFeed, type ImportReport } from "../../feeds/import-feed.ts";
import { type FeedEntry, readFeed } from "../../feeds/read-feed.ts";
import { openDocumentsApi } from "../../public-api/documents-api.ts";
import { openSession } from "../../session.ts";
import { openProgress } from "../../terminal/progress.ts";
import type { World } from "../../world.ts";

export function importDocuments(world: World): Command {
  return new Command("import")
    .description("push the items of agency feeds (ninjs 3.0) or of files with documents (NDJSON)")
    .argument("<files...>", "files with one item, a list of items, or one document a line")
    .addHelpText("after", help)
    .action(async (files: string[], _: unknown, command: Command) => {
      const session = await openSession(world, command);
      const api = openDocumentsApi(session);
      const report = await importWithProgress(world, files, (entries, onEntry) => importFeed(entries, api, onEntry));
      const { created, existing, rejected } = report;
      session.print({ created, existing, rejected }, toText(report));
      if (report.stopped) throw new CliError(`stopped, items are left: ${report.stopped.message}`);
      if (report.failures > 0) throw new CliError(`${report.failures} could not be read or delivered`);
    });
}

type Import = (
  entries: AsyncIterable<FeedEntry>,
  onEntry: (bytes: number, outcome: keyof typeof counted) => void,
) => Promise<ImportReport>;

const counted = { created: 0, existing: 0, rejected: 0 };

async function importWithProgress(world: World, files: readonly string[], work: Import): Promise<ImportReport> {
  const sizes = await Promise.all(files.map((file) => sizeOf(resolve(world.cwd, file))));
  using progress = await openProgress(
    world.stderr,
    sizes.reduce((sum, size) => sum + size, 0),
  );
  const counts = { ...counted };
  return await work(readFeeds(world.cwd, files), (bytes, outcome) => {
    counts[outcome]++;
    progress.advance(bytes, `${counts.created} created, ${counts.existing} existing, ${counts.rejected} rejected`);
  });
}

async function* readFeeds(cwd: string, files: readonly string[]): AsyncGenerator<FeedEntry, void, void> {
  for (const file of files) {
    const path = resolve(cwd, file);
    for await (const entry of readFeed(path)) yield { ...entry, name: entry.name.replace(path, () => file) };
  }
}

async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() ? found.size : 0;
}

/**
 * Items that were under way when a failure stopped the import are listed without the message of the
 * failure, because the command prints that message once, as its error.
 */
function toText({ created, existing, rejected, stopped }: ImportReport): string {
  const lines = rejected.map(({ item, reason }) =>
    reason === stopped?.message ? `not sent: ${item}` : `rejected: ${item}: ${reason}`,
  );
  const sum = `${created.length} created, ${existing.length} existing, ${rejected.length} rejected`;
  return [...lines, sum].join("\n");
}

const help = `
A ninjs item of type text or composite, or one without a type that has bodies, becomes a core/newswire, a picture a
core/image, an audio a core/audio. All others are listed with the reason and do not fail the command. It fails, with
exit code 1, when a file or an item cannot be read or the platform does not take an item.

Ids follow from uri and version, so a repeat creates nothing; an item with a new version is a new document. Documents in
the platform's own form keep their id. The key needs the scope documents:create.

--json prints {"created":[id…],"existing":[id…],"rejected":[{"item","reason"}…]}.`;
