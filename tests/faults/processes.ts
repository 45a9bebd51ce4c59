import { crashFaults } from "./crashes.ts";
import type { Fault } from "./fault.ts";

export const processFaults: Fault[] = [...crashFaults];
