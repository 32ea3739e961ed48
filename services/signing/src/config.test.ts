import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, expect, test } from "vitest";
import { readConfig } from "./config.ts";

const folder = mkdtempSync(join(tmpdir(), "vidimus-kek-"));
afterAll(() => rmSync(folder, { recursive: true }));
const key = randomBytes(32);
let files = 0;

function kekFile(content: string | Buffer, mode = 0o600): string {
  files += 1;
  const path = join(folder, `kek-${files}`);
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

const attestationFile = kekFile(randomBytes(32));

function configWith(variables: Record<string, string>) {
  const attestation = { ATTESTATION_KEY_FILE: attestationFile };
  return readConfig({ MONGODB_URL: "mongodb://127.0.0.1/", ...attestation, ...variables });
}

function kekOf(path: string): Buffer | undefined {
  return configWith({ SIGNING_KEK_FILE: path }).kek?.export();
}

test.each([
  ["raw bytes", key],
  ["hex", key.toString("hex")],
  ["hex in capitals with a line end", `${key.toString("hex").toUpperCase()}\n`],
  ["base64", key.toString("base64")],
  ["base64 with a line end", `${key.toString("base64")}\r\n`],
  ["base64 without padding", key.toString("base64").replace("=", "")],
])("a KEK file of 32 bytes as %s is read", (_, content) => {
  expect(kekOf(kekFile(content))).toEqual(key);
});

test.each([
  ["nothing", ""],
  ["31 bytes", key.subarray(1)],
  ["33 bytes", Buffer.concat([key, key.subarray(0, 1)])],
  ["32 characters that are 16 bytes in hex", key.toString("hex").slice(32)],
  ["a passphrase of 32 characters", "correct horse battery staple 123"],
  ["64 characters that are not hex", "g".repeat(64)],
])("a KEK file with %s is refused, and the message shows nothing of its content", (_, content) => {
  const path = kekFile(content);
  expect(() => kekOf(path)).toThrow(`SIGNING_KEK_FILE: ${path} must hold 32 random bytes: raw, in hex, or in base64`);
  // The message ends there, so it shows nothing of the file.
  expect(() => kekOf(path)).toThrow(/^SIGNING_KEK_FILE: \S+ must hold 32 random bytes: raw, in hex, or in base64$/);
});

test.each(["0400", "0440", "0600", "0640"])("a KEK file of mode %s is accepted", (mode) => {
  expect(kekOf(kekFile(key, Number.parseInt(mode, 8)))).toEqual(key);
});

test.each(["0644", "0604", "0620", "0660", "0777"])(
  "a KEK file of mode %s is refused: others could read or replace the key",
  (mode) => {
    expect(() => kekOf(kekFile(key, Number.parseInt(mode, 8)))).toThrow(`has mode ${mode}`);
  },
);

test("the mode that counts is that of the file behind a link, as Kubernetes mounts it", () => {
  const linkTo = (mode: number) => {
    const link = join(folder, `link-${mode}`);
    symlinkSync(kekFile(key, mode), link);
    return link;
  };
  expect(kekOf(linkTo(0o440))).toEqual(key);
  expect(() => kekOf(linkTo(0o644))).toThrow("has mode 0644");
});

test.each([
  ["a missing file", join(folder, "absent"), "absent cannot be read (ENOENT)"],
  ["a folder", folder, "is not a file"],
  ["a file of 10,000 bytes", kekFile(Buffer.alloc(10_000)), "is too long"],
])("%s is refused as a KEK file, and the message says why", (_, path, fault) => {
  expect(() => kekOf(path)).toThrow(fault);
});

test("signing is on unless SIGNING is off", () => {
  expect(configWith({ SIGNING_KEK_FILE: kekFile(key) }).isOn).toBe(true);
  expect(configWith({ SIGNING: "off", SIGNING_KEK_FILE: kekFile(key) }).isOn).toBe(false);
  expect(() => configWith({ SIGNING: "yes" })).toThrow("SIGNING must be one of on, off");
});

test("every missing or malformed setting is named in one error", () => {
  expect(() => readConfig({ MESH_PORT: "x" })).toThrow(
    /MONGODB_URL is required[^]*MESH_PORT[^]*SIGNING_KEK_FILE is req[^]*ATTESTATION_KEY_FILE is req/,
  );
});

test("a KEK is needed also while signing is off, because the trust list is signed then, too", () => {
  expect(() => configWith({ SIGNING: "off" })).toThrow("SIGNING_KEK_FILE is required");
  expect(configWith({ SIGNING: "off", SIGNING_KEK_FILE: kekFile(key) }).kek.export()).toEqual(key);
  expect(() => configWith({ SIGNING: "off", SIGNING_KEK_FILE: join(folder, "absent") })).toThrow(
    "cannot be read (ENOENT)",
  );
});

const newKey = randomBytes(32);

test("the old KEK is read beside the new one", () => {
  const config = configWith({ SIGNING_KEK_FILE: kekFile(newKey), SIGNING_OLD_KEK_FILE: kekFile(key) });
  expect([config.kek, config.oldKek].map((each) => each?.export())).toEqual([newKey, key]);
});

test("the old attestation key is read beside the new one", () => {
  const attestation = { ATTESTATION_KEY_FILE: kekFile(newKey), ATTESTATION_OLD_KEY_FILE: kekFile(key) };
  const config = configWith({ SIGNING_KEK_FILE: kekFile(key), ...attestation });
  expect(config.attestationKeys.map((each) => each.export())).toEqual([newKey, key]);
});

test("an old KEK that is the new one is refused", () => {
  const one = kekFile(key);
  expect(() => configWith({ SIGNING_KEK_FILE: one, SIGNING_OLD_KEK_FILE: kekFile(key) })).toThrow("the same KEK");
});

test("an old KEK whose file is missing is refused", () => {
  const one = kekFile(key);
  expect(() => configWith({ SIGNING_KEK_FILE: one, SIGNING_OLD_KEK_FILE: join(folder, "absent") })).toThrow(
    "SIGNING_OLD_KEK_FILE",
  );
});

const dayMs = 86_400_000;
const ring = (variables: Record<string, string>) =>
  configWith({ SIGNING: "off", SIGNING_KEK_FILE: kekFile(key), ...variables }).ring;

test("keys are replaced after 90 days unless ROTATION_DAYS is another number, or 0 for never", () => {
  expect(ring({}).rotateAfterMs).toBe(90 * dayMs);
  expect(ring({ ROTATION_DAYS: "7" }).rotateAfterMs).toBe(7 * dayMs);
  expect(ring({ ROTATION_DAYS: "0" }).rotateAfterMs).toBe(undefined);
});

test("keys are published a day before they sign unless PREPUBLISH_HOURS is another number, at least 3", () => {
  expect(ring({}).prepublishMs).toBe(dayMs);
  expect(ring({ PREPUBLISH_HOURS: "3" }).prepublishMs).toBe(dayMs / 8);
  expect(() => ring({ PREPUBLISH_HOURS: "2" })).toThrow("PREPUBLISH_HOURS must be an integer from 3 to 720");
});

test("a printed configuration shows nothing of the KEK", () => {
  const config = configWith({ SIGNING_KEK_FILE: kekFile(key), ATTESTATION_KEY_FILE: kekFile(key) });
  const shown = `${inspect(config, { depth: 9, showHidden: true })}${JSON.stringify(config)}`;
  expect(shown).toContain("vidimus_signing");
  for (const encoding of ["hex", "base64", "latin1"] as const) expect(shown).not.toContain(key.toString(encoding));
  const singleSpaced = shown.replaceAll(/[\s,]+/g, " ");
  const bytes = key.subarray(0, 4);
  for (const form of [bytes.join(" "), inspect(bytes).slice("<Buffer ".length, -1)])
    expect(singleSpaced).not.toContain(form);
});
