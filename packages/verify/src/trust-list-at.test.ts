import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { listStater } from "../test/support/list-stater.ts";
import {
  type FetchTrustList,
  trustListAt,
  type TrustedKey,
  type TrustListOptions,
  TrustListUnavailable,
  type VerifiedTrustList,
} from "./verify.ts";

const stater = listStater();

const signedAt = new Date("2026-11-21T09:30:00.000Z");
const minute = 60_000;
const hour = 60 * minute;

const key = (keyId: string, validFrom = "2026-01-01T00:00:00.000Z"): TrustedKey => ({
  keyId,
  algorithm: "ed25519",
  publicKey: "AA==",
  validFrom,
  validUntil: null,
});

let clock: number;
let listed: TrustedKey[];
let fetches: string[];
let revision: number;
let answer: () => ReturnType<FetchTrustList>;

/** The answer with a list that is stated at the time of `clock`. */
async function stated(list: unknown, { state } = stater) {
  const { body, headers } = state(list as object, { issuedAt: clock, revision });
  return { ok: true, status: 200, headers: new Headers(headers), text: async () => body };
}

beforeEach(() => {
  clock = signedAt.getTime();
  listed = [key("a")];
  fetches = [];
  revision = 1;
  answer = () => stated({ active: "a", keys: listed });
});

const open = (options: TrustListOptions = {}) =>
  trustListAt("https://vidimus.example/api/keys", {
    ...options,
    now: () => clock,
    fetch: async (url) => {
      fetches.push(url);
      return answer();
    },
  });

const down = async () => {
  throw new TypeError("fetch failed");
};

it("three look-ups at the same time share one fetch of the trust list", async () => {
  const list = open();
  const found = await Promise.all([1, 2, 3].map(() => list.keyFor("a", signedAt)));
  expect(found).toEqual([key("a"), key("a"), key("a")]);
  expect(fetches).toEqual(["https://vidimus.example/api/keys"]);
});

it("the trust list is fetched again after an hour", async () => {
  const list = open();
  await list.keyFor("a", signedAt);
  clock += hour - 1;
  await list.keyFor("a", signedAt);
  expect(fetches).toHaveLength(1);
  clock += 1;
  await list.keyFor("a", signedAt);
  expect(fetches).toHaveLength(2);
});

it("the list is fetched for an unknown keyId at once, then at most once a minute, whatever the ids", async () => {
  const list = open();
  await list.keyFor("a", signedAt);
  listed = [key("a"), key("b")];
  expect(await list.keyFor("b", signedAt)).toEqual(key("b"));
  expect(fetches).toHaveLength(2);
  for (let step = 0; step < 59; step += 1) {
    clock += 1000;
    expect(await list.keyFor(`unknown-${step}`, signedAt)).toBeUndefined();
  }
  expect(fetches).toHaveLength(2);
  clock += 1000;
  expect(await list.keyFor("unknown", signedAt)).toBeUndefined();
  expect(fetches).toHaveLength(3);
});

it("the trust list is fetched again for a key whose listed start is after the signature's time", async () => {
  const list = open();
  listed = [key("a"), key("b", "2026-11-22T00:00:00.000Z")];
  await list.keyFor("a", signedAt);
  clock += minute;
  listed = [key("b", "2026-11-21T09:00:00.000Z")];
  expect(await list.keyFor("b", signedAt)).toEqual(listed[0]);
});

/** A list of a platform behind a cache that still has the list from before b was valid. */
async function openBehindCache() {
  const asked: (string | undefined)[] = [];
  const later = { ...key("b"), validFrom: "2026-11-22T00:00:00.000Z" };
  const cached = stater.state({ active: "a", keys: [key("a"), later] }, { issuedAt: clock, revision });
  const present = stater.state({ active: "b", keys: [key("b")] }, { issuedAt: clock, revision });
  const cache = createServer((request, response) => {
    asked.push(request.headers["cache-control"]);
    const { headers, body } = request.headers["cache-control"] === "no-cache" ? present : cached;
    response.writeHead(200, headers).end(body);
  });
  await new Promise<void>((listening) => void cache.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void cache.close());
  const { port } = cache.address() as AddressInfo;
  return { asked, list: trustListAt(`http://127.0.0.1:${port}/api/keys`, { now: () => clock }) };
}

it("a newer list is fetched past a cache that has an older one", async () => {
  const { asked, list } = await openBehindCache();
  expect(await list.keyFor("b", signedAt)).toEqual(key("b"));
  expect(asked).toEqual([undefined, "no-cache"]);
});

it("1,000 look-ups at once of keys unknown or not valid yet cause one fetch past caches", async () => {
  const { asked, list } = await openBehindCache();
  await list.keyFor("b", signedAt);
  clock += minute;
  const early = new Date("2025-01-01T00:00:00.000Z");
  const ids = Array.from({ length: 500 }, (_, at) => `unknown-${at}`);
  await Promise.all(ids.flatMap((id) => [list.keyFor(id, signedAt), list.keyFor("b", early)]));
  expect(asked).toEqual([undefined, "no-cache", "no-cache"]);
});

