import pino from "pino";
import { env } from "#lib/env";

/** The process's log: JSON lines on stdout. Nothing of a body, a code or a token is ever passed to it. */
export const log = pino({
  level: env().LOG_LEVEL,
  base: { pid: process.pid },
  timestamp: pino.stdTimeFunctions.isoTime,
  formatters: { level: (level) => ({ level }) },
});
