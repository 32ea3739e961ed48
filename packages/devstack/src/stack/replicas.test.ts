import { expect, test } from "vitest";
import { DevstackError } from "../errors.ts";
import { parseReplicas, planReplicas } from "./replicas.ts";
import { readPorts, serviceEnv } from "./service-plan.ts";

test("--replicas states the number of processes of each service that it names", () => {
  expect(parseReplicas("documents=3, gateway=2")).toEqual({ documents: 3, gateway: 2 });
});

test.each(["", "documents", "documents=0", "documents=10", "mongod=3", "documents=2,documents=3", "documents=2,"])(
  "--replicas %j is refused",
  (text) => {
    expect(() => parseReplicas(text)).toThrow(DevstackError);
  },
);

async function planTwoMore() {
  const replicas = await planReplicas({ documents: 3, gateway: 1 });
  expect(replicas.map(({ name }) => name)).toEqual(["documents-2", "documents-3"]);
  const ports = readPorts({});
  const nowhere = {
    mongoUrl: "",
    databaseUsers: undefined,
    natsUrl: "",
    isOwnBroker: true,
    kekFiles: { signing: "", delivery: "" },
    attestationKeyFile: "/attestation",
  };
  const shared = { ...nowhere, databasePrefix: "v", identities: undefined, ports, replicas };
  const mesh = [ports.documents.mesh, ...replicas.map((replica) => replica.ports.mesh)];
  return { replicas, ports, shared, mesh };
}

test("every process of a service has ports of its own", async () => {
  const { replicas, ports, shared, mesh } = await planTwoMore();
  const all = [ports.documents, ...replicas.map((replica) => replica.ports)].flatMap((own) => Object.values(own));
  expect(new Set(all).size).toBe(9);
  expect(serviceEnv("documents", shared, {}, replicas[0]?.ports)).toMatchObject({ MESH_PORT: String(mesh[1]) });
});

test("a caller's target has the addresses of all processes of a service", async () => {
  const { ports, shared, mesh } = await planTwoMore();
  expect(serviceEnv("gateway", shared, {})).toMatchObject({
    DOCUMENTS_TARGET: `ipv4:${mesh.map((port) => `127.0.0.1:${port}`).join(",")}`,
    PHRASES_TARGET: `127.0.0.1:${ports.phrases.mesh}`,
  });
});
