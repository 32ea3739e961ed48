/** The life of the ring under any schedule of two processes, operators and clocks. */
import * as fc from "fast-check";
import { createSecretKey, randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { localWrappedCustody } from "../custody/local-wrapped.ts";
import { assertRing, type KeyRing, listedKeys, type RingKey, signingKey } from "./key-ring.ts";
import { activateKey, retireKey, revokeKey } from "./ring-changes.ts";
import { CheckedClock } from "./checked-clock.ts";
import { RingWatch, type Signers } from "./ring-watch.ts";
import type { SealedRing } from "./sealed-ring.ts";
import { SealedRings, type SealedRingStorage } from "./sealed-rings.ts";
import { pendingKey } from "./key-ring.ts";
import { type GenerateKey, withStandby } from "./tend-ring.ts";
import { updateRing } from "./update-ring.ts";

const secondMs = 1_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const rules = { prepublishMs: 3 * hourMs, rotateAfterMs: 90 * dayMs };
const kek = (generation: number) => createSecretKey(Buffer.alloc(32, generation));
const turn = () => new Promise((resolve) => setImmediate(resolve));

function refusal(error: Error): undefined {
  expect(error).toMatchObject({ name: "DomainError" });
}

interface Replica {
  watch: RingWatch;
  rings: SealedRings;
  isOn: boolean;
  id: string;
}

/** Storage, clock and processes, and what everybody could see at which time. */
class World implements SealedRingStorage {
  clock = Date.parse("2026-11-21T09:30:00.000Z");
  /** Generation of the KEK that a process gets at its start, together with the KEK before. */
  generation = 1;
  readonly history: { at: number; ring: KeyRing }[] = [];
  readonly replicas: Replica[] = [];
  readonly #seen = new Map<string, number>();
  #stored: SealedRing | undefined;

  constructor() {
    this.replicas.push(this.#start(true), this.#start(true));
  }

  now = () => new Date(this.clock);

  async read(): Promise<SealedRing | undefined> {
    const stored = this.#stored;
    await turn();
    return stored;
  }

  async save(sealed: SealedRing): Promise<boolean> {
    await turn();
    if ((this.#stored?.ring.revision ?? 0) !== sealed.ring.revision - 1) return false;
    this.#stored = sealed;
    this.history.push({ at: this.clock, ring: sealed.ring });
    return true;
  }

  get keys(): readonly RingKey[] {
    return this.#stored?.ring.keys ?? [];
  }

  restart(index: number, isOn: boolean, crashes: boolean): void {
    if (!crashes) this.#seen.delete(this.replicas[index]!.id);
    this.replicas[index] = this.#start(isOn);
  }

  async change(index: number, change: Change): Promise<void> {
    const { rings } = this.replicas[index]!;
    const generate = () => rings.generate();
    await updateRing(rings, async (standing) =>
      standing?.keys.length
        ? withStandby(await change(this, standing.keys, generate), this.now(), rules, generate)
        : undefined,
    ).catch(refusal);
  }

  /**
   * Whether the KEK of a generation alone opens the seal and every private key, or none of them.
   */
  async opened(generation: number): Promise<"all" | "none" | "some"> {
    const custody = localWrappedCustody(kek(generation));
    const keys = [...this.keys, this.#stored!.ring.listKey];
    const sealed = keys.flatMap((key) => (key.sealed ? [{ ...key, sealed: key.sealed }] : []));
    const openings = [custody.openSealKey(this.#stored!.seal), ...sealed.map((key) => custody.open(key))];
    const opened = (await Promise.allSettled(openings)).filter(({ status }) => status === "fulfilled").length;
    if (opened === openings.length) return "all";
    return opened === 0 ? "none" : "some";
  }

  #start(isOn: boolean): Replica {
    const id = randomUUID();
    const signers: Signers = {
      report: async () => {
        this.#seen.set(id, this.clock);
        return this.now();
      },
      databaseTime: async () => this.now(),
      leave: async () => void this.#seen.delete(id),
      anyAlive: async () => [...this.#seen.values()].some((at) => this.clock - at < 10 * secondMs),
    };
    const custody = localWrappedCustody(kek(this.generation), kek(this.generation - 1));
    const rings = new SealedRings(this, custody);
    const lastRingRevision = async () => undefined;
    const elapsedMs = () => this.clock;
    const clock = new CheckedClock({ now: this.now, elapsedMs });
    return {
      watch: new RingWatch({
        rings,
        signers,
        custody,
        generate: () => rings.generate(),
        lastRingRevision,
        rules,
        isOn,
        clock,
        elapsedMs,
      }),
      rings,
      isOn,
      id,
    };
  }

  /** The rings that a client with a cache of one hour may hold. */
  visible(): KeyRing[] {
    const since = this.clock - hourMs;
    const last = this.history.findLastIndex(({ at }) => at <= since);
    const rings = this.history.slice(Math.max(last, 0)).map(({ ring }) => ring);
    // A ring without keys has nothing that a client could keep.
    return rings.filter(({ keys }) => keys.length > 0);
  }
}

type Command = fc.AsyncCommand<object, World>;

function command(name: string, act: (world: World) => Promise<unknown>): Command {
  return {
    check: () => true,
    toString: () => name,
    async run(_, world) {
      const before = world.history.at(-1)?.ring;
      await act(world);
      const last = world.history.at(-1)?.ring;
      if (!last?.keys.length) return;
      assertRing(last);
      const missing = before?.keys.filter(
        (old) =>
          !last.keys.some((key) => key.keyId === old.keyId && (old.state !== "retired" || key.state !== "pending")),
      );
      expect(missing ?? []).toEqual([]);
      const retired = last.keys.filter(({ state }) => state === "retired");
      expect(listedKeys(last)).toEqual(expect.arrayContaining(retired));
      expect(last.keys.filter(({ state }) => state === "pending").length).toBeGreaterThan(0);
      expect(retired.filter(({ sealed }) => sealed)).toEqual([]);
    },
  };
}

const which = fc.nat(1);
const waits = fc.oneof(
  fc.integer({ min: 1, max: 6 }).map((seconds) => seconds * secondMs),
  fc.integer({ min: 1, max: 59 }).map((minutes) => minutes * 60 * secondMs),
  fc.integer({ min: 1, max: 5 }).map((hours) => hours * hourMs),
  fc.constantFrom(1, 89, 91, 340, 400, 800).map((days) => days * dayMs),
);

const wait = waits.map((ms) => command(`wait ${ms / 1000} s`, async (world) => void (world.clock += ms)));
const look = which.map((index) => command(`${index} looks`, (world) => world.replicas[index]!.watch.look()));
const bothLook = fc.constant(
  command("both look", (world) => Promise.all(world.replicas.map(({ watch }) => watch.look()))),
);
const restart = fc.tuple(which, fc.boolean(), fc.boolean()).map(([index, isOn, crashes]) =>
  command(`${index} ${crashes ? "crashes" : "stops"}, starts ${isOn ? "on" : "off"}`, async (world) => {
    world.restart(index, isOn, crashes);
    await world.replicas[index]!.watch.look();
  }),
);

type Keys = readonly RingKey[];
type Change = (world: World, keys: Keys, generate: GenerateKey) => Keys | Promise<Keys>;
const nth = (keys: readonly RingKey[], n: number) => keys[n % Math.max(keys.length, 1)]?.keyId ?? "";
const pendingOf = (keys: readonly RingKey[]) => keys.filter(({ state }) => state === "pending");

function changes(emergencies: boolean): fc.Arbitrary<[string, Change]> {
  const emergency = emergencies ? fc.boolean() : fc.constant(false);
  return fc
    .tuple(fc.constantFrom("activate", "retire", "revoke", "prepare"), fc.nat(5), emergency)
    .map(([verb, n, urgent]): [string, Change] => {
      const options = { emergency: urgent };
      const acts: Record<typeof verb, Change> = {
        activate: ({ now }, keys) => activateKey(keys, nth(pendingOf(keys), n), now(), options),
        retire: ({ now }, keys) => retireKey(keys, nth(pendingOf(keys), n), now()),
        revoke: ({ now }, keys) => revokeKey(keys, nth(keys, n), now(), options),
        prepare: async ({ now }, keys, make) => [...keys, pendingKey(await make(), now(), rules.prepublishMs)],
      };
      return [`${verb} ${n}${urgent ? " urgently" : ""}`, acts[verb]];
    });
}

const administer = (emergencies: boolean) =>
  fc
    .tuple(which, changes(emergencies))
    .map(([index, [name, change]]) => command(`${index}: ${name}`, (world) => world.change(index, change)));
const race = (emergencies: boolean) =>
  fc.tuple(changes(emergencies), changes(emergencies)).map(([one, two]) =>
    command(`${one[0]} beside ${two[0]} and looks`, async (world) => {
      const [first, second] = [one, two].map(([, change], index) => world.change(index, change));
      await Promise.all([first, second, ...world.replicas.map(({ watch }) => watch.look())]);
    }),
  );

/**
 * One process after the other is started anew with a new KEK, and one of them re-wraps the ring.
 */
const rewrap = (emergencies: boolean) =>
  fc.tuple(which, changes(emergencies)).map(([index, [name, change]]) =>
    command(`${index} re-wraps beside ${name}`, async (world) => {
      const lookAll = () => Promise.all(world.replicas.map(({ watch }) => watch.look()));
      await lookAll();
      world.generation += 1;
      for (const [each, { isOn }] of world.replicas.entries()) {
        world.restart(each, isOn, false);
        await lookAll();
      }
      const { rings } = world.replicas[index]!;
      const [rewrapped] = await Promise.all([rings.rewrap(), world.change(1 - index, change), lookAll()]);
      if (!rewrapped) return;
      expect(await world.opened(world.generation)).toBe("all");
      expect(await world.opened(world.generation - 1)).toBe("none");
      await lookAll();
    }),
  );

function sign(emergencies: boolean): fc.Arbitrary<Command> {
  return which.map((index) =>
    command(`${index} signs`, async (world) => {
      const { watch, isOn } = world.replicas[index]!;
      const state = await watch.signingState().catch(refusal);
      if (!state) return;
      const { key } = state;
      expect(isOn).toBe(true);
      const standing = world.keys.find(({ keyId }) => keyId === key.keyId)!;
      if (standing.state === "revoked") {
        const revokedAt = world.history.find(({ ring }) =>
          ring.keys.some(({ keyId, state }) => keyId === key.keyId && state === "revoked"),
        )!.at;
        expect(world.clock - revokedAt).toBeLessThanOrEqual(5 * secondMs);
        return;
      }
      if (emergencies) return;
      const founded = world.history.find(({ ring }) => ring.keys.length > 0)!;
      const isFirst = founded.ring.keys[0]!.keyId === key.keyId;
      if (!isFirst) expect(world.clock - standing.publishedAt.getTime()).toBeGreaterThanOrEqual(rules.prepublishMs);
      for (const ring of world.visible()) {
        const listed = listedKeys(ring).find(({ keyId }) => keyId === key.keyId);
        expect(listed?.validFrom.getTime()).toBeLessThanOrEqual(world.clock);
        expect(listed?.validUntil?.getTime() ?? Infinity).toBeGreaterThanOrEqual(world.clock);
      }
    }),
  );
}

async function holds(emergencies: boolean, numRuns: number): Promise<void> {
  const all = [wait, wait, look, bothLook, restart, administer(emergencies), race(emergencies), sign(emergencies)];
  const schedules = fc.commands([...all, rewrap(emergencies), sign(emergencies)], { maxCommands: 40, size: "max" });
  await fc.assert(
    fc.asyncProperty(schedules, (commands) => fc.asyncModelRun(() => ({ model: {}, real: new World() }), commands)),
    { numRuns },
  );
}

test("without emergencies, trust lists up to an hour old accept every key that signs and is not revoked", async () => {
  await holds(false, 300);
}, 120_000);

test("each step of a random schedule with emergencies loses no key and leaves a valid ring with a standby", async () => {
  await holds(true, 150);
}, 120_000);

test("signing pauses only when it is off in every process", async () => {
  const world = new World();
  const lookBoth = () => Promise.all(world.replicas.map(({ watch }) => watch.look()));
  await lookBoth();
  world.restart(0, false, false);
  await lookBoth();
  expect(signingKey({ keys: world.keys })).toBeDefined();
  expect(await world.replicas[1]!.watch.signingState()).toBeDefined();
  world.restart(1, false, true);
  await lookBoth();
  expect(signingKey({ keys: world.keys })).toBeDefined();
  world.clock += 10 * secondMs;
  await lookBoth();
  expect(signingKey({ keys: world.keys })).toBeUndefined();
  world.restart(0, true, false);
  await lookBoth();
  expect(signingKey({ keys: world.keys })).toBeDefined();
});
