import "server-only";
import { log } from "#lib/core/log";
import { isUnmigrated } from "#lib/observability/readiness";
import { pingDatabase } from "#lib/observability/sql";

export type Step = ReturnType<typeof makeSteps>["step"];

/** Runs every step even if one fails; `end` throws if any failed. */
export function makeSteps() {
  const failed: { name: string; cause: unknown }[] = [];
  const step = async <T>(name: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (cause) {
      await pingDatabase(); // without the database the others would only fail after their timeouts
      if (await isUnmigrated(cause)) throw cause;
      log.warn({ err: cause, step: name }, "a background step failed");
      failed.push({ name, cause });
      return undefined;
    }
  };
  const end = () => {
    const [first] = failed;
    if (first) throw new Error(`steps failed: ${failed.map(({ name }) => name).join(", ")}`, { cause: first.cause });
  };
  return { step, end };
}
