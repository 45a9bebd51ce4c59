declare const SPOOR_VERSION: string | undefined;

/** The client that runs. A test puts another one in its place. */
export const running = {
  /** Its file, which npm may have linked. */
  file: process.argv[1] ?? "",
  /** The application's version, which the build inserts. */
  version: typeof SPOOR_VERSION === "string" ? SPOOR_VERSION : "source",
  /** The server's address, which a server inserts in the file that it delivers (lib/server/client-file.ts). */
  deliveredBy: "@SPOOR_SERVER@",
};
