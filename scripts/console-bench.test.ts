import { create, type DescMethod, type MessageInitShape, toJsonString } from "@bufbuild/protobuf";
import { createClient, type Transport } from "@connectrpc/connect";
import { enterTenant } from "@vidimus/console/http/enter-tenant";
import { urlOf } from "@vidimus/console/http/mount-routes";
import type { PersonCall, Route } from "@vidimus/console/http/route";
import { personActor } from "@vidimus/kit/rpc/context/person";
import { routes, type RoutesDeps } from "@vidimus/console/pages/routes";
import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { SchemaService } from "@vidimus/contracts/vidimus/documents/v1/schema_service";
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type BareCalls, consolePages, type MeasuredPage, type Shown } from "../bench/stage/console-pages.ts";
import { reader } from "../bench/stage/signed-in.ts";

const shown: Shown = {
  tenant: "demo",
  key: "key-id",
  member: "member-id",
  invitation: "invitation-id",
  endpoint: "endpoint-id",
  delivery: "delivery-id",
  replay: "replay-id",
  phrase: "phrase-id",
  code: "c".repeat(43),
};
const membership = { tenantId: shown.tenant, tenantName: "Demo", disabled: false, roles: ["owner"], invitedBy: "" };
const person = {
  session: { identity: reader, name: "Operator", address: "" },
  memberId: personActor(reader),
  memberships: [membership],
  current: membership,
};
const never = new Promise<never>(() => {});

/** The calls that `run` makes before any is answered: a page makes all its calls at once. */
async function callsOf(run: (bare: BareCalls) => unknown): Promise<string[]> {
  const made: string[] = [];
  const note = ({ input, name }: DescMethod, header: HeadersInit | undefined, request: unknown) => {
    const headers = new Headers(header);
    const message = create(input, request as MessageInitShape<typeof input>);
    const as = `${headers.get("vidimus-actor")} ${headers.get("vidimus-role")}`;
    made.push(`${input.typeName} ${name} as ${as}: ${toJsonString(input, message)}`);
  };
  const transport: Transport = {
    unary: (method, _signal, _timeoutMs, header, request) => {
      note(method, header, request);
      return never;
    },
    stream: async (method, _signal, _timeoutMs, header, requests) => {
      for await (const request of requests) note(method, header, request);
      return never;
    },
  };
  run({
    access: createClient(AccessService, transport),
    members: createClient(MemberService, transport),
    endpoints: createClient(EndpointService, transport),
    deliveries: createClient(DeliveryLogService, transport),
    schemas: createClient(SchemaService, transport),
    phrases: createClient(PhraseService, transport),
    readTrustList: () => {
      made.push("the trust list");
      return never;
    },
  });
  await setImmediate();
  return made.toSorted();
}

/** Every page of the console, but for files that belong to all pages. */
function pagesOf(bare: Partial<BareCalls>): Route[] {
  const origin = new URL("http://console.example");
  const deps = { ...bare, sessions: { list: () => never }, origin, apiOrigin: origin, gatewayUrl: origin };
  return routes(deps as unknown as RoutesDeps).filter(
    (route) => route.method === "GET" && !urlOf(route).startsWith("/look/"),
  );
}

/** Opens the page of a route, as the console does for the reader once it is identified. */
async function openPage(url: string, bare: BareCalls, query = ""): Promise<unknown> {
  const call = {
    query: new URLSearchParams(query),
    form: new URLSearchParams(),
    url: new URL(url, "http://console.example"),
    now: new Date(),
    signal: new AbortController().signal,
    rounds: { count: bare.readTrustList },
    cookie: () => shown.code,
    person,
  } as unknown as PersonCall;
  const route = pagesOf(bare).find((each) => urlOf(each) === url)!;
  if (route.access === "member") return enterTenant(route, call, { ...shown })();
  return route.handle(call, async () => call.person);
}

const measured = consolePages({} as BareCalls, shown);
const named = (page: MeasuredPage, index: number) =>
  [`${page.route} ${page.query ?? ""}`.trim(), { ...page, index }] as const;

describe("the benchmark of the console", () => {
  it("measures every page that calls a service", async () => {
    const missing: string[] = [];
    for (const url of pagesOf({}).map(urlOf)) {
      if (measured.some(({ route }) => route === url)) continue;
      const calls = await callsOf((bare) => openPage(url, bare));
      if (calls.length > 0) missing.push(url);
    }
    expect(missing).toEqual([]);
  });

  it.each(measured.map(named))("makes the calls of the page: %s", async (_page, { index, route, query }) => {
    const ofPage = await callsOf((bare) => openPage(route, bare, query));
    expect(await callsOf((bare) => consolePages(bare, shown)[index]!.calls())).toEqual(ofPage);
  });
});
