import { join } from "node:path";
import { buildah, imagesDir, podman } from "./containers.ts";
import { type Service, services, stageContext } from "./stage-context.ts";

const root = join(import.meta.dirname, "../..");

/** Name of a service's image on this machine; the overlay "local" uses the same. */
export function imageOf(service: Service): string {
  return `localhost/vidimus/${service}:local`;
}

/**
 * Builds the five images.
 *
 * @param base what the images stand on; the recipe's own base by default. Always passed on: buildah
 *   1.28 does not see that the default of an argument names a stage.
 */
export async function buildImages(report: (line: string) => void, base = "base"): Promise<void> {
  const context = join(imagesDir, "context");
  await stageContext(context);
  report("context staged");
  for (const service of services) {
    await buildah("bud", "--isolation", "chroot", "--timestamp", "0", ...buildArguments(service, base), context);
    const bytes = await podman("image", "inspect", "--format", "{{.Size}}", imageOf(service));
    report(`${imageOf(service)}  ${Math.round(Number(bytes) / 1_000_000)} MB`);
  }
}

function buildArguments(service: Service, base: string): string[] {
  const file = join(root, "deploy/images/Containerfile");
  const labels = ["--label", `org.opencontainers.image.title=vidimus-${service}`];
  const values = ["--build-arg", `SERVICE=${service}`, "--build-arg", `BASE=${base}`];
  return ["--file", file, "--tag", imageOf(service), ...values, ...labels];
}
