// Loaded before each test file, so that files sharing a process start with fresh environment variables and limits.

import { setEnv } from "#lib/core/env";
import { limitStatements } from "#lib/db/client";

const globals = globalThis as typeof globalThis & { spoorTestEnvironment?: Record<string, string | undefined> };
globals.spoorTestEnvironment ??= { ...process.env };
const unset = Object.fromEntries(Object.keys(process.env).map((name) => [name, undefined]));
setEnv({ ...unset, ...globals.spoorTestEnvironment });
limitStatements(undefined);
