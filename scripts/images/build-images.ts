import { join } from "node:path";
import { buildah, imagesDir, podman } from "./containers.ts";
import { checkBase, ownBase } from "./base-image.ts";
import { type Image, images, stageContext, workspaceOf } from "./stage-context.ts";

const root = join(import.meta.dirname, "../..");

/** Name of an image on this machine. The overlay "local" uses it for the services. */
export function imageOf(image: Image): string {
  return `localhost/vidimus/${image}:local`;
}

/**
 * @param base stage or image that all images are built on. Passed to buildah even when it is the
 * recipe's default: buildah 1.28 does not see that the default of an argument names a stage.
 */
export async function buildImages(report: (line: string) => void, base = ownBase): Promise<void> {
  checkBase(base);
  const context = join(imagesDir, "context");
  await stageContext(context, base);
  report("context staged");
  for (const image of images) {
    await buildah("bud", "--isolation", "chroot", "--timestamp", "0", ...buildArguments(image, base), context);
    const bytes = await podman("image", "inspect", "--format", "{{.Size}}", imageOf(image));
    report(`${imageOf(image)}  ${Math.round(Number(bytes) / 1_000_000)} MB`);
  }
}

function buildArguments(image: Image, base: string): string[] {
  const file = join(root, "deploy/images/Containerfile");
  const labels = ["--label", `org.opencontainers.image.title=vidimus-${image}`];
  const given = { SERVICE: image, WORKSPACE: workspaceOf(image), BASE: base };
  const values = Object.entries(given).flatMap(([name, value]) => ["--build-arg", `${name}=${value}`]);
  return ["--file", file, "--tag", imageOf(image), ...values, ...labels];
}
