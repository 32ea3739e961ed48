import { X509Certificate } from "node:crypto";
import { expect, it } from "vitest";
import { identityOf, isIdentity, isIdentityPath, serviceIdentity, trustDomainOf } from "./peer-identity.ts";
import { createAuthority } from "@vidimus/devstack/certificates/certificate-authority";

const authority = createAuthority();
const named = (...uris: string[]) =>
  new X509Certificate(authority.issue({ uris, hosts: ["localhost", "127.0.0.1"] }).cert);

it("the devstack's authority signs a certificate that is valid now and has the given names", () => {
  const ca = new X509Certificate(authority.pair.cert);
  const { cert, key } = authority.issue({ uris: ["spiffe://a.b/documents"], hosts: ["localhost", "127.0.0.1", "::1"] });
  const certificate = new X509Certificate(cert);
  expect(certificate.verify(ca.publicKey)).toBe(true);
  expect(certificate.checkIssued(ca)).toBe(true);
  expect([ca.ca, certificate.ca]).toEqual([true, false]);
  expect(certificate.subjectAltName).toBe(
    "URI:spiffe://a.b/documents, DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1",
  );
  expect(certificate.validFromDate < new Date() && certificate.validToDate > new Date()).toBe(true);
  expect(key).toContain("PRIVATE KEY");
});

it("the one URI name of a certificate is its identity", () => {
  expect(identityOf(named("spiffe://vidimus.example/documents"))).toEqual({
    identity: "spiffe://vidimus.example/documents",
  });
});

it.each([
  ["no URI name", "no URI name", []],
  ["two identities", "2 URI names", ["spiffe://a/documents", "spiffe://a/gateway"]],
  ["an identity and another URI name", "2 URI names", ["spiffe://a/documents", "https://example.org"]],
  ["a URL of https", "is not spiffe://", ["https://example.org/documents"]],
  ["a trust domain alone", "is not spiffe://", ["spiffe://a"]],
  // Node joins the names of a certificate by commas. Without quotes this name would read as two.
  ["a name that contains a comma", "is not spiffe://", ["spiffe://a/documents, URI:spiffe://a/gateway"]],
  ["a name that contains quotes", "is not spiffe://", ['spiffe://a/documents", URI:"spiffe://a/gateway']],
])("a certificate with %s has no identity", (_, fault, uris) => {
  expect(identityOf(named(...uris))).toEqual({ fault: expect.stringContaining(fault) });
});

it.each([
  "spiffe://A/documents",
  "spiffe://a:1/documents",
  "spiffe://u@a/documents",
  "spiffe://a/",
  "spiffe://a//documents",
  "spiffe://a/documents/",
  "spiffe://a/../documents",
  "spiffe://a/documents?x",
  "spiffe://a/docu%6Dents",
])("%s is no identity", (text) => {
  expect(isIdentity(text)).toBe(false);
});

it("an identity has at most 2,048 characters", () => {
  expect(isIdentity("spiffe://a/".padEnd(2_048, "x"))).toBe(true);
  expect(isIdentity("spiffe://a/".padEnd(2_049, "x"))).toBe(false);
});

it("the trust domain of an identity stands before its path", () => {
  expect(isIdentity("spiffe://a.b-c_d/team/news.room")).toBe(true);
  expect(trustDomainOf("spiffe://a.b-c_d/team/news.room")).toBe("a.b-c_d");
});

it("a service's identity has the path /<service>, or the given path with its name for {service}", () => {
  expect(serviceIdentity("a.b", "gateway")).toBe("spiffe://a.b/gateway");
  expect(serviceIdentity("a.b", "gateway", "/ns/vidimus/sa/{service}")).toBe("spiffe://a.b/ns/vidimus/sa/gateway");
});

it.each(["/{service}", "/ns/vidimus/sa/{service}", "/{service}/workload"])("%s is a valid identity path", (path) => {
  expect(isIdentityPath(path)).toBe(true);
});

it.each(["", "/", "{service}", "/ns/sa", "/{service}/{service}", "/x-{service}", "/{name}/{service}", "/../{service}"])(
  "%j is not a valid identity path",
  (path) => {
    expect(isIdentityPath(path)).toBe(false);
  },
);
