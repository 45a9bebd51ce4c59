// For how long what is stored keeps the form in which it came.
import { wholeNumber } from "#lib/variables/kinds";

export const keepingVariables = {
  UPLOAD_RETENTION_DAYS: wholeNumber(
    7,
    [0, 3650],
    "days for which the raw uploads of succeeded jobs are kept; those of failed jobs are kept for 30 days",
  ),
  PACK_AFTER_DAYS: wholeNumber(
    7,
    [0, 3650],
    "days without a change after which the messages of a session are compressed together; 0 is never; see [Disk space](#disk-space)",
  ),
};
