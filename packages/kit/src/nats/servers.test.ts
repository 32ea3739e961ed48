import { expect, test } from "vitest";
import { parseServers } from "./servers.ts";

test.for([
  ["nats://broker", { servers: ["broker"], isTls: false }],
  ["broker:4222", { servers: ["broker:4222"], isTls: false }],
  ["tls://a:1, tls://[::1]:2", { servers: ["a:1", "[::1]:2"], isTls: true }],
  ["nats://ida:p%2F%40w@a:1", { servers: ["a:1"], isTls: false, user: "ida", pass: "p/@w" }],
  ["nats://ida:pw@a,nats://b", { servers: ["a", "b"], isTls: false, user: "ida", pass: "pw" }],
  ["nats://a,nats://ida:pw@b,nats://ida:pw@c", { servers: ["a", "b", "c"], isTls: false, user: "ida", pass: "pw" }],
  ["tls://t0ken@a:1/", { servers: ["a:1"], isTls: true, token: "t0ken" }],
] as const)("%s is parsed into servers, TLS and the credentials that it has", ([text, expected]) => {
  expect(parseServers(text)).toEqual(expected);
});

test.for([
  ["", "must be one or more URLs"],
  ["nats://", "must be one or more URLs"],
  ["http://ida:hunter2@a", "must be one or more URLs"],
  ["nats://a,", "must be one or more URLs"],
  ["nats://ida:hun/ter2@a", "must be one or more URLs"],
  ["nats://ida:4/hunter2@a", "nothing may follow the port"],
  ["nats://a?tls=hunter2", "nothing may follow the port"],
  ["nats://:hunter2@a", "a password without a user"],
  ["nats://ida:%hunter2@a", "must be percent-encoded"],
  ["nats://ida:hunter2@a,nats://eve:hunter2@b", "different users or passwords"],
  ["nats://ida:hunter2@a,nats://ida:hunter22@b", "different users or passwords"],
  ["tls://a,nats://b", "either all URLs begin with tls://"],
] as const)("%j is refused, with a message that contains no password", ([text, fault]) => {
  expect(() => parseServers(text)).toThrow(new RegExp(`^(?!.*(?:hunter2|hun/ter2))NATS_URL.*${fault}`, "s"));
});
