/** The tables whose rows are spread over the nodes of a distributed database by their user; those that others refer to come first. */
export const tenantTables = [
  "ingest_job",
  "upload",
  "trace",
  "message",
  "trace_usage",
  "usage_facets",
  "search_block",
  "search_bucket",
  "search_document",
] as const;
