import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Test files that take long, in the order in which they start. */
const longest = [
  "faults/delivery-backlog",
  "faults/start-faults",
  "faults/delivery-killed",
  "faults/delivery-receivers",
  "faults/delivery-replicas",
  "faults/replicas",
  "faults/npm-start",
  "restore-drill",
  "phrases-import-neighbours",
  "publisher-changes",
  "phrases-cli",
  "known-tenants",
];

/** In the order in which they start: files of a project share a worker, and short ones end a run. */
const projects = ["e2e", "integration", "unit"];

/**
 * Starts the longest files first, so that none is left alone at the end. Vitest does so by what
 * earlier runs took; a clean clone had none, and the larger file would start first.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => projectOf(a) - projectOf(b) || placeOf(a) - placeOf(b));
  }
}

function projectOf({ project }: TestSpecification): number {
  return projects.indexOf(project.name);
}

function placeOf({ moduleId }: TestSpecification): number {
  const place = longest.findIndex((name) => moduleId.endsWith(`/tests/${name}.test.ts`));
  return place < 0 ? longest.length : place;
}
