import { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { pickFreePort } from "@vidimus/devstack/port-guard";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { inject } from "vitest";
import { readConfig } from "../../src/config.ts";
import { startConsole } from "../../src/console.ts";
import type { Browser } from "./browser.ts";

/** A console on loopback, where one-time codes sign in. */
export interface LinkedConsole extends AsyncDisposable {
  readonly origin: string;
  readonly port: number;
  /** URL of the console's ops port, which has its metrics. */
  readonly ops: string;
  /** Name of its session cookie. */
  readonly sessionName: string;
  readonly tenantId: string;
  /**
   * Makes a code that signs in as `subject`, by default `operator`. Who is no member of the tenant
   * becomes an owner.
   */
  newCode(subject?: string): Promise<string>;
  signIn(browser: Browser, subject?: string): Promise<void>;
}

const nowhere = "127.0.0.1:1";

/**
 * Starts a console in front of an access service.
 *
 * @param accessPort of the teams door
 * @param settings further variables, such as addresses of other services, which cannot be reached
 * by default
 * @param tenantId the tenant to which the console's one-time codes sign in
 */
export async function openLinkedConsole(
  accessPort: number,
  settings: Readonly<Record<string, string>> = {},
  tenantId = "demo",
): Promise<LinkedConsole> {
  const port = await pickFreePort();
  const origin = `http://127.0.0.1:${port}`;
  const target = `127.0.0.1:${accessPort}`;
  const running = await startConsole(
    readConfig({
      MONGODB_URL: inject("mongoUrl"),
      MONGODB_DATABASE: testDatabaseName("console"),
      OPS_PORT: "0",
      CONSOLE_PORT: String(port),
      ACCESS_TARGET: target,
      DOCUMENTS_TARGET: nowhere,
      PHRASES_TARGET: nowhere,
      DELIVERY_TARGET: nowhere,
      LOG_LEVEL: "silent",
      ...settings,
    }),
  );
  const newCode = async (subject = "") => {
    using members = openRpcClient(MemberService, { target });
    const asOwner = { headers: { "vidimus-role": "owner", "vidimus-actor": "ada" } };
    return (await members.createSignInLink({ tenantId, subject }, asOwner)).code;
  };
  return {
    origin,
    port,
    ops: `http://127.0.0.1:${running.opsPort}`,
    sessionName: `vidimus_session_${port}`,
    tenantId,
    newCode,
    signIn: async (browser, subject) => {
      await browser.submit(`${origin}/sign-in/confirm`, { code: await newCode(subject) });
    },
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}
