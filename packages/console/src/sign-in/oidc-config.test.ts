import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readConfig } from "../config.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "console-config-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const base = { MONGODB_URL: "mongodb://127.0.0.1/", OPS_PORT: "0" };
const issuer = { CONSOLE_OIDC_ISSUER: "https://id.example.org", CONSOLE_OIDC_CLIENT_ID: "vidimus" };

test("one-time codes are on by default only on loopback without an issuer, otherwise by CONSOLE_LINKS=on", () => {
  const away = { CONSOLE_ORIGIN: "https://console.example.org" };
  expect(readConfig(base)).toMatchObject({ links: true, oidc: undefined });
  expect(readConfig({ ...base, ...issuer })).toMatchObject({ links: false, oidc: { clientId: "vidimus" } });
  expect(readConfig({ ...base, ...issuer, CONSOLE_LINKS: "on" })).toMatchObject({ links: true });
  expect(readConfig({ ...base, ...away, CONSOLE_LINKS: "on" })).toMatchObject({ links: true });
  expect(readConfig({ ...base, ...away, ...issuer })).toMatchObject({ links: false });
  expect(() => readConfig({ ...base, ...away })).toThrow("CONSOLE_OIDC_ISSUER is required, unless CONSOLE_LINKS=on");
});

test("an issuer without TLS is accepted only on loopback", () => {
  for (const url of ["http://127.0.0.1:9000", "http://[::1]:9000", "http://localhost:9000/realms/x"]) {
    expect(readConfig({ ...base, ...issuer, CONSOLE_OIDC_ISSUER: url }).oidc?.issuer.href).toContain(url);
  }
  const plain = { ...issuer, CONSOLE_OIDC_ISSUER: "http://id.example.org" };
  expect(() => readConfig({ ...base, ...plain })).toThrow("CONSOLE_OIDC_ISSUER must be an https URL");
});

test("all faults of the settings and of the rules for groups are named together", () => {
  const rules = join(folder, "groups.json");
  writeFileSync(rules, '{"claim": "", "rules": [{"group": "desk", "tenant": "No!", "roles": [], "role": "x"}]}');
  const faulty = { ...base, ...issuer, CONSOLE_OIDC_CLIENT_ID: "", CONSOLE_OIDC_SCOPE: "profile" };
  const read = () => readConfig({ ...faulty, CONSOLE_OIDC_GROUPS: rules });
  for (const fault of [
    "CONSOLE_OIDC_CLIENT_ID is required",
    "CONSOLE_OIDC_SCOPE must be a list of scopes with openid in it",
    "CONSOLE_OIDC_GROUPS: /claim: must be the name of a claim",
    "CONSOLE_OIDC_GROUPS: /rules/0/tenant: must be a tenant id",
    "CONSOLE_OIDC_GROUPS: /rules/0/roles: must be a list of roles",
    "CONSOLE_OIDC_GROUPS: /rules/0/role: is not known",
  ]) {
    expect(read).toThrow(fault);
  }
});

test("the client's secret is read from a file", () => {
  const file = join(folder, "secret");
  writeFileSync(file, "very secret\n", { mode: 0o600 });
  const settings = { ...base, ...issuer, CONSOLE_OIDC_CLIENT_SECRET_FILE: file };
  expect(readConfig(settings).oidc?.clientSecret).toBe("very secret");
});

test("a file with the client's secret is refused when others can read it", () => {
  const open = join(folder, "open");
  writeFileSync(open, "secret", { mode: 0o644 });
  const careless = { ...base, ...issuer, CONSOLE_OIDC_CLIENT_SECRET_FILE: open };
  expect(() => readConfig(careless)).toThrow(`CONSOLE_OIDC_CLIENT_SECRET_FILE: ${open} has mode 0644`);
});
