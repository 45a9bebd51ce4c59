// The client tells its user how to call it: in these tests it calls itself as the built file would.
import { resolve } from "node:path";
import { clientFile } from "#server/build/stamps";

process.argv[1] = resolve(clientFile);
