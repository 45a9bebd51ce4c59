import { readFileSync } from "node:fs";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** How files say that they take the shared server without a worker. Where this is wrong, a worker is started once more than needed. */
const without = /worker: false|provideList\(|provideSignedIn\((?!.*true\))/;

/** A project's files that want a worker come before those that want none: the shared server's is started once. */
export default class WorkerFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [...Map.groupBy(sorted, ({ project }) => project).values()].flatMap((ofProject) => {
      const isLast = new Map(ofProject.map((file) => [file, without.test(readFileSync(file.moduleId, "utf8"))]));
      return ofProject.toSorted((one, other) => Number(isLast.get(one)) - Number(isLast.get(other)));
    });
  }
}
