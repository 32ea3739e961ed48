import { describe, expect, it } from "vitest";
import { createAddressRule } from "./address-rules.ts";
import { parseEndpointUrl } from "./endpoint-url.ts";
import { createPortRule, portsByDefault } from "./port-rules.ts";

const strict = { allowHttp: false, mayDial: createAddressRule([]), mayUsePort: createPortRule(portsByDefault) };
const loopback = createAddressRule(["127.0.0.0/8", "::1/128"]);
const dev = { allowHttp: true, mayDial: loopback, mayUsePort: createPortRule("1-65535") };

describe("an endpoint's URL", () => {
  it.each([
    ["https://hooks.example.com/in?x=1", "https://hooks.example.com/in?x=1"],
    ["https://hooks.example.com:8443", "https://hooks.example.com:8443/"],
    ["HTTPS://Hooks.Example.COM/Ab", "https://hooks.example.com/Ab"],
    ["https://my_hooks-1.example.com./in", "https://my_hooks-1.example.com./in"],
    ["https://bücher.example/in", "https://xn--bcher-kva.example/in"],
    ["https://8.8.8.8/in", "https://8.8.8.8/in"],
    ["https://[2606:4700::1111]/in", "https://[2606:4700::1111]/in"],
  ])("%s is taken", (text, normal) => {
    expect(parseEndpointUrl(text, strict)).toBe(normal);
  });

  it.each([
    ["", "absolute URL"],
    ["/hook", "absolute URL"],
    ["https://", "absolute URL"],
    ["http://hooks.example.com/", "https"],
    ["ftp://hooks.example.com/", "https"],
    ["javascript:alert(1)", "https"],
    ["https://user:pass@hooks.example.com/", "user name"],
    ["https://user@hooks.example.com/", "user name"],
    ["https://:pass@hooks.example.com/", "user name"],
    ["https://hooks.example.com/#part", "fragment"],
    ["https://hooks.example.com/#", "fragment"],
    ["https://127.0.0.1/", "127.0.0.1"],
    ["https://127.1/", "127.0.0.1"],
    ["https://2130706433/", "127.0.0.1"],
    ["https://0x7f.0.0.1/", "127.0.0.1"],
    ["https://0177.0.0.1/", "127.0.0.1"],
    ["https://127.0.0.1./", "127.0.0.1"],
    ["https://１２７.0.0.1/", "127.0.0.1"],
    ["https://[::1]/", "::1"],
    ["https://[::ffff:10.0.0.1]/", "::ffff:a00:1"],
    ["https://[::7f00:1]/", "::7f00:1"],
    ["https://169.254.169.254/latest/meta-data", "169.254.169.254"],
    ["https://localhost/", "127.0.0.1"],
    ["https://LOCALHOST./", "127.0.0.1"],
    ["https://api.localhost/", "127.0.0.1"],
    ["https://a$b.example.com/", "letters, digits"],
    ["https://a~b.example.com/", "letters, digits"],
    [`https://${"a.".repeat(127)}example/`, "253 characters"],
  ])("%j is refused with a fault that names what is wrong", (text, reason) => {
    expect(() => parseEndpointUrl(text, strict)).toThrow(reason);
  });

  it("has at most 2,048 characters", () => {
    const urlOf = (characters: number) => "https://example.com/".padEnd(characters, "x");
    expect(parseEndpointUrl(urlOf(2_048), strict)).toBe(urlOf(2_048));
    expect(() => parseEndpointUrl(urlOf(2_049), strict)).toThrow("2048 characters");
  });

  it.each([
    ["https://hooks.example.com/a\r\nb", "control characters"],
    ["https://hooks.example.com/\n", "control characters"],
    ["https://hooks.example.com/\0", "control characters"],
    ["https://hooks.exa\tmple.com/", "control characters"],
    [" https://hooks.example.com/", "spaces"],
    ["https://hooks.example.com/a b", "spaces"],
    [String.raw`https://example.com\@evil.com/`, "backslash"],
    [String.raw`https:\\hooks.example.com/`, "backslash"],
    ["https:///x", "host"],
    ["https:////hooks.example.com/", "host"],
    ["https:hooks.example.com", "host"],
    ["https:/hooks.example.com", "host"],
    ["https://example..com/", "empty label"],
    ["https://.example.com/", "empty label"],
    ["https://example.com../", "empty label"],
    ["https://134744072/", "8.8.8.8"],
    ["https://0x8.8.8.8/", "8.8.8.8"],
    ["https://010.8.8.8/", "8.8.8.8"],
    ["https://8.8.2056/", "8.8.8.8"],
    ["https://%38.8.8.8/", "8.8.8.8"],
    ["https://8.8.8.8./", "8.8.8.8"],
  ])("%j is refused, because URL parsers may read it differently", (text, reason) => {
    expect(() => parseEndpointUrl(text, strict)).toThrow(reason);
  });

  it.each([
    ["https://bücher.example", "https://xn--bcher-kva.example/"],
    ["https://hooks.example.com.", "https://hooks.example.com./"],
    ["https://hooks.example.com:443/a/../b", "https://hooks.example.com/b"],
  ])("%s is taken in its normal form, %s", (text, normal) => {
    expect(parseEndpointUrl(text, strict)).toBe(normal);
  });

  it.each([
    ["http://hooks.example.com/", "DELIVERY_ALLOW_HTTP"],
    ["https://hooks.example.com:22/", "DELIVERY_ALLOW_PORTS"],
    ["https://hooks.example.com:80/", "DELIVERY_ALLOW_PORTS"],
    ["https://10.0.0.1/", "DELIVERY_ALLOW_CIDRS"],
  ])("%s is refused with a fault that names the setting to allow it, %s", (text, setting) => {
    expect(() => parseEndpointUrl(text, strict)).toThrow(setting);
  });

  it.each(["http://127.0.0.1:8080/hook", "http://localhost:8080/hook", "http://[::1]:8080/hook"])(
    "%s is taken where http, loopback and its port are allowed",
    (text) => {
      expect(parseEndpointUrl(text, dev)).toBe(text);
    },
  );

  it("on a private address stays refused where only loopback is allowed", () => {
    expect(() => parseEndpointUrl("http://10.0.0.1/", dev)).toThrow("10.0.0.1");
  });
});
