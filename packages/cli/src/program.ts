import { Command } from "commander";
import { doctor } from "./commands/doctor.ts";
import { createDocument } from "./commands/documents/create.ts";
import { showHistory } from "./commands/documents/history.ts";
import { importDocuments } from "./commands/documents/import.ts";
import { listDocuments } from "./commands/documents/list.ts";
import { publishDocuments } from "./commands/documents/publish.ts";
import { showDocument } from "./commands/documents/show.ts";
import { transitionDocument } from "./commands/documents/transition.ts";
import { updateDocument } from "./commands/documents/update.ts";
import { withholdDocuments } from "./commands/documents/withhold.ts";
import { createEndpoint } from "./commands/endpoints/create.ts";
import { deleteEndpoint } from "./commands/endpoints/delete.ts";
import { disableEndpoint } from "./commands/endpoints/disable.ts";
import { enableEndpoint } from "./commands/endpoints/enable.ts";
import { listEndpoints } from "./commands/endpoints/list.ts";
import { rotateEndpoint } from "./commands/endpoints/rotate.ts";
import { showEndpoint } from "./commands/endpoints/show.ts";
import { testEndpoint } from "./commands/endpoints/test.ts";
import { updateEndpoint } from "./commands/endpoints/update.ts";
import { checkGrants } from "./commands/grants/check.ts";
import { createKey } from "./commands/keys/create.ts";
import { grantScopes } from "./commands/keys/grant.ts";
import { listKeys } from "./commands/keys/list.ts";
import { revokeKey } from "./commands/keys/revoke.ts";
import { rollKey } from "./commands/keys/roll.ts";
import { deletePhrase } from "./commands/phrases/delete.ts";
import { exportPhrases } from "./commands/phrases/export.ts";
import { importPhrases } from "./commands/phrases/import.ts";
import { putPhrase } from "./commands/phrases/put.ts";
import { activateSigningKey } from "./commands/signing-keys/activate.ts";
import { auditSignatures } from "./commands/signing-keys/audit.ts";
import { listSigningKeys } from "./commands/signing-keys/list.ts";
import { prepareSigningKey } from "./commands/signing-keys/prepare.ts";
import { retireSigningKey } from "./commands/signing-keys/retire.ts";
import { revokeSigningKey } from "./commands/signing-keys/revoke.ts";
import { createTenant } from "./commands/tenants/create.ts";
import { disableTenant } from "./commands/tenants/disable.ts";
import { enableTenant } from "./commands/tenants/enable.ts";
import { listTenants } from "./commands/tenants/list.ts";
import { listen } from "./commands/listen.ts";
import type { World } from "./world.ts";

type CommandMaker = (world: World) => Command;

/** The commands by the noun they act on: `vidimus NOUN COMMAND`. To add one, name it here. */
const nouns: readonly { name: string; description: string; commands: readonly CommandMaker[] }[] = [
  { name: "tenants", description: "newsrooms", commands: [createTenant, listTenants, disableTenant, enableTenant] },
  {
    name: "keys",
    description: "API keys of a tenant",
    commands: [createKey, listKeys, grantScopes, rollKey, revokeKey],
  },
  {
    name: "documents",
    description: "documents and their transitions",
    commands: [
      createDocument,
      importDocuments,
      listDocuments,
      showDocument,
      updateDocument,
      transitionDocument,
      publishDocuments,
      withholdDocuments,
      showHistory,
    ],
  },
  {
    name: "phrases",
    description: "the dictionary of a tenant",
    commands: [putPhrase, deletePhrase, importPhrases, exportPhrases],
  },
  {
    name: "signing-keys",
    description: "the keys that sign snapshots",
    commands: [
      listSigningKeys,
      prepareSigningKey,
      activateSigningKey,
      retireSigningKey,
      revokeSigningKey,
      auditSignatures,
    ],
  },
  {
    name: "endpoints",
    description: "receivers of signed webhooks",
    commands: [
      createEndpoint,
      listEndpoints,
      showEndpoint,
      updateEndpoint,
      rotateEndpoint,
      enableEndpoint,
      disableEndpoint,
      testEndpoint,
      deleteEndpoint,
    ],
  },
  { name: "grants", description: "who may call the teams doors", commands: [checkGrants] },
];

/** Builds the parser of the whole command line. */
export function buildProgram(world: World): Command {
  const program = new Command("vidimus")
    .description("The hand tool of operators and integrators of Vidimus.")
    .option("--json", "print the result as JSON")
    .option("--tenant <tenant>", "tenant to act in (in a dev stack: demo)")
    .option("--role <role>", "role to act in (default: admin)")
    .option("--key <key>", "API key, for commands that call the public API")
    .option("--gateway <url>", "base URL of the public API")
    .option("--access <host:port>", "the gateway's internal address")
    .option("--documents <host:port>", "address of the documents service")
    .option("--delivery <host:port>", "address of the delivery service")
    .option("--signing <host:port>", "address of signing's admin door")
    .option("--cert <file>", "your certificate for the services' ports, PEM")
    .option("--keyfile <file>", "its private key, PEM")
    .option("--ca <file>", "authorities whose services are believed, PEM")
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
  for (const { name, description, commands } of nouns) {
    const noun = program.command(name).description(description);
    for (const make of commands) noun.addCommand(make(world).copyInheritedSettings(noun));
  }
  for (const make of [listen, doctor]) program.addCommand(make(world).copyInheritedSettings(program));
  return program;
}

const settingsHelp = `
Settings are taken from the flags, else from VIDIMUS_TENANT, VIDIMUS_ROLE, VIDIMUS_API_KEY, VIDIMUS_GATEWAY,
VIDIMUS_ACCESS, VIDIMUS_DOCUMENTS, VIDIMUS_DELIVERY, VIDIMUS_SIGNING, VIDIMUS_CERT, VIDIMUS_KEYFILE,
VIDIMUS_CA (and for doctor VIDIMUS_PHRASES, VIDIMUS_MESH, VIDIMUS_OPS, VIDIMUS_MONGODB, VIDIMUS_NATS),
else from the profile named by --profile or VIDIMUS_PROFILE, else from the dev stack whose
.vidimus/dev.json is found in this folder or above it.

Exit codes: 0 done, 1 failed, 2 the command line is wrong.`;
