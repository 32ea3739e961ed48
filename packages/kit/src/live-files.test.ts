import { chmodSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Registry } from "prom-client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { patient } from "./testing/patient.ts";
import { ConfigError } from "./env.ts";
import { openLiveGrants } from "./rpc/doors/teams/live-grants.ts";
import { logLines } from "./rpc/testing/log-lines.ts";
import { createAuthority } from "@vidimus/devstack/certificates/certificate-authority";
import { openLiveCertificate } from "./tls/live-certificate.ts";

let dir: string;
let registry: Registry;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "live-files-"));
  registry = new Registry();
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const authority = createAuthority();
const failures = async () => (await registry.getSingleMetric("vidimus_reload_failures_total")?.get())?.values[0]?.value;

describe("grants", () => {
  const identity = "spiffe://a/team";
  const fileWith = (...tenants: string[]) =>
    JSON.stringify({ grants: [{ identity, tenants, services: [], roles: [] }] });
  const open = (file: string, everyMs = 20) => {
    const { log, lines } = logLines("info");
    return { live: openLiveGrants({ file, log, registry, everyMs }), lines };
  };

  const tenantsOf = ({ value }: ReturnType<typeof openLiveGrants>) => [...(value.get(identity)?.tenants ?? [])];
  const faulty = fileWith("Demo").replace("grants", "grant");
  const errorsIn = (lines: ReturnType<typeof logLines>["lines"]) => lines.filter(({ level }) => level === "error");

  it("stay as they were while their file is faulty or away", async () => {
    const file = join(dir, "grants.json");
    writeFileSync(file, fileWith("demo"));
    using live = open(file).live;
    writeFileSync(file, fileWith("demo", "rival"));
    await vi.waitFor(() => expect(tenantsOf(live)).toEqual(["demo", "rival"]), patient);
    writeFileSync(file, faulty);
    await vi.waitFor(async () => expect(await failures()).toBe(1), patient);
    expect(tenantsOf(live)).toEqual(["demo", "rival"]);
    rmSync(file);
    await vi.waitFor(async () => expect(await failures()).toBe(2), patient);
    expect(tenantsOf(live)).toEqual(["demo", "rival"]);
    writeFileSync(file, fileWith("acme"));
    await vi.waitFor(() => expect(tenantsOf(live)).toEqual(["acme"]), patient);
  });

  it("have a fault of their file logged and counted once while it lasts, and a new fault once more", async () => {
    const file = join(dir, "grants.json");
    writeFileSync(file, fileWith("demo"));
    const { live, lines } = open(file);
    using _closing = live;
    writeFileSync(file, faulty);
    await vi.waitFor(() => expect(errorsIn(lines)).toEqual([expect.objectContaining({ files: "grants" })]), patient);
    const looked = vi.spyOn(live, "reload");
    await vi.waitFor(() => expect(looked.mock.calls.length).toBeGreaterThan(3), patient);
    expect(await failures()).toBe(1);
    expect(errorsIn(lines)).toHaveLength(1);
    rmSync(file);
    await vi.waitFor(async () => expect(await failures()).toBe(2), patient);
    expect(errorsIn(lines)).toHaveLength(2);
  });

  it.each(["0664", "0646", "0666", "0777"])(
    "that others than the owner may change, by mode %s, are refused",
    (mode) => {
      const file = join(dir, "grants.json");
      writeFileSync(file, fileWith("demo"));
      chmodSync(file, mode);
      expect(() => open(file)).toThrow(`has mode ${mode}, which lets others change it`);
    },
  );

  it.each(["0644", "0600", "0444", "0640"])("that nobody but the owner may change, by mode %s, are read", (mode) => {
    const file = join(dir, "grants.json");
    writeFileSync(file, fileWith("demo"));
    chmodSync(file, mode);
    using opened = open(file).live;
    expect(opened.value.has(identity)).toBe(true);
  });

  it("are read anew when a rename replaces the symbolic link to their file", async () => {
    const target = (name: string) => symlinkSync(join(dir, name), join(dir, "link.new"));
    writeFileSync(join(dir, "1"), fileWith("demo"));
    writeFileSync(join(dir, "2"), fileWith("rival"));
    target("1");
    renameSync(join(dir, "link.new"), join(dir, "link"));
    const { live } = open(join(dir, "link"));
    using _closing = live;
    target("2");
    renameSync(join(dir, "link.new"), join(dir, "link"));
    await vi.waitFor(() => expect(tenantsOf(live)).toEqual(["rival"]), patient);
  });

  it("whose file has two faults stop the start with an error that names both faults", () => {
    const file = join(dir, "grants.json");
    writeFileSync(file, JSON.stringify({ grants: [1, 2] }));
    const both = `GRANTS_FILE: ${file}: /grants/0: must be an object\nGRANTS_FILE: ${file}: /grants/1: must be an object`;
    expect(() => open(file)).toThrow(new ConfigError(both));
  });

  it("whose file is missing stop the start", () => {
    expect(() => open(join(dir, "none"))).toThrow("none cannot be read (ENOENT)");
  });
});

