declare const SPOOR_VERSION: string | undefined;

/** The application's version, which the build fills in. */
export const version = typeof SPOOR_VERSION === "string" ? SPOOR_VERSION : "source";
