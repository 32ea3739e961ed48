import { type Command, InvalidArgumentError, Option } from "commander";
import { CliError } from "../../cli-error.ts";
import { readNameList } from "../../options/name-list.ts";
import { wholeNumber } from "../../options/whole-number.ts";
import { readInput } from "../../input/read-input.ts";
import type { World } from "../../world.ts";

/**
 * Values of the options that `create`, `update` and `listen` share; absent for options that were
 * not given.
 */
export interface EndpointOptions {
  url?: string;
  name?: string;
  description?: string;
  secretFile?: string;
  events?: readonly string[];
  types?: readonly string[];
  header?: Readonly<Record<string, string>>;
  headerFile?: string;
  maxInFlight?: number;
  rate?: number;
}

export function addEndpointOptions(command: Command): Command {
  return command
    .option("--name <text>", 'for people, 1 to 200 characters; "" for the host of the URL')
    .option("--description <text>", "for people, at most 1,000 characters")
    .option("--secret-file <path>", "file with a secret of yours: whsec_ and the base64 of 24 to 64 random bytes")
    .option(
      "--events <names>",
      "events by commas: snapshot.usable, snapshot.withheld, endpoint.disabled, endpoint.expiring, endpoint.recovered",
      readNameList,
    )
    .option("--types <names>", 'document types by commas, such as core/article; "" for all', readNameList)
    .addOption(
      new Option("--header <header>", '"Name: value" to send with every webhook; may be repeated')
        .argParser(addHeader)
        .conflicts("headers"),
    )
    .addOption(
      new Option("--header-file <path>", "file with such headers, a line each; for credentials").conflicts("headers"),
    )
    .option("--max-in-flight <count>", "most attempts in flight, 1 to 128", wholeNumber(1, 128))
    .option("--rate <count>", "most attempts a second, 0.1 to 1000; 0 for no limit", readRate);
}

/**
 * Reads the files of `--secret-file` and `--header-file`. A setting without an option is absent, so
 * an update leaves it as it is.
 */
export async function toSettings(world: World, options: EndpointOptions) {
  const { url, name, description, secretFile, events, types, header, headerFile, maxInFlight, rate } = options;
  const fromFile = headerFile === undefined ? undefined : await readHeaders(world, headerFile);
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(secretFile === undefined ? {} : { secret: (await readInput(world, secretFile)).toString().trim() }),
    ...(url === undefined ? {} : { url }),
    ...(events ? { events: { names: [...events] } } : {}),
    ...(types ? { documentTypes: { names: [...types] } } : {}),
    ...((header ?? fromFile) ? { headers: { values: { ...fromFile, ...header } } } : {}),
    ...(maxInFlight === undefined ? {} : { maxInFlight }),
    ...(rate === undefined ? {} : { ratePerSecond: rate }),
  };
}

function addHeader(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const header = parseHeader(text);
  if (!header) throw new InvalidArgumentError('It must be a name, a colon and a value: "X-Team: news".');
  return { ...before, ...header };
}

/** No message quotes a line of the file, because a header may be a credential. */
async function readHeaders(world: World, file: string): Promise<Record<string, string>> {
  const lines = (await readInput(world, file)).toString().split(/\r?\n/);
  const headers = lines.flatMap((line, index) => {
    if (line.trim() === "") return [];
    const header = parseHeader(line);
    if (!header) throw new CliError(`${file}: line ${index + 1} must be a name, a colon and a value: "X-Team: news"`);
    return [header];
  });
  if (headers.length === 0) throw new CliError(`${file} holds no header`);
  return Object.assign({}, ...headers) as Record<string, string>;
}

function parseHeader(text: string): Record<string, string> | undefined {
  const [, name = "", value = ""] = /^([^:\s]+):\s*(.*)$/.exec(text) ?? [];
  return name === "" ? undefined : { [name]: value.trimEnd() };
}

function readRate(text: string): number {
  const rate = /^\d{1,4}(?:\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (rate === 0 || (rate >= 0.1 && rate <= 1_000)) return rate;
  throw new InvalidArgumentError("It must be a number from 0.1 to 1000, or 0 for no limit.");
}
