import { ensureDatabaseUsers, userUrl } from "@vidimus/devstack/backing/database-users";
import { openMongod } from "@vidimus/devstack/backing/mongod";
import { openNatsServer } from "@vidimus/devstack/backing/nats-server";
import { type DevIdentities, makeIdentities } from "@vidimus/devstack/stack/dev-identities";
import { databaseUsers } from "@vidimus/devstack/stack/service-plan";
import { randomBytes } from "node:crypto";
import { chmod, chown, copyFile, mkdir, rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { imageOf } from "./build-images.ts";
import { imagesDir, podman, tryPodman } from "./containers.ts";
import type { ContainerSpec } from "./manifest.ts";
import { type Service, services } from "./stage-context.ts";

/**
 * From service to the members of its network: itself, and the services that may reach it by the
 * NetworkPolicies of deploy/k8s/base. Containers that share no network cannot reach each other.
 */
const networks: Readonly<Partial<Record<Service, readonly Service[]>>> = {
  documents: ["documents", "gateway", "delivery"],
  phrases: ["phrases", "gateway"],
  signing: ["signing", "gateway", "delivery"],
  delivery: ["delivery", "gateway"],
};

const network = (service: string) => `vidimus-${service}`;
const container = (service: string) => `vidimus-${service}`;
const readyMs = 120_000;

/** The five services in containers, on isolated networks, with MongoDB and NATS on the host. */
export interface Platform {
  readonly identities: DevIdentities;
  /** Address at which containers reach the host. */
  readonly hostAddress: string;
  /** Address of a container in that of its networks whose name sorts first. */
  addressOf(service: Service): Promise<string>;
  /** Runs the source of a module in a service's container. Returns what it printed. */
  evaluate(service: Service, module: string): Promise<string>;
  /** The id of a container's first process, on the host. */
  pidOf(service: Service): Promise<number>;
  /** Sends SIGTERM, and SIGKILL after 60 s. Returns the exit code. */
  stop(service: Service): Promise<number>;
  /** The last 20 lines of each container. */
  recentLogs(): Promise<string>;
}

/**
 * Starts the platform on the stack, whose disposal removes containers and networks.
 *
 * @param settings of all services; they override those of their manifests
 */
export async function openPlatform(
  stack: AsyncDisposableStack,
  specOf: (service: Service) => ContainerSpec,
  settings: Readonly<Record<string, string>> = {},
): Promise<Platform> {
  const state = join(imagesDir, "state");
  await rm(state, { recursive: true, force: true });
  await mkdir(state, { recursive: true });
  await removeAll();
  stack.defer(removeAll);
  const hostAddress = await openNetworks();
  const identities = await makeIdentities(join(state, "identities"));
  const urls = await openBacking(stack, state, hostAddress, identities);
  const run = (service: Service, ...command: string[]) =>
    startArguments(service, specOf(service), { state, identities, urls, hostAddress, settings }, command);
  await podman(...(await run("documents", "src/migrate.ts")));
  for (const service of ["signing", "documents", "phrases", "delivery", "gateway"] as const) {
    await podman(...(await run(service)));
    await untilReady(service, specOf(service).ports["ops"] ?? 0);
  }
  return {
    identities,
    hostAddress,
    addressOf,
    evaluate: (service, module) =>
      podman("exec", container(service), "/usr/bin/node", "--input-type=module", "--eval", module),
    async pidOf(service) {
      const state = await podman("inspect", "--format", "{{.State.Pid}} {{.State.OOMKilled}}", container(service));
      const [pid, oomKilled] = state.trim().split(" ");
      if (pid === "0")
        throw new Error(`${service} has ended${oomKilled === "true" ? ": it reached its memory limit" : ""}`);
      return Number(pid);
    },
    stop: async (service) => {
      await podman("stop", "--time", "60", container(service));
      return Number(await podman("inspect", "--format", "{{.State.ExitCode}}", container(service)));
    },
    async recentLogs() {
      const logs = services.map(async (service) => {
        const { output } = await tryPodman("logs", "--tail", "20", container(service));
        return `-- ${service}\n${output}`;
      });
      return (await Promise.all(logs)).join("\n");
    },
  };
}

async function removeAll(): Promise<void> {
  for (const name of [...services, "holder", "migrate"])
    await tryPodman("rm", "--force", "--time", "1", container(name));
  for (const name of Object.keys(networks)) await tryPodman("network", "rm", "--force", network(name));
}

/**
 * Opens the networks and a container that keeps them open: a network has its address on the host
 * only while it has a container. Returns the host's address in the first network.
 */
async function openNetworks(): Promise<string> {
  const names = Object.keys(networks).map(network);
  for (const name of names) await podman("network", "create", "--opt", "isolate=true", name);
  const sleep = ["--entrypoint", '["/usr/bin/node", "--eval", "setInterval(() => {}, 1e9)"]', imageOf("signing")];
  await podman("run", "--detach", "--name", container("holder"), "--network", names.join(","), ...sleep);
  return podman("network", "inspect", "--format", "{{(index .Subnets 0).Gateway}}", names[0] ?? "");
}

interface BackingUrls {
  mongoOf(service: Service): string;
  readonly nats: string;
}

/**
 * Starts MongoDB and NATS on loopback, both with users. Containers cannot reach the host's
 * loopback, so ports of the host's address are forwarded to the two servers.
 */
async function openBacking(
  stack: AsyncDisposableStack,
  state: string,
  host: string,
  { database, brokerConfig: configFile }: DevIdentities,
): Promise<BackingUrls> {
  const serverOptions = (name: string) => ({
    dataDir: join(state, name),
    logFile: join(state, `${name}.log`),
    port: 0,
  });
  const mongod = stack.use(await openMongod({ ...serverOptions("mongod"), access: database }));
  const nats = stack.use(await openNatsServer({ ...serverOptions("nats"), configFile }));
  const users = databaseUsers("vidimus", database.passwords);
  await ensureDatabaseUsers(mongod.url, Object.values(users));
  const way = async (url: string) => {
    const upstream = Number(new URL(url).port);
    const server = createServer((client) => {
      const socket = connect(upstream, "127.0.0.1");
      const close = () => [client, socket].forEach((each) => each.destroy());
      for (const each of [client, socket]) each.on("error", close).on("close", close);
      client.pipe(socket).pipe(client);
    });
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    stack.defer(() => void server.close());
    const address = server.address();
    return `${host}:${typeof address === "object" ? address?.port : ""}`;
  };
  const [mongoAddress, natsAddress] = await Promise.all([way(mongod.url), way(nats.url)]);
  const mongo = `mongodb://${mongoAddress}/?directConnection=true`;
  return { mongoOf: (service) => userUrl(mongo, users[service]), nats: `tls://${natsAddress}` };
}

interface Surroundings {
  readonly state: string;
  readonly identities: DevIdentities;
  readonly urls: BackingUrls;
  readonly hostAddress: string;
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * Writes the files of a container's mounts, and returns the arguments of `podman run`. With a
 * `command` the container is a job, which is removed at its end.
 */
async function startArguments(
  service: Service,
  spec: ContainerSpec,
  { state, identities, urls, hostAddress, settings }: Surroundings,
  command: readonly string[],
): Promise<string[]> {
  const folder = join(state, "mounts", service);
  await writeMounts(folder, service, identities);
  const isJob = command.length > 0;
  const variables = {
    ...spec.env,
    MONGODB_URL: urls.mongoOf(service),
    NATS_URL: urls.nats,
    // The receivers are on the host, at a private address, which delivery refuses by default.
    DELIVERY_ALLOW_CIDRS: `${hostAddress}/32`,
    DELIVERY_ALLOW_PORTS: "1-65535",
    ...settings,
  };
  const joined = Object.entries(networks).flatMap(([callee, members]) =>
    members.includes(service) ? [`${network(callee)}:alias=${service}`] : [],
  );
  const mounts = Object.entries(spec.mounts).flatMap(([name, path]) => {
    if (name === "tmp") return ["--tmpfs", `${path}:rw,size=256m,mode=1777`];
    return name in folders ? ["--volume", `${join(folder, name)}:${path}:ro`] : [];
  });
  const hardening = ["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", spec.user];
  const memory = spec.memoryLimit.replace("Mi", "m").replace("Gi", "g");
  return [
    "run",
    ...(isJob ? ["--rm", "--name", container("migrate")] : ["--detach", "--name", container(service)]),
    ...hardening,
    "--memory",
    memory,
    ...joined.flatMap((name) => ["--network", name]),
    ...Object.entries(variables).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
    ...mounts,
    imageOf(service),
    ...command,
  ];
}

const folders = { tls: true, grants: true, kek: true, attestation: true };

/** One key, which documents and signing share. */
const attestationKey = randomBytes(32);

/** Writes the files as the kubelet does: owned by root, readable by the group of the pod. */
async function writeMounts(folder: string, service: Service, identities: DevIdentities): Promise<void> {
  const files = identities.services[service];
  const secrets = { "tls/tls.crt": files.certFile, "tls/tls.key": files.keyFile, "tls/ca.crt": files.caFile };
  await mkdir(join(folder, "kek"), { recursive: true });
  await writeFile(join(folder, "kek/kek"), randomBytes(32), { flag: "wx" }).catch(() => {});
  await mkdir(join(folder, "attestation"), { recursive: true });
  await writeFile(join(folder, "attestation/key"), attestationKey);
  for (const [path, source] of Object.entries({ ...secrets, "grants/grants.json": identities.grantsFile })) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await copyFile(source, join(folder, path));
  }
  for (const path of [...Object.keys(secrets), "grants/grants.json", "kek/kek", "attestation/key"]) {
    await chown(join(folder, path), 0, 65_532);
    await chmod(join(folder, path), 0o440);
  }
}

async function addressOf(service: Service): Promise<string> {
  const format = "{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}";
  const addresses = await podman("inspect", "--format", format, container(service));
  return addresses.split(" ")[0] ?? "";
}

async function untilReady(service: Service, opsPort: number): Promise<void> {
  const url = `http://${await addressOf(service)}:${opsPort}/readyz`;
  const deadline = AbortSignal.timeout(readyMs);
  while (!deadline.aborted) {
    const ready = await fetch(url, { signal: AbortSignal.timeout(3_000) }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (ready) return;
    await pause(200);
  }
  const { output } = await tryPodman("logs", "--tail", "20", container(service));
  throw new Error(`${service} is not ready after ${readyMs} ms:\n${output}`);
}
