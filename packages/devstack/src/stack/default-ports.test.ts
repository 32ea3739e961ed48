import { readConfig as readConsole } from "@vidimus/console/config";
import { readConfig as readDelivery } from "@vidimus/delivery/config";
import { readConfig as readDocuments } from "@vidimus/documents/config";
import { readConfig as readGateway } from "@vidimus/gateway/config";
import { readConfig as readPhrases } from "@vidimus/phrases/config";
import { readConfig as readSigning } from "@vidimus/signing/config";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { consolePortSettings, readConsolePorts } from "./console-plan.ts";
import { portSettings, readPorts } from "./service-plan.ts";

const folder = mkdtempSync(join(tmpdir(), "vidimus-ports-"));
afterAll(() => rmSync(folder, { recursive: true }));
const kekFile = join(folder, "kek");
writeFileSync(kekFile, Buffer.alloc(32, 0xff), { mode: 0o600 });

const env = {
  MONGODB_URL: "mongodb://127.0.0.1:27017",
  NATS_URL: "nats://127.0.0.1:4222",
  SIGNING: "off",
  SIGNING_KEK_FILE: kekFile,
  DELIVERY_KEK_FILE: kekFile,
};
const configs = {
  gateway: readGateway(env),
  documents: readDocuments(env),
  phrases: readPhrases(env),
  signing: readSigning(env),
  delivery: readDelivery(env),
};

/** Linux gives outgoing connections the ports from here on. */
const firstOutgoingPort = 32_768;

const ports = [...portSettings, ...consolePortSettings].map(({ fallback }) => fallback);

test("each default port is below those that Linux gives to outgoing connections", () => {
  expect(ports.filter((port) => port >= firstOutgoingPort)).toEqual([]);
});

test("no two port settings have the same default", () => {
  expect(new Set(ports).size).toBe(ports.length);
});

test("a service's default ports are those of the dev stack, but signing's admin door is closed", () => {
  const { signing, ...planned } = readPorts({});
  for (const name of ["gateway", "documents", "phrases", "delivery"] as const) {
    const { grpc: grpcPort, mesh: meshPort, ops: opsPort } = planned[name];
    expect(configs[name]).toMatchObject({ grpcPort, meshPort, opsPort });
  }
  expect(configs.gateway.httpPort).toBe(planned.gateway.http);
  expect(configs.signing).toMatchObject({ meshPort: signing.mesh, opsPort: signing.ops, adminPort: undefined });
});

test("without settings each service but signing calls other services at their default mesh ports", () => {
  const mesh = Object.fromEntries(
    Object.entries(readPorts({})).map(([name, doors]) => [name, `127.0.0.1:${doors.mesh}`]),
  );
  const { gateway, documents, phrases, delivery } = configs;
  expect(gateway).toMatchObject({
    documentsTarget: mesh["documents"],
    phrasesTarget: mesh["phrases"],
    signingTarget: mesh["signing"],
    deliveryTarget: mesh["delivery"],
  });
  expect(delivery).toMatchObject({ documentsTarget: mesh["documents"], signingTarget: mesh["signing"] });
  for (const { accessTarget } of [documents, phrases, delivery]) expect(accessTarget).toBe(mesh["gateway"]);
});

test("without settings the console listens on and calls the default ports of the dev stack", () => {
  const { http, ops } = readConsolePorts({});
  const { gateway, documents, phrases, delivery } = readPorts({});
  expect(readConsole(env)).toMatchObject({
    pagesPort: http,
    opsPort: ops,
    accessTarget: `127.0.0.1:${gateway.grpc}`,
    documentsTarget: `127.0.0.1:${documents.grpc}`,
    phrasesTarget: `127.0.0.1:${phrases.grpc}`,
    deliveryTarget: `127.0.0.1:${delivery.grpc}`,
  });
});
