// Exits with 1 if something has to be built. `--programs` leaves out the web application.
import { type BuildOutput, missing } from "#server/build/stamps";

const needed: BuildOutput[] = process.argv.includes("--programs") ? ["server", "client"] : ["server", "client", "web"];
process.exitCode = needed.some(missing) ? 1 : 0;
