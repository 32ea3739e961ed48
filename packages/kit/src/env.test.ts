import { describe, expect, it } from "vitest";
import { EnvReader } from "./env.ts";

describe("EnvReader", () => {
  it("reads the variables that are set", () => {
    const env = new EnvReader({ PORT: "8081", DOCS: "on", NAME: "ida" });
    expect(env.int("PORT", { min: 0, max: 65_535 })).toBe(8081);
    expect(env.onOff("DOCS", "off")).toBe(true);
    expect(env.string("NAME", { fallback: "x" })).toBe("ida");
    expect(() => env.finish()).not.toThrow();
  });

  it("takes the fallback of an empty variable", () => {
    const env = new EnvReader({ EMPTY: "" });
    expect(env.string("EMPTY", { fallback: "x" })).toBe("x");
    expect(() => env.finish()).not.toThrow();
  });

  it("reports all faults in one error", () => {
    const env = new EnvReader({ PORT: "99999999", LEVEL: "loud" });
    env.int("PORT", { min: 0, max: 65_535 });
    env.string("MONGODB_URL");
    env.oneOf("LEVEL", ["info", "warn"], "info");
    expect(() => env.finish()).toThrow(
      'PORT must be an integer from 0 to 65535, not "99999999"\nMONGODB_URL is required\nLEVEL must be one of info, warn, not "loud"',
    );
  });

  it.each(["1e3", "0x10", " 5", "5.0", "Infinity", "--5"])("does not take %j for an integer", (text) => {
    const env = new EnvReader({ N: text });
    env.int("N", { min: 0, max: 1_000_000 });
    expect(() => env.finish()).toThrow("N must be an integer");
  });
});
