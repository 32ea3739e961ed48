import { ConfigError } from "@vidimus/kit/env";
import type { Grants } from "@vidimus/kit/rpc/doors/teams/grants";
import { grantsBytesMax, parseGrants } from "@vidimus/kit/rpc/doors/teams/parse-grants";
import { readGuardedFile } from "@vidimus/kit/private-file";
import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { SchemaService } from "@vidimus/contracts/vidimus/documents/v1/schema_service";
import { WorkflowService } from "@vidimus/contracts/vidimus/documents/v1/workflow_service";
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { Command } from "commander";
import { resolve } from "node:path";
import { CliError } from "../../cli-error.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

/** The services of the teams doors, and of signing's admin door. */
const served = [
  AccessService,
  MemberService,
  DocumentService,
  SchemaService,
  WorkflowService,
  PhraseService,
  EndpointService,
  DeliveryLogService,
  KeyAdminService,
];
const teamsServices: ReadonlySet<string> = new Set(served.map(({ typeName }) => typeName));
const teamsMethods: ReadonlySet<string> = new Set(
  served.flatMap(({ typeName, methods }) => methods.map(({ name }) => `${typeName}/${name}`)),
);

export function checkGrants(world: World): Command {
  return new Command("check")
    .description("check a grants file before services read it; lists every fault")
    .argument("<file>", "the file that GRANTS_FILE of the services names")
    .action(async (file: string, _: unknown, command: Command) => {
      const session = await openSession(world, command);
      const grants = readGrants(file, resolve(world.cwd, file));
      const shown = [...grants.values()].map(({ identity, tenants, services, methods, roles, people }) => ({
        identity,
        tenants: [...tenants],
        services: [...services],
        methods: [...methods],
        roles: [...roles],
        people,
      }));
      session.print(shown, `${file}: ${grants.size} ${grants.size === 1 ? "grant" : "grants"}, no fault`);
    });
}

function readGrants(name: string, path: string): Grants {
  try {
    const grants = parseGrants(readGuardedFile(path, grantsBytesMax).toString("utf8"));
    const faults = unknownNames(grants);
    if (faults.length > 0) throw new ConfigError(faults.join("\n"));
    return grants;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new CliError(`${name} cannot be used:\n${error.message.replaceAll(/^/gm, "  ")}`, { cause: error });
  }
}

/**
 * Faults for names that this version of the program does not know. Services accept such names,
 * because the file may be newer than the service.
 */
function unknownNames(grants: Grants): string[] {
  return [...grants.values()].flatMap(({ identity, services, methods }) => {
    const unknown = [...services.difference(teamsServices), ...methods.difference(teamsMethods)];
    return unknown.map(
      (name) => `${identity}: no teams door serves ${name}; there are ${[...teamsServices].join(", ")}`,
    );
  });
}
