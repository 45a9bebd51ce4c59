import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { createOwner, findOwner } from "#lib/auth/accounts";
import { operator } from "#lib/auth/audit";
import { openSetup } from "#lib/auth/setup";
import { createTokenByHand } from "#lib/auth/tokens";
import { setEnv } from "#lib/core/env";
import { scopes } from "#lib/core/fields";
import { closeDatabase, pool } from "#lib/db/client";
import { startEmbedded } from "#lib/db/embedded/embedded";
import { migrate } from "#lib/db/migrate";
import { installQueues } from "#lib/queue/queues";
import { testEnvironment } from "../support/database.ts";
import { until } from "./wait.ts";

const run = promisify(execFile);
const templateName = "spoor_faults";

/** Tokens of the owner who exists in every database. */
export type Tokens = { good: string; expired: string; revoked: string };

/** A separate PostgreSQL that may be stopped and killed: only one run of faults uses it. */
export class Cluster {
  readonly folder: string;
  readonly url: string;
  readonly #stop: () => Promise<void>;
  userId = "";
  tokens: Tokens = { good: "", expired: "", revoked: "" };

  private constructor(folder: string, started: { url: string; stop: () => Promise<void> }) {
    this.folder = folder;
    this.url = started.url;
    this.#stop = started.stop;
  }

  /** Starts one, with a migrated template database that has an owner and tokens. */
  static async start(): Promise<Cluster> {
    const folder = await mkdtemp(join(tmpdir(), "spoor-faults-"));
    const cluster = new Cluster(folder, await startEmbedded(folder, { tcp: true }));
    await cluster.#makeTemplate();
    return cluster;
  }

  async #makeTemplate(): Promise<void> {
    await this.ask(`create database ${templateName}`);
    const url = this.urlOf(templateName);
    await migrate(url, () => installQueues(url));
    setEnv({ ...testEnvironment, DATABASE_URL: url, SETUP_TOKEN: "a set-up token for faults" });
    await openSetup();
    await createOwner(
      "a set-up token for faults",
      { name: "Ada", email: "ada@example.org", password: "correct horse battery" },
      operator,
    );
    this.userId = (await findOwner()) ?? "";
    const [good, expired, revoked] = [
      await this.#token("good"),
      await this.#token("old"),
      await this.#token("revoked"),
    ];
    await pool().query("update cli_token set expires_at = now() - interval '1 minute' where machine = 'old'");
    // A token's last use is recorded once a minute: here never, so that all requests take the same steps.
    await pool().query("update cli_token set last_used_at = now() + interval '1 day' where machine = 'good'");
    await pool().query("update cli_token set revoked_at = now() where machine = 'revoked'");
    this.tokens = { good, expired, revoked };
    await closeDatabase();
  }

  #token(machine: string): Promise<string> {
    return createTokenByHand(this.userId, machine, operator, [...scopes]);
  }

  urlOf(database: string): string {
    const url = new URL(this.url);
    url.pathname = database;
    return url.href;
  }

  /** Runs SQL on the maintenance database. */
  async ask<T extends pg.QueryResultRow>(sql: string): Promise<T[]> {
    const client = new pg.Client({ connectionString: this.url });
    client.on("error", () => {});
    await client.connect();
    try {
      return (await client.query<T>(sql)).rows;
    } finally {
      await client.end().catch(() => {});
    }
  }

  /** Creates a database with the tables, the owner and the tokens. @returns its name */
  async createDatabase(tablespace?: string): Promise<string> {
    const name = `faults_${randomUUID().replaceAll("-", "")}`;
    const place = tablespace ? `tablespace ${tablespace}` : "";
    await this.ask(`create database ${name} template ${templateName} strategy file_copy ${place}`);
    return name;
  }

  dropDatabase(name: string): Promise<unknown> {
    return this.ask(`drop database if exists ${name} with (force)`);
  }

  get data(): string {
    return join(this.folder, "postgres");
  }

  /** The user who owns the data directory and runs the server. */
  async owner(): Promise<{ uid: number; gid: number }> {
    return stat(this.data);
  }

  /** Runs `pg_ctl` as the owner, with the command line of the last start and the same port. */
  async control(...words: string[]): Promise<void> {
    const { uid, gid } = await this.owner();
    const command = [join(await this.#programs(), "pg_ctl"), "-s", "-w", "-D", this.data, ...words];
    const isRoot = process.getuid?.() === 0;
    const asOwner =
      isRoot && uid !== 0
        ? ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", ...command]
        : isRoot
          ? ["unshare", "--user", "--map-user=1000", "--map-group=1000", ...command]
          : command;
    const [program = "", ...rest] = asOwner;
    await run(program, rest, { env: { ...process.env, LC_ALL: "C" }, cwd: tmpdir() });
  }

  /**
   * Restarts it, or starts it with the same settings, and retries while the locks of a killed server remain. It gets a new
   * log file: otherwise it keeps the output of `pg_ctl` open, which then never ends.
   */
  async restart(mode: "fast" | "immediate" = "fast"): Promise<void> {
    await until(20, "PostgreSQL is back", () =>
      this.control("restart", "-m", mode, "-l", join(this.data, "server.log")).then(
        () => true,
        () => false,
      ),
    );
  }

  async #programs(): Promise<string> {
    const options = await readFile(join(this.data, "postmaster.opts"), "utf8");
    return dirname(options.split(" ")[0] ?? "");
  }

  async postmaster(): Promise<number> {
    return Number((await readFile(join(this.data, "postmaster.pid"), "utf8")).split("\n")[0]);
  }

  /** kill -9 of the server and all its processes. */
  async kill(): Promise<void> {
    const postmaster = await this.postmaster();
    const children = await listChildren(postmaster);
    for (const pid of [postmaster, ...children]) {
      try {
        process.kill(pid, "SIGKILL");
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error; // ended with its postmaster
      }
    }
  }

  /** What the server logged. */
  log(): Promise<string> {
    return readFile(join(this.data, "server.log"), "utf8");
  }

  async stop(): Promise<void> {
    await this.#stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function listChildren(parent: number): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/stat`, "utf8").catch(() => "")), // gone in the meantime
  );
  return pids.filter((_, at) => Number(parents[at]?.split(") ")[1]?.split(" ")[1]) === parent);
}
