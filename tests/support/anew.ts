// Loaded before each test file: files that share a process leave each other no variable of the environment, and no limit.

import { setEnv } from "#lib/core/env";
import { limitStatements } from "#lib/db/client";

const globals = globalThis as typeof globalThis & { spoorTestEnvironment?: Record<string, string | undefined> };
globals.spoorTestEnvironment ??= { ...process.env };
const unset = Object.fromEntries(Object.keys(process.env).map((name) => [name, undefined]));
setEnv({ ...unset, ...globals.spoorTestEnvironment });
limitStatements(undefined);
