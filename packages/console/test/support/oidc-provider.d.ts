/** What the tests use of `oidc-provider`, which ships no types. */
declare module "oidc-provider" {
  import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";

  interface Grant {
    addOIDCScope(scope: string): void;
    save(): Promise<string>;
  }

  interface Context {
    req: IncomingMessage;
    res: ServerResponse;
    path: string;
    respond?: boolean;
    oidc: {
      provider: Provider;
      client: { clientId: string };
      session: { accountId: string };
    };
  }

  export class Provider {
    Grant: new (of: { clientId: string; accountId: string }) => Grant;
    constructor(issuer: string, configuration: Readonly<Record<string, unknown>>);
    use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void;
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: { login: { accountId: string } },
    ): Promise<void>;
    callback(): RequestListener;
  }
}
