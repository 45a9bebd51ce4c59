/** The built client. */
export const clientFile = "dist/spoor.mjs";

/** The folder of the built processes. */
export const serverFolder = "dist/server";

/** A cluster with this version's schema, which the first start of an embedded database copies. */
export const keptCluster = "dist/cluster";
