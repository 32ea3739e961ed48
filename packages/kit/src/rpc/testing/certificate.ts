import { execFileSync } from "node:child_process";

/** Makes a self-signed certificate for localhost and its key, both PEM, valid for two days. */
export function makeCertificate(): { cert: string; key: string } {
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-days", "2"];
  const ecKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "-"];
  const pem = execFileSync("openssl", ["req", "-x509", ...ecKey, ...subject], { encoding: "utf8", stdio: "pipe" });
  const part = (name: string) =>
    new RegExp(`-----BEGIN ${name}-----.*?-----END ${name}-----\n`, "s").exec(pem)?.[0] ?? "";
  return { cert: part("CERTIFICATE"), key: part("PRIVATE KEY") };
}
