import "server-only";
import { chmod, chown, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { call, type Programs } from "./postgres-programs.ts";
import type { Cluster } from "./postmaster.ts";

type NewCluster = Cluster & { programs: Programs };

/** A killed start leaves no incomplete cluster. */
export async function makeCluster(wanted: NewCluster): Promise<void> {
  const draft = await mkdtemp(`${wanted.cluster}.`);
  try {
    if (wanted.programs.owner) await chmod(dirname(wanted.cluster), 0o711);
    await initialize(wanted, draft);
    await rename(draft, wanted.cluster).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error; // another start was first
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function initialize({ programs, password }: NewCluster, draft: string): Promise<void> {
  const passwordFile = `${draft}.password`;
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  if (programs.owner) {
    await chown(draft, programs.owner.uid, programs.owner.gid);
    await chown(passwordFile, programs.owner.uid, programs.owner.gid);
  }
  try {
    const words = ["--username=spoor", "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C"];
    await call(programs, "initdb", [`--pgdata=${draft}`, ...words, `--pwfile=${passwordFile}`]);
  } finally {
    await rm(passwordFile, { force: true });
  }
}
