import type { PageAnswer } from "../../http/answer.ts";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import { layout } from "../layout.ts";
import type { Html } from "../../markup/html.ts";

export interface View {
  /** Title of the browser's tab. */
  readonly title: string;
  readonly main: Html;
  /** 200 by default. */
  readonly status?: number;
}

interface TenantPage<Data> extends Pick<TenantRoute, "path" | "right" | "recentSignIn"> {
  /**
   * Calls services, all at the same time: finding the person was the first round of calls, this is
   * the second, and there must be no third.
   */
  load(call: TenantCall): Promise<Data>;
  /** Draws what was loaded, without further calls. */
  view(data: Data, call: TenantCall): View;
}

export function tenantPage<Data>({ load, view, ...route }: TenantPage<Data>): TenantRoute {
  return {
    ...route,
    access: "member",
    method: "GET",
    handle: async (call) => answerPage(call, view(await load(call), call)),
  };
}

export function answerPage(call: TenantCall, { title, main, status = 200 }: View): PageAnswer {
  return { status, page: layout({ title, person: call.person, path: call.url.pathname }, main) };
}
