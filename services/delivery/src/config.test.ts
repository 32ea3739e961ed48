import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readConfig } from "./config.ts";

const dir = mkdtempSync(join(tmpdir(), "vidimus-delivery-config-"));
const kekFile = join(dir, "kek");
writeFileSync(kekFile, Buffer.alloc(32, 3), { mode: 0o600 });
afterAll(() => rmSync(dir, { recursive: true }));

const required = { MONGODB_URL: "mongodb://127.0.0.1/", DELIVERY_KEK_FILE: kekFile, ACCESS_TARGET: "off" };

describe("DELIVERY_DENY_CIDRS", () => {
  it("is empty by default", () => {
    expect(readConfig(required).denyCidrs).toEqual([]);
  });

  it("is a list of ranges", () => {
    const { denyCidrs } = readConfig({ ...required, DELIVERY_DENY_CIDRS: "10.0.0.0/8, 2001:db8::/32" });
    expect(denyCidrs).toEqual(["10.0.0.0/8", "2001:db8::/32"]);
  });

  it.each(["10.0.0.0", "10.0.0.0/33", "10.0.0.0/8;10.1.0.0/16", "intranet"])("%j is refused", (value) => {
    expect(() => readConfig({ ...required, DELIVERY_DENY_CIDRS: value })).toThrow(/DELIVERY_DENY_CIDRS must be a list/);
  });
});

describe("WEBHOOK_PROXY", () => {
  const proxyOf = (value: string) => readConfig({ ...required, WEBHOOK_PROXY: value }).egressProxy;

  it("is not set by default", () => {
    expect(readConfig(required).egressProxy).toBeUndefined();
  });

  it("is the origin of a proxy", () => {
    expect(proxyOf("http://proxy.internal:3128")).toEqual({ origin: "http://proxy.internal:3128" });
    expect(proxyOf("https://[fd00::7]:3129/")).toEqual({ origin: "https://[fd00::7]:3129" });
  });

  it("may hold a user and a password, percent-encoded", () => {
    const authorization = `Basic ${Buffer.from("web@hooks:p@ss").toString("base64")}`;
    expect(proxyOf("http://web%40hooks:p%40ss@proxy.internal:3128")).toEqual({
      origin: "http://proxy.internal:3128",
      authorization,
    });
  });

  it("may hold a password without a user", () => {
    const authorization = `Basic ${Buffer.from(":secret").toString("base64")}`;
    expect(proxyOf("http://:secret@proxy.internal:3128")).toMatchObject({ authorization });
  });

  it.each(["proxy.internal:3128", "socks5://hooks:secret@proxy:1080", "http://hooks:secret@proxy/path", "http://%@x"])(
    "%j is refused with a fault that does not quote it",
    (value) => {
      expect(() => proxyOf(value)).toThrow(/^WEBHOOK_PROXY must be http:\/\/host:port[^"]*$/);
      expect(() => proxyOf(value)).not.toThrow(value);
      expect(() => proxyOf(value)).not.toThrow(/secret/);
    },
  );
});

describe("DELIVERY_OTHER_KEK_FILE", () => {
  it("is not set by default", () => {
    expect(readConfig(required).otherKek).toBeUndefined();
  });

  it("is a file with a second KEK", () => {
    const other = join(dir, "other");
    writeFileSync(other, Buffer.alloc(32, 4), { mode: 0o600 });
    const { otherKek } = readConfig({ ...required, DELIVERY_OTHER_KEK_FILE: other });
    expect(otherKek?.export()).toEqual(Buffer.alloc(32, 4));
  });
});
