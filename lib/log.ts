import pino from "pino";
import { logLevel } from "#lib/env";

/** The process's log: JSON lines on stdout. No body, code or token is ever passed to it. */
export const log = pino({
  level: logLevel(),
  base: { pid: process.pid },
  timestamp: pino.stdTimeFunctions.isoTime,
  formatters: { level: (level) => ({ level }) },
});
