import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { TrustListService } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { route } from "@vidimus/kit/rpc/doors/teams/teams-server";
import { patient } from "@vidimus/kit/testing/patient";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { serve } from "./support/fake-documents.ts";
import { openGateway } from "./support/start-gateway.ts";

const validFrom = timestampFromDate(new Date("2026-01-01T00:00:00.000Z"));
let answer: () => Promise<{ activeKeyId: string; keys: object[]; revision: bigint }>;
let rpc: Awaited<ReturnType<typeof serve>>;

/** Makes a `listKeys` that answers a list of one key. The key is named after the revision. */
const listOf = (revision: number) => {
  const key = { keyId: `key-${revision}`, algorithm: "ed25519", publicKey: Buffer.from("k"), validFrom };
  const body = Buffer.from(JSON.stringify({ active: key.keyId, keys: [] }));
  const stated = {
    statement: `statement ${revision}`,
    keyId: "k",
    publicKey: Buffer.from("p"),
    signature: Buffer.from("s"),
  };
  return async () => ({ activeKeyId: key.keyId, keys: [key], revision: BigInt(revision), body, stated });
};
const down = async () => {
  throw new ConnectError("gone", Code.Unavailable);
};

beforeAll(async () => {
  rpc = await serve([route(TrustListService, { listKeys: () => answer() })]);
});
beforeEach(() => {
  answer = down;
});
afterAll(() => rpc[Symbol.asyncDispose]());

const open = (database: string) => openGateway({ signingTarget: `127.0.0.1:${rpc.port}`, database });

async function activeAt({ url }: { url: string }): Promise<unknown> {
  const response = await fetch(`${url}/api/keys`);
  const body = (await response.json()) as { active?: string };
  return body.active ?? response.status;
}

test("while signing is down, a restarted gateway serves the trust list that it had received", async () => {
  const database = testDatabaseName("access");
  answer = listOf(3);
  {
    await using earlier = await open(database);
    expect(await activeAt(earlier)).toBe("key-3");
  }
  answer = down;
  await using gateway = await open(database);
  expect(await activeAt(gateway)).toBe("key-3");
});

test("after a gateway has served a list, neither that gateway nor a new one serves an older list", async () => {
  const database = testDatabaseName("access");
  answer = listOf(4);
  await using first = await open(database);
  expect(await activeAt(first)).toBe("key-4");
  answer = listOf(5);
  await using second = await open(database);
  expect(await activeAt(second)).toBe("key-5");
  answer = listOf(4);
  await using third = await open(database);
  expect(await activeAt(third)).toBe("key-5");
  const until = Date.now() + 1_200;
  await vi.waitFor(
    async () => {
      expect(await activeAt(second)).toBe("key-5");
      expect(Date.now()).toBeGreaterThan(until);
    },
    { timeout: 5_000 },
  );
  answer = listOf(6);
  await vi.waitFor(async () => expect(await activeAt(third)).toBe("key-6"), patient);
});

describe("an older list from signing than another gateway has", () => {
  let first: Awaited<ReturnType<typeof open>>;
  let second: Awaited<ReturnType<typeof open>>;

  beforeAll(async () => {
    const database = testDatabaseName("access");
    answer = listOf(4);
    first = await open(database);
    expect(await activeAt(first)).toBe("key-4");
    answer = listOf(5);
    second = await open(database);
    expect(await activeAt(second)).toBe("key-5");
  });
  beforeEach(() => {
    answer = listOf(4);
  });
  afterAll(async () => {
    await second[Symbol.asyncDispose]();
    await first[Symbol.asyncDispose]();
  });

  test("is replaced by the other gateway's list", async () => {
    await vi.waitFor(async () => expect(await activeAt(first)).toBe("key-5"), patient);
  });

  test("is counted", async () => {
    await vi.waitFor(async () => {
      await activeAt(first);
      const scraped = await (await fetch(`${first.ops}/metrics`)).text();
      expect(scraped).toMatch(/^vidimus_trust_list_older_total\{service="gateway"\} [1-9]/m);
    }, patient);
  });
});

test("a new list is served although the clock of the gateway was set back", async () => {
  const wallClock = Date.now.bind(Date);
  let stepMs = 0;
  using _clock = vi.spyOn(Date, "now").mockImplementation(() => wallClock() + stepMs);
  answer = listOf(1);
  await using gateway = await open(testDatabaseName("access"));
  expect(await activeAt(gateway)).toBe("key-1");
  stepMs = -3_600_000;
  answer = listOf(2);
  await vi.waitFor(async () => expect(await activeAt(gateway)).toBe("key-2"), patient);
});

test("while signing gives no answer, a list in memory is served within 1.5 s", async () => {
  answer = listOf(1);
  await using gateway = await open(testDatabaseName("access"));
  expect(await activeAt(gateway)).toBe("key-1");
  let asked = false;
  let slowestMs = 0;
  answer = () => {
    asked = true;
    return new Promise(() => {});
  };
  await vi.waitFor(
    async () => {
      const started = performance.now();
      expect(await activeAt(gateway)).toBe("key-1");
      slowestMs = Math.max(slowestMs, performance.now() - started);
      expect(asked).toBe(true);
    },
    { timeout: 5_000 },
  );
  expect(slowestMs).toBeLessThan(1_500);
});
