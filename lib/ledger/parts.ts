import "server-only";
import { digestPart } from "#lib/ledger/digest/part";
import { evidencePart } from "#lib/ledger/evidence/evidence";
import { filesPart } from "#lib/ledger/files";
import { parentsPart } from "#lib/ledger/parents";
import type { LedgerPart } from "#lib/ledger/part";
import { projectsPart } from "#lib/ledger/projects";
import { secretsPart } from "#lib/ledger/secrets";
import { usagePart } from "#lib/ledger/usage/part";

/** Parts in the order in which they write. Later parts see the project that the first one sets. */
export const parts: readonly LedgerPart<unknown>[] = [
  projectsPart,
  usagePart,
  evidencePart,
  filesPart,
  digestPart,
  secretsPart,
  parentsPart,
];
