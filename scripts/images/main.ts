/**
 * `npm run images [-- BASE]`: builds the images of the five services and of the console with
 * buildah into .vidimus/images, without a registry of images. BASE, with its digest, replaces the
 * recipe's own base, see deploy/images/Containerfile.
 */
import { buildImages } from "./build-images.ts";

await buildImages(console.log, process.argv[2]);
