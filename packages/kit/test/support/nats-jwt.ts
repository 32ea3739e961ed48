import { nkeys } from "nats";

type KeyPair = ReturnType<typeof nkeys.createUser>;

/** A broker that accepts every user whose JWT its account has signed. */
interface JwtBroker {
  readonly config: string;
  /** The text of a creds file, as `nsc` writes it, for a new user. */
  makeCreds(): string;
}

export function makeJwtBroker(): JwtBroker {
  const [operator, account] = [nkeys.createOperator(), nkeys.createAccount()];
  const unlimited = { subs: -1, data: -1, payload: -1 };
  const operatorJwt = sign(operator, operator, { type: "operator" });
  const limits = { ...unlimited, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
  const accountJwt = sign(operator, account, { type: "account", limits, default_permissions: { pub: {}, sub: {} } });
  const preload = `resolver_preload: { ${account.getPublicKey()}: "${accountJwt}" }`;
  return {
    config: [`operator: "${operatorJwt}"`, "resolver: MEMORY", preload].join("\n"),
    makeCreds() {
      const user = nkeys.createUser();
      const jwt = sign(account, user, { type: "user", pub: {}, sub: {}, ...unlimited });
      const seed = Buffer.from(user.getSeed()).toString();
      return `${pem("NATS USER JWT", jwt)}\n${pem("USER NKEY SEED", seed)}`;
    },
  };
}

function pem(label: string, text: string): string {
  return `-----BEGIN ${label}-----\n${text}\n------END ${label}------\n`;
}

function sign(issuer: KeyPair, subject: KeyPair, nats: object): string {
  const header = { typ: "JWT", alg: "ed25519-nkey" };
  const iat = Math.floor(Date.now() / 1000);
  const claims = { jti: "TEST", iat, iss: issuer.getPublicKey(), name: "test", sub: subject.getPublicKey() };
  const parts = [header, { ...claims, nats: { ...nats, version: 2 } }].map((part) =>
    Buffer.from(JSON.stringify(part)).toString("base64url"),
  );
  const signature = issuer.sign(Buffer.from(parts.join(".")));
  return [...parts, Buffer.from(signature).toString("base64url")].join(".");
}
