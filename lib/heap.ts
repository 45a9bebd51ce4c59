// Imported by a process for what it does. V8 begins to collect its whole heap whenever some 64 MB outside of it were taken,
// such as by the bodies of uploads: each one of 18 MB cost 25 ms of that. Counted with the heap's own limit they are still
// bounded, and a third of the collections is left out, of a decoding thread half.
import { setFlagsFromString } from "node:v8";

setFlagsFromString("--external-memory-accounted-in-global-limit");
