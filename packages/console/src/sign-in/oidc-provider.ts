import { DomainError } from "@vidimus/kit/errors";
import * as client from "openid-client";
import { sessionMsMax } from "../domain/session.ts";
import { recentSeconds } from "../domain/recent-sign-in.ts";
import type { OidcConfig } from "./oidc-config.ts";
import type { Identity } from "@vidimus/kit/rpc/context/person";

/**
 * A sign-in that has begun: what the console checks the issuer's answer against. The browser keeps
 * the attempt in a cookie until the browser returns from the issuer.
 */
export interface SignInAttempt {
  readonly state: string;
  readonly nonce: string;
  /** PKCE's code verifier. */
  readonly verifier: string;
  /** Greatest accepted age of the proof of identity, in seconds. */
  readonly maxAge: number;
  /** Path to open after the sign-in. */
  readonly returnTo: string;
}

/** What the issuer states of a person who has signed in. */
export interface Vouched {
  readonly identity: Identity;
  readonly name: string;
  readonly address: string;
  readonly authTime: Date;
  readonly idToken: string;
  /** All claims of the ID token and the user information. */
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Accepted difference between the clocks of the issuer and this machine. */
const clockToleranceSeconds = 10;
const answerSeconds = 5;
/** Longest name and address of a member, in characters. */
const nameMax = 200;
const addressMax = 320;
/** How long an issuer's metadata is used. The library reads the issuer's keys more often. */
const discoveredMs = 3_600_000;

/** Sign-in with OpenID Connect: authorization code, PKCE, state and nonce. */
export class OidcProvider {
  readonly issuer: string;
  readonly #config: OidcConfig;
  readonly #redirectUri: string;
  readonly #afterSignOut: string;
  #discovered: { readonly at: number; readonly value: Promise<client.Configuration> } | undefined;

  constructor(config: OidcConfig, origin: URL) {
    this.#config = config;
    this.issuer = config.issuer.href;
    this.#redirectUri = new URL("/sign-in/callback", origin).href;
    this.#afterSignOut = new URL("/sign-in", origin).href;
  }

  /**
   * Returns where to redirect the browser. With `again` the person must have proved its identity
   * within the last 15 minutes.
   */
  async begin(returnTo: string, again: boolean): Promise<{ url: URL; attempt: SignInAttempt }> {
    const configuration = await this.#discover();
    const maxAge = again ? recentSeconds : sessionMsMax / 1_000;
    const verifier = client.randomPKCECodeVerifier();
    const attempt = { state: client.randomState(), nonce: client.randomNonce(), verifier, maxAge, returnTo };
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: this.#redirectUri,
      scope: this.#config.scope,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      state: attempt.state,
      nonce: attempt.nonce,
      // Without `max_age` issuers need not state when the person proved its identity.
      max_age: String(maxAge),
    });
    return { url, attempt };
  }

  /**
   * Completes a sign-in.
   *
   * @param url of the callback; its query is the issuer's answer
   * @throws DomainError `unauthenticated` when the answer does not prove an identity, `unavailable`
   * when the issuer fails or does not answer
   */
  async finish(url: URL, { state, nonce, verifier, maxAge }: SignInAttempt): Promise<Vouched> {
    const configuration = await this.#discover();
    const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, maxAge };
    const tokens = await client.authorizationCodeGrant(configuration, url, checks).catch(refuse);
    const claims = tokens.claims();
    if (!claims?.sub || !tokens.id_token) throw unproven();
    const authTime = proofTime(claims.auth_time);
    const userInfo = await this.#userInfo(configuration, tokens.access_token, claims.sub);
    const all: Readonly<Record<string, unknown>> = { ...userInfo, ...claims };
    const name = [all["name"], all["preferred_username"], all["email"], claims.sub].find(isText) ?? claims.sub;
    return {
      identity: { issuer: claims.iss, subject: claims.sub },
      name: name.slice(0, nameMax),
      address: isText(all["email"]) && all["email"].length <= addressMax ? all["email"] : "",
      authTime,
      idToken: tokens.id_token,
      claims: all,
    };
  }

  /**
   * URL of the page at which the browser ends its session at the issuer; undefined when the issuer
   * has no such page.
   */
  async signOutUrl(idToken: string): Promise<string | undefined> {
    const configuration = await this.#discover();
    if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
    const parameters = { id_token_hint: idToken, post_logout_redirect_uri: this.#afterSignOut };
    return client.buildEndSessionUrl(configuration, parameters).href;
  }

  /** Many issuers state names and groups only in the user information. */
  async #userInfo(configuration: client.Configuration, accessToken: string, subject: string) {
    if (configuration.serverMetadata().userinfo_endpoint === undefined) return {};
    return client.fetchUserInfo(configuration, accessToken, subject).catch(refuse);
  }

  /** A failure is not cached, so the next sign-in asks the issuer again. */
  #discover(): Promise<client.Configuration> {
    const now = performance.now();
    if (this.#discovered && now - this.#discovered.at < discoveredMs) return this.#discovered.value;
    const value = this.#readIssuer().catch((cause: unknown) => {
      this.#discovered = undefined;
      throw new DomainError("unavailable", "the sign-in service cannot be reached", { cause });
    });
    this.#discovered = { at: now, value };
    return value;
  }

  async #readIssuer(): Promise<client.Configuration> {
    const { issuer, clientId, clientSecret } = this.#config;
    const isPlain = issuer.protocol === "http:";
    const metadata = { [client.clockTolerance]: clockToleranceSeconds };
    const authentication = clientSecret === undefined ? client.None() : client.ClientSecretBasic(clientSecret);
    return client.discovery(issuer, clientId, metadata, authentication, {
      timeout: answerSeconds,
      // The signature of ID tokens is checked with the issuer's keys, not left to TLS alone.
      execute: [client.enableNonRepudiationChecks, ...(isPlain ? [client.allowInsecureRequests] : [])],
    });
  }
}

function unproven(cause?: unknown): DomainError {
  const message = "the sign-in service did not prove who you are";
  return new DomainError("unauthenticated", message, { cause });
}

/**
 * The time at which the person proved its identity. A time up to 10 s in the future counts as now,
 * because otherwise the sign-in would stay recent for too long. Throws without a time, and for one
 * further in the future.
 */
function proofTime(authTimeSeconds: number | undefined): Date {
  const now = Date.now();
  const then = (authTimeSeconds ?? Number.NaN) * 1_000;
  if (!(then <= now + clockToleranceSeconds * 1_000)) throw unproven();
  return new Date(Math.min(then, now));
}

function refuse(error: unknown): never {
  if (hasFailed(error)) throw new DomainError("unavailable", "the sign-in service cannot be reached", { cause: error });
  throw unproven(error);
}

/**
 * The library throws a TypeError for a lost connection, and for a status of 500 or more a
 * ClientError with the response as cause.
 */
function hasFailed(error: unknown): boolean {
  if (error instanceof TypeError) return true;
  if (!(error instanceof client.ClientError)) return false;
  return error.code === "OAUTH_TIMEOUT" || (error.cause instanceof Response && error.cause.status >= 500);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
