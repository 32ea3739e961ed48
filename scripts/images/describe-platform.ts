import type { DevJson } from "@vidimus/devstack/stack/dev-json";
import { seedTenants } from "@vidimus/devstack/stack/seed";
import type { ContainerSpec } from "./manifest.ts";
import type { Platform } from "./platform.ts";
import { type Service, services } from "./stage-context.ts";

/** Creates a dev stack's tenants on the platform, and describes the platform as dev.json does. */
export async function describePlatform(
  platform: Platform,
  specOf: (service: Service) => ContainerSpec,
): Promise<DevJson> {
  const address = Object.fromEntries(
    await Promise.all(services.map(async (service) => [service, await platform.addressOf(service)] as const)),
  );
  const door = (service: Service, name: string) => `${address[service]}:${specOf(service).ports[name] ?? 7053}`;
  const doors = (name: string) => ({
    access: door("gateway", name),
    documents: door("documents", name),
    phrases: door("phrases", name),
    signing: door("signing", name),
    delivery: door("delivery", name),
  });
  const gateway = `http://${door("gateway", "public")}`;
  const grpc = doors("teams");
  const tls = platform.identities.operator;
  const tenants = await seedTenants({ gateway, grpc, tls }, []);
  const ops = Object.fromEntries(
    services.map((service) => [service, `http://${door(service, "ops")}`]),
  ) as DevJson["ops"];
  return { gateway, grpc, mesh: doors("mesh"), ops, mongodb: "", nats: "", tls, tenants, pids: {} };
}
