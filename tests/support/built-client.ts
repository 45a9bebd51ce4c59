import { buildProgramsIfNeeded } from "#server/build/build";

/** Builds the client once per run, since compiling the sources in each process takes eight times as long. */
export default () => buildProgramsIfNeeded();
