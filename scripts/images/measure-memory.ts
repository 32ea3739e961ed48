/**
 * `npm run measure:images`: runs the images of `npm run images` as deploy/k8s says, with podman,
 * and measures their memory, idle and under load, against requests and limits. The load takes
 * `--seconds N`, by default 120. Needs root, podman, runc, netavark, aardvark-dns, iptables and Go.
 */
import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { openDevClient } from "@vidimus/devstack/stack/dev-client";
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { imagesDir } from "./containers.ts";
import { describePlatform } from "./describe-platform.ts";
import { readManifests } from "./manifest.ts";
import { openPlatform } from "./platform.ts";
import { type Service, services } from "./stage-context.ts";

const root = join(import.meta.dirname, "../..");
const rendered = join(imagesDir, "rendered");
const { values } = parseArgs({ options: { seconds: { type: "string", default: "120" } } });
const idleMs = 20_000;
/** Concurrent callers of each kind. */
const callers = { pushing: 64, reading: 24, polling: 200, importing: 4, exporting: 8 };
const articleCharacters = 60_000;
const phrasesOfImport = 50_000;

execFileSync("go", ["run", ".", join(root, "deploy/k8s"), rendered], { cwd: join(root, "deploy/check") });
const specOf = await readManifests(join(rendered, "local.json"));
await using stack = new AsyncDisposableStack();
const platform = await openPlatform(stack, specOf, { IP_RATE_LIMIT: "off", WRITE_BUDGET: "off" });
const dev = await describePlatform(platform, specOf);
await pause(idleMs);
const idle = await readMemory();
const counts: Record<string, number> = {};
await load(Number(values.seconds) * 1_000);
const loaded = await readMemory();
console.log(counts);
console.table(Object.fromEntries(services.map((service) => [service, toRow(service)])));

/**
 * Peaks so far of the resident memory of a container's process and of the memory of its cgroup, in
 * MiB.
 */
interface Memory {
  readonly resident: number;
  readonly cgroup: number;
}

async function readMemory(): Promise<Record<Service, Memory>> {
  const entries = services.map(async (service) => {
    const pid = await platform.pidOf(service);
    const status = await readFile(`/proc/${pid}/status`, "utf8");
    const resident = Math.round(Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]) / 1_024);
    return [service, { resident, cgroup: await cgroupPeak(pid) }] as const;
  });
  return Object.fromEntries(await Promise.all(entries)) as Record<Service, Memory>;
}

/** Reads the peak of the memory that the limit applies to, in MiB, from cgroups v1 or v2. */
async function cgroupPeak(pid: number): Promise<number> {
  const groups = await readFile(`/proc/${pid}/cgroup`, "utf8");
  const first = /^\d+:memory:(.*)$/m.exec(groups)?.[1];
  const path =
    first === undefined
      ? `/sys/fs/cgroup${/^0::(.*)$/m.exec(groups)?.[1] ?? ""}/memory.peak`
      : `/sys/fs/cgroup/memory${first}/memory.max_usage_in_bytes`;
  return Math.round(Number(await readFile(path, "utf8")) / 1_048_576);
}

function toRow(service: Service) {
  const { memoryRequest: request, memoryLimit: limit } = specOf(service);
  const { resident, cgroup } = loaded[service];
  return { "idle resident": idle[service].resident, "peak resident": resident, "peak cgroup": cgroup, request, limit };
}

async function load(ms: number): Promise<void> {
  const over = AbortSignal.timeout(ms);
  await using receiver = await openReceiver();
  using endpoints = openDevClient(dev, "delivery", EndpointService);
  await endpoints.createEndpoint({ tenantId: "demo", url: receiver.url }, { headers: { "vidimus-role": "owner" } });
  using documents = openDevClient(dev, "documents", DocumentService);
  const [demo, rival] = dev.tenants;
  const keys = [demo?.apiKey ?? "", rival?.apiKey ?? ""];
  const request = (path: string, init: RequestInit = {}, key = keys[0]) => {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${key}`);
    return fetch(`${dev.gateway}${path}`, { ...init, headers });
  };
  const work: Record<keyof typeof callers, (at: number) => Promise<number>> = {
    pushing: async () => {
      const article = makeArticle();
      const headers = { "content-type": "application/json" };
      const { status } = await request("/v1/documents", { method: "POST", headers, body: JSON.stringify(article) });
      if (status !== 201) return status;
      const transition = { documentId: article.id, name: "publish", expectedVersion: 1n };
      await documents.transitionDocument({ tenantId: "demo", transition }, { headers: { "vidimus-role": "editor" } });
      return 201;
    },
    reading: () => answerOf(request("/v1/documents?type=core/article&limit=200")),
    polling: () => answerOf(request("/v1/publisher/changes?limit=200&wait=20")),
    importing: (at) => {
      const headers = { "content-type": "text/csv" };
      return answerOf(request("/v1/phrases/import", { method: "POST", headers, body: makePhrases() }, keys[at % 2]));
    },
    exporting: (at) => answerOf(request("/v1/phrases?format=csv", {}, keys[at % 2])),
  };
  const loops = Object.entries(callers).flatMap(([kind, count]) =>
    Array.from({ length: count }, async (_, at) => {
      while (!over.aborted) {
        const outcome = await work[kind as keyof typeof callers](at).catch(() => "failed");
        const name = `${kind} ${outcome}`;
        counts[name] = (counts[name] ?? 0) + 1;
      }
    }),
  );
  await Promise.all(loops);
  counts["webhooks"] = receiver.count();
}

async function answerOf(answering: Promise<Response>): Promise<number> {
  const answer = await answering;
  await answer.arrayBuffer();
  return answer.status;
}

function makeArticle() {
  const id = randomUUID();
  const html = `It works. ${"Über 100 lines of news, and more to come. ".repeat(articleCharacters / 42)}`;
  const content = { blocks: [{ type: "core/text", data: { html } }] };
  return { id, type: "core/article", title: "Load", meta: { slug: `load-${id}`, language: "en" }, content };
}

function makePhrases(): string {
  const rows = Array.from({ length: phrasesOfImport }, (_, at) => `en,phrase number ${at}`);
  return ["language,phrase", ...rows].join("\n");
}

async function openReceiver() {
  let received = 0;
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.writeHead(204).end());
    received += 1;
  });
  await once(server.listen(0, platform.hostAddress), "listening");
  const address = server.address();
  return {
    url: `http://${platform.hostAddress}:${typeof address === "object" ? address?.port : ""}/`,
    count: () => received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