describe("a certificate", () => {
  const write = (pair: { cert: string; key: string }) => {
    writeFileSync(join(dir, "cert"), pair.cert);
    writeFileSync(join(dir, "key"), pair.key, { mode: 0o600 });
    writeFileSync(join(dir, "ca"), authority.pair.cert);
  };
  const issue = (...uris: string[]) => authority.issue({ uris });
  const open = () => {
    const files = { certFile: join(dir, "cert"), keyFile: join(dir, "key"), caFile: join(dir, "ca") };
    const { log, lines } = logLines("info");
    return { live: openLiveCertificate({ files, service: "documents", log, registry, everyMs: 20 }), lines };
  };

  it("must name its service under the identity path of the deployment", () => {
    const files = { certFile: join(dir, "cert"), keyFile: join(dir, "key"), caFile: join(dir, "ca") };
    const identityPath = "/ns/vidimus/sa/{service}";
    const { log } = logLines("info");
    const openAs = (uri: string) => {
      write(issue(uri));
      return openLiveCertificate({
        files: { ...files, identityPath },
        service: "documents",
        log,
        registry: new Registry(),
      });
    };
    using live = openAs("spiffe://a/ns/vidimus/sa/documents");
    expect(live.value.identityPath).toBe(identityPath);
    for (const other of [
      "spiffe://a/documents",
      "spiffe://a/ns/other/sa/documents",
      "spiffe://a/ns/vidimus/sa/gateway",
    ]) {
      expect(() => openAs(other)).toThrow(`names ${other}, this service is spiffe://a/ns/vidimus/sa/documents`);
    }
  });

  it("is replaced only by a certificate that belongs to the key in the key file", async () => {
    const first = issue("spiffe://a/documents");
    write(first);
    const { live } = open();
    using _closing = live;
    const second = issue("spiffe://a/documents");
    writeFileSync(join(dir, "cert"), second.cert);
    await vi.waitFor(async () => expect(await failures()).toBe(1), patient);
    expect(live.value.cert.toString()).toBe(first.cert);
    writeFileSync(join(dir, "key"), second.key);
    await vi.waitFor(() => expect(live.value.cert.toString()).toBe(second.cert), patient);
  });

  it("is not replaced by a certificate of another identity", async () => {
    const first = issue("spiffe://a/documents");
    write(first);
    const { live } = open();
    using _closing = live;
    write(issue("spiffe://other/documents"));
    await vi.waitFor(async () => expect(await failures()).toBe(1), patient);
    expect(live.value.cert.toString()).toBe(first.cert);
  });

  it("has a metric with the end of its validity, which changes when the certificate is replaced", async () => {
    const uris = ["spiffe://a/documents"];
    const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000);
    write(authority.issue({ uris, to: inHours(1) }));
    const { live } = open();
    using _closing = live;
    const shown = async () =>
      (await registry.getSingleMetric("vidimus_certificate_expiry_seconds")?.get())?.values[0]?.value;
    const first = live.value.validToMs / 1_000;
    expect(await shown()).toBe(first);
    const second = authority.issue({ uris, to: inHours(2) });
    write(second);
    await vi.waitFor(() => expect(live.value.cert.toString()).toBe(second.cert), patient);
    expect(await shown()).toBe(live.value.validToMs / 1_000);
    expect(await shown()).toBeGreaterThan(first);
  });

  it.each([
    [
      "names another service",
      () => issue("spiffe://a/gateway"),
      "names spiffe://a/gateway, this service is spiffe://a/",
    ],
    ["has two names", () => issue("spiffe://a/documents", "spiffe://a/gateway"), "2 URI names"],
    ["has no name", () => issue(), "no URI name"],
    ["has expired", () => authority.issue({ uris: ["spiffe://a/documents"], to: new Date(0) }), "has expired"],
    [
      "is not valid yet",
      () => authority.issue({ uris: ["spiffe://a/documents"], from: new Date(Date.now() + 1e6) }),
      "not valid before",
    ],
    [
      "has the key of another certificate",
      () => ({ ...issue("spiffe://a/documents"), key: issue("spiffe://a/documents").key }),
      "TLS_KEY_FILE: is not the key of TLS_CERT_FILE",
    ],
    ["is no PEM", () => ({ cert: "x", key: "x" }), "holds no PEM certificate\nTLS_KEY_FILE: holds no PEM private key"],
  ])("that %s stops the start", (_name, pair, fault) => {
    write(pair());
    expect(open).toThrow(ConfigError);
    expect(open).toThrow(fault);
  });

  it("whose key others may read stops the start", () => {
    const pair = issue("spiffe://a/documents");
    write(pair);
    rmSync(join(dir, "key"));
    writeFileSync(join(dir, "key"), pair.key, { mode: 0o644 });
    expect(open).toThrow("key has mode 0644, which lets others at the secret; make it 0400, 0440 or 0600");
  });
});