it("a key that is no longer listed is not found once the list is an hour old", async () => {
  const list = open();
  await list.keyFor("a", signedAt);
  listed = [key("b")];
  clock += hour;
  expect(await list.keyFor("a", signedAt)).toBeUndefined();
});

it("while the list is under two hours old, a failed fetch is repeated only after a minute", async () => {
  const list = open();
  await list.keyFor("a", signedAt);
  answer = down;
  clock += hour;
  for (let second = 0; second < 60; second += 1) {
    await list.keyFor("a", signedAt);
    clock += 1000;
  }
  expect(fetches).toHaveLength(2);
  await list.keyFor("a", signedAt);
  expect(fetches).toHaveLength(3);
});

it("the list is used for two hours while the platform is down", async () => {
  const list = open();
  await list.keyFor("a", signedAt);
  answer = down;
  clock = signedAt.getTime() + 2 * hour - 1;
  expect(await list.keyFor("a", signedAt)).toEqual(key("a"));
  clock += 1;
  await expect(list.keyFor("a", signedAt)).rejects.toThrow(TrustListUnavailable);
});

it("until a first list is accepted, each keyFor fetches again, and its error says what was wrong", async () => {
  const list = open();
  answer = down;
  await expect(list.keyFor("a", signedAt)).rejects.toThrow("https://vidimus.example/api/keys could not be fetched");
  answer = async () => ({ ...(await stated({})), ok: false, status: 503 });
  await expect(list.keyFor("a", signedAt)).rejects.toMatchObject({ cause: new Error("it was answered with 503") });
  for (const body of [null, {}, { keys: {} }, { keys: [{ keyId: "a" }] }, { keys: [null] }]) {
    answer = () => stated(body === null ? body : { active: null, ...body });
    await expect(list.keyFor("a", signedAt)).rejects.toThrow("is refused: body: it is no trust list");
  }
  expect(fetches).toHaveLength(7);
  answer = () => stated({ active: null, keys: listed });
  expect(await list.keyFor("a", signedAt)).toEqual(key("a"));
});

it("while no list can be fetched, keyFor finds a key of the earlier list, and throws for another key", async () => {
  const list = open();
  await list.keyFor("a", signedAt);
  answer = down;
  clock += minute;
  await expect(list.keyFor("b", signedAt)).rejects.toThrow(TrustListUnavailable);
  expect(await list.keyFor("a", signedAt)).toEqual(key("a"));
});

it("without a root, a list is refused when its list key is not that of the first list", async () => {
  const list = open();
  await list.keyFor("a", signedAt);
  listed = [key("a"), key("planted")];
  const stolen = listStater();
  answer = () => stated({ active: "a", keys: listed }, stolen);
  clock += minute;
  await expect(list.keyFor("planted", signedAt)).rejects.toThrow("is refused: chain: another list key");
  expect(await list.keyFor("a", signedAt)).toEqual(key("a"));
});

it("a list with a lower revision than the accepted one is refused", async () => {
  revision = 5;
  const list = open();
  await list.keyFor("a", signedAt);
  listed = [key("a"), key("planted")];
  revision = 4;
  clock += minute;
  await expect(list.keyFor("planted", signedAt)).rejects.toThrow("is refused: revision: 4 was taken back, 5 is newer");
});

/** A trust list with the `revision`, 5, and the `listKey` that `onList` got from an earlier one. */
async function restart() {
  const lists: VerifiedTrustList[] = [];
  revision = 5;
  await open({ onList: (each) => void lists.push(each) }).keyFor("a", signedAt);
  expect(lists).toMatchObject([{ revision: 5, listKey: stater.listKey }]);
  const [pins] = lists;
  return open({ revision: pins!.revision, listKey: pins!.listKey });
}

it("after a restart with the `revision` that `onList` got, a list with a lower revision is refused", async () => {
  const restarted = await restart();
  revision = 4;
  await expect(restarted.keyFor("a", signedAt)).rejects.toThrow("4 was taken back");
  revision = 5;
  expect(await restarted.keyFor("a", signedAt)).toEqual(key("a"));
});

it("after a restart with the `listKey` that `onList` got, a list of another list key is refused", async () => {
  const restarted = await restart();
  const genuine = answer;
  answer = () => stated({ active: "a", keys: listed }, listStater());
  await expect(restarted.keyFor("a", signedAt)).rejects.toThrow("is refused: chain: another list key");
  answer = genuine;
  expect(await restarted.keyFor("a", signedAt)).toEqual(key("a"));
});

it("a list key that the pinned root did not delegate to is refused, and the earlier list stays in use", async () => {
  const list = open({ root: stater.root });
  expect(await list.keyFor("a", signedAt)).toEqual(key("a"));
  const renewed = listStater();
  clock += hour;
  answer = () => stated({ active: "a", keys: listed }, renewed);
  expect(await list.keyFor("a", signedAt)).toEqual(key("a"));
  await expect(list.keyFor("b", signedAt)).rejects.toThrow("is refused: chain: the pinned root did not delegate");
});
