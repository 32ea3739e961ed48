import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import { type Health, HealthCheckResponse_ServingStatus as Status } from "@vidimus/contracts/grpc/health/v1/health";
import type { Readiness } from "../../../readiness.ts";

/** The process ("") and each service have the status of `readiness`. */
export function healthService(readiness: Readiness, serviceNames: ReadonlySet<string>): ServiceImpl<typeof Health> {
  const known = (name: string) => name === "" || serviceNames.has(name);
  const status = () => (readiness.isReady() ? Status.SERVING : Status.NOT_SERVING);
  return {
    check({ service }) {
      if (!known(service)) throw new ConnectError(`unknown service "${service}"`, Code.NotFound);
      return { status: status() };
    },
    async *watch({ service }, { signal }) {
      if (!known(service)) {
        yield { status: Status.SERVICE_UNKNOWN };
        return;
      }
      let shown: Status | undefined;
      while (!signal.aborted) {
        const current = status();
        if (current !== shown) yield { status: (shown = current) };
        await readiness.changed(signal);
      }
    },
  };
}
