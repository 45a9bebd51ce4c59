import { buildProgramsIfNeeded } from "#server/build/build";

/** Builds the client once for the run: from its sources each of its processes would compile them, which takes eight times as long. */
export default () => buildProgramsIfNeeded();
