import { readFileSync } from "node:fs";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Matches files that use the shared server without a worker. A wrong match only starts a worker once more than needed.
 */
const without = /worker: false|provideList\(|provideSignedIn\((?!.*true\))/;

/** Runs a project's files with a worker first, so that the shared server's worker is started only once. */
export default class WorkerFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [...Map.groupBy(sorted, ({ project }) => project).values()].flatMap((ofProject) => {
      const isLast = new Map(ofProject.map((file) => [file, without.test(readFileSync(file.moduleId, "utf8"))]));
      return ofProject.toSorted((one, other) => Number(isLast.get(one)) - Number(isLast.get(other)));
    });
  }
}
