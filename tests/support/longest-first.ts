import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Test files that take long, in the order in which they start. */
export const longest = [
  "faults/delivery-backlog",
  "faults/start-faults",
  "faults/delivery-killed",
  "faults/delivery-receivers",
  "faults/delivery-replicas",
  "faults/npm-start",
  "operations/restore-drill",
  "phrases/import-neighbours",
  "publisher/changes",
  "phrases/cli",
  "access/known-tenants",
];

/**
 * Projects in the order in which their files start. Files of one project follow each other, because
 * a worker reuses the modules that it has loaded; those of `unit` are short, and fill the end of a
 * run.
 */
const projects = ["e2e", "integration", "unit"];

/**
 * Starts the longest files of a project first, so that none runs alone at the end. Vitest itself
 * sorts by the durations of earlier runs, and in a fresh clone, which has none, by size.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => projectOf(a) - projectOf(b) || rankOf(a) - rankOf(b));
  }
}

function projectOf({ project }: TestSpecification): number {
  return projects.indexOf(project.name);
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = longest.findIndex((name) => moduleId.endsWith(`/tests/${name}.test.ts`));
  return rank < 0 ? longest.length : rank;
}
