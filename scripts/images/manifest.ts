import { readFile } from "node:fs/promises";
import type { Service } from "./stage-context.ts";

/** The container of a service as deploy/k8s describes it. */
export interface ContainerSpec {
  /** Variables with a value; those from Secrets are missing. */
  readonly env: Readonly<Record<string, string>>;
  /** For example `512Mi`. */
  readonly memoryLimit: string;
  readonly memoryRequest: string;
  /** From the name of a volume to its path in the container. */
  readonly mounts: Readonly<Record<string, string>>;
  readonly ports: Readonly<Record<string, number>>;
  /** User and group, for example `65532:65532`. */
  readonly user: string;
}

interface Container {
  readonly name: string;
  readonly env?: readonly { name: string; value?: string }[];
  readonly envFrom?: readonly { configMapRef: { name: string } }[];
  readonly resources: Readonly<Record<"limits" | "requests", { memory: string }>>;
  readonly volumeMounts: readonly { name: string; mountPath: string }[];
  readonly ports: readonly { name: string; containerPort: number }[];
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly Container[];
        readonly securityContext: { runAsUser: number; runAsGroup: number };
      };
    };
  };
}

/**
 * Reads the manifests that `deploy/check` rendered, so that images run here with the settings, user
 * and memory limits of a cluster.
 */
export async function readManifests(file: string): Promise<(service: Service) => ContainerSpec> {
  const manifests = JSON.parse(await readFile(file, "utf8")) as Manifest[];
  const find = (kind: string, name: string): Manifest => {
    const found = manifests.find((each) => each.kind === kind && each.metadata.name === name);
    if (!found) throw new Error(`${file} has no ${kind}/${name}`);
    return found;
  };
  return (service) => {
    const pod = find("Deployment", service).spec?.template.spec;
    const [container] = pod?.containers ?? [];
    if (!pod || !container) throw new Error(`Deployment/${service} has no container`);
    const settings =
      container.envFrom?.map(({ configMapRef }) => find("ConfigMap", configMapRef.name).data ?? {}) ?? [];
    const values =
      container.env?.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const])) ?? [];
    return {
      env: { ...Object.assign({}, ...settings), ...Object.fromEntries(values) },
      memoryLimit: container.resources.limits.memory,
      memoryRequest: container.resources.requests.memory,
      mounts: Object.fromEntries(container.volumeMounts.map(({ name, mountPath }) => [name, mountPath])),
      ports: Object.fromEntries(container.ports.map(({ name, containerPort }) => [name, containerPort])),
      user: `${pod.securityContext.runAsUser}:${pod.securityContext.runAsGroup}`,
    };
  };
}
