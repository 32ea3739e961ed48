import type { Endpoint } from "../../../src/domain/endpoint.ts";
import type { EndpointDirectory } from "../../../src/lanes/endpoint-directory.ts";
import type { EndpointStore } from "../../../src/store/endpoint-store.ts";

/** Like a process's directory, but reads are not shared, so no work waits for another's read. */
export function openDirectory(endpoints: EndpointStore): EndpointDirectory {
  let known: { readAt: number; endpoint?: Endpoint } = { readAt: 0 };
  const read = async (find: () => Promise<Endpoint[]>) => {
    const readAt = Date.now();
    const found = await find();
    const [endpoint] = found;
    if (endpoint && readAt > known.readAt) known = { readAt, endpoint };
    return found;
  };
  return {
    async find(endpointId) {
      if (known.endpoint && Date.now() - known.readAt < 500) return known.endpoint;
      const [found] = await read(() => endpoints.findMany([endpointId]));
      return found;
    },
    async findNow(endpointId) {
      const [found] = await read(() => endpoints.findMany([endpointId]));
      return found;
    },
    listOf: (tenantIds) => read(() => endpoints.listOf(tenantIds)),
    forget: () => void (known = { readAt: Date.now() }),
  };
}
