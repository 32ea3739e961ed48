import { Command } from "commander";
import manifest from "../package.json" with { type: "json" };
import { type CommandMaker, type Noun, nouns, soloCommands } from "./nouns.ts";
import type { World } from "./world.ts";

/**
 * Builds the parser of a command line, with the commands that its words may mean.
 *
 * @param argv the words after `vidimus`
 */
export async function buildProgram(world: World, argv: readonly string[]): Promise<Command> {
  const program = new Command("vidimus")
    .description("The hand tool of operators and integrators of Vidimus.")
    .option("--json", "print the result as JSON")
    .option("--tenant <tenant>", "tenant to act in (in a dev stack: demo)")
    .option("--role <role>", "role to act in (default: admin)")
    .option("--key <key>", "API key, for commands that call the public API")
    .option("--key-file <path>", "file with the API key")
    .option("--gateway <url>", "base URL of the public API")
    .option("--access <host:port>", "the gateway's internal address")
    .option("--documents <host:port>", "address of the documents service")
    .option("--delivery <host:port>", "address of the delivery service")
    .option("--phrases <host:port>", "address of the phrases service")
    .option("--signing <host:port>", "address of signing's admin door")
    .option("--console-url <url>", "origin of the console, for links to it")
    .option("--cert <file>", "your certificate for the services' ports, PEM")
    .option("--keyfile <file>", "its private key, PEM")
    .option("--ca <file>", "authorities whose services are believed, PEM")
    .option("--identity-path <path>", "path of the services' identities (default: /{service})")
    .option("--profile <name>", "deployment to act on, from ~/.config/vidimus/profiles.json")
    .option("--max-wait <seconds>", "longest sum of waits for one request, when answers ask to retry later", "120")
    .addHelpText("after", settingsHelp)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void world.stdout.write(text),
      writeErr: (text) => void world.stderr.write(text),
    })
    .showHelpAfterError("(add --help for more)")
    .exitOverride();
  // `documents update` has an option `--version`, which the program's own one would capture.
  if (!nouns.some(({ name }) => argv.includes(name)))
    program.version(manifest.version, "--version", "print the version");
  for (const noun of nouns) {
    const parent = program.command(noun.name).description(noun.description);
    const makers = isMeant(noun, argv) ? await loadCommands(noun, argv) : [];
    for (const make of makers) parent.addCommand(make(world).copyInheritedSettings(parent));
  }
  for (const { name, description, load } of soloCommands) {
    const command = argv.includes(name) ? (await load())(world) : new Command(name);
    program.addCommand(command.description(description).copyInheritedSettings(program));
  }
  return program;
}

/**
 * Whether the command line names this noun: one of its words is the noun, and is not the command of
 * an earlier noun, as `audit` is in `signing-keys audit`. A word after a flag may be the flag's
 * value, so it is not taken for an earlier noun.
 */
function isMeant({ name }: Noun, argv: readonly string[]): boolean {
  const at = argv.indexOf(name);
  const words = argv.slice(0, Math.max(at, 0)).filter((_, index) => !argv[index - 1]?.startsWith("--"));
  const before = new Set(words);
  return at >= 0 && !nouns.some((other) => before.has(other.name) && Object.hasOwn(other.commands, name));
}

/**
 * Loads the commands of a noun that the command line names. When it names none, loads all of them,
 * because the help text or the error lists them.
 */
function loadCommands({ commands }: Noun, argv: readonly string[]): Promise<CommandMaker[]> {
  const named = Object.keys(commands).filter((name) => argv.includes(name));
  const wanted = named.length > 0 ? named : Object.keys(commands);
  return Promise.all(wanted.flatMap((name) => commands[name]?.() ?? []));
}

const settingsHelp = `
Settings are taken from the flags, else from VIDIMUS_TENANT, VIDIMUS_ROLE, VIDIMUS_API_KEY, VIDIMUS_GATEWAY,
VIDIMUS_ACCESS, VIDIMUS_DOCUMENTS, VIDIMUS_PHRASES, VIDIMUS_DELIVERY, VIDIMUS_SIGNING, VIDIMUS_CERT,
VIDIMUS_KEYFILE, VIDIMUS_CA, VIDIMUS_CONSOLE_URL, and secrets also from files that VIDIMUS_API_KEY_FILE,
VIDIMUS_MONGODB_FILE and VIDIMUS_NATS_FILE name (for listen and doctor also VIDIMUS_TRUST_ROOT, and for
doctor VIDIMUS_MESH, VIDIMUS_OPS, VIDIMUS_MONGODB, VIDIMUS_NATS),
else from the profile named by --profile or VIDIMUS_PROFILE, else from the dev stack whose
.vidimus/dev.json is found in this folder or above it, up to the root of the checkout, else from the profile of
\`profile use\`. Both files must be yours alone.

Exit codes: 0 done, 1 failed, 2 the command line is wrong.`;
