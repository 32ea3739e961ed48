/**
 * `npm run images [-- BASE]`: builds the images of the five services and of the console with
 * buildah into .vidimus/images. BASE, named by its digest, replaces the base that is made of this
 * machine's libraries (deploy/images/Containerfile). Only BASE needs a registry of images.
 */
import { buildImages } from "./build-images.ts";

await buildImages(console.log, process.argv[2]);
