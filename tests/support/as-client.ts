// The client prints how to call it; in these tests it prints the name of the built file.
import { resolve } from "node:path";
import { clientFile } from "#server/build/stamps";

process.argv[1] = resolve(clientFile);
