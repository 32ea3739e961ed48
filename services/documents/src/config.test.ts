import { expect, test } from "vitest";
import { readConfig } from "./config.ts";

const needed = { MONGODB_URL: "mongodb://127.0.0.1:27017", NATS_URL: "nats://127.0.0.1:4222" };

test("with MONGODB_URL and NATS_URL alone, ports, database and migrations have defaults", () => {
  expect(readConfig(needed)).toMatchObject({
    grpcPort: 7051,
    meshPort: 7151,
    opsPort: 9091,
    database: "vidimus_documents",
    broker: { url: needed.NATS_URL },
    migrate: "on",
  });
});

test("one error names every variable that is missing or wrong", () => {
  expect(() => readConfig({ MIGRATE: "maybe", GRPC_PORT: "99999" })).toThrow(
    /MONGODB_URL.*\n.*MIGRATE.*\n.*GRPC_PORT.*\n.*NATS_URL/s,
  );
});

test("at least two threads check documents, by default and when CHECK_THREADS sets their number", () => {
  expect(readConfig(needed).checkThreads).toBeGreaterThanOrEqual(2);
  expect(readConfig({ ...needed, CHECK_THREADS: "6" }).checkThreads).toBe(6);
  expect(() => readConfig({ ...needed, CHECK_THREADS: "1" })).toThrow("CHECK_THREADS");
});
