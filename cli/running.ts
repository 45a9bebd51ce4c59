declare const SPOOR_VERSION: string | undefined;

/** The running client, which tests replace. */
export const running = {
  /** npm may have linked it. */
  file: process.argv[1] ?? "",
  /** The build inserts the application's version. */
  version: typeof SPOOR_VERSION === "string" ? SPOOR_VERSION : "source",
  /** The server inserts its address when it delivers the file (lib/server/client-file.ts). */
  deliveredBy: "@SPOOR_SERVER@",
};
