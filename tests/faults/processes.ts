import { crashFaults } from "./crashes.ts";
import type { Fault } from "./fault.ts";
import { orderFaults } from "./order.ts";
import { outageFaults } from "./outages.ts";
import { searchFaults } from "./searching.ts";
import { sinkFaults } from "./sinks.ts";
import { startFaults } from "./starts.ts";

/** The rows of "Processes and storage". */
export const processFaults: Fault[] = [
  ...crashFaults,
  ...outageFaults,
  ...orderFaults,
  ...startFaults,
  ...searchFaults,
  ...sinkFaults,
];
