import "server-only";
import pg from "pg";
import { log } from "#lib/log";

type RunQuery = (first: string | pg.QueryConfig, ...rest: unknown[]) => Promise<pg.QueryResult>;

/** Time limits of a statement in seconds: `usual` is a connection's, `wanted` the current one. 0 means no limit. */
type Limit = { usual: number; wanted: () => number };

/**
 * A pool that limits the time of its statements, also behind a pooler in transaction mode (PgBouncer). There each transaction may get
 * another backend, and a setting would reach other clients: statements are unnamed, and each runs in a transaction that sets its limit.
 * Without a pooler the connection has the limit, and only a statement with a different one needs such a transaction.
 */
export class LimitedPool extends pg.Pool {
  /** Set with the first connection: such a pooler may be in front of PostgreSQL. */
  isPooled = false;
  readonly #limit: Limit;

  constructor(options: pg.PoolConfig, limit: Limit) {
    super(options);
    this.#limit = limit;
    this.options.onConnect = (client) => this.#begin(client as pg.PoolClient);
  }

  override query = (async (first: string | pg.QueryConfig, ...rest: unknown[]) => {
    const client = await this.connect();
    const run: RunQuery = client.query.bind(client);
    const begin = this.#limitStatement();
    let failed: Error | undefined;
    try {
      if (begin) await run(`begin${begin}`);
      const result = await run(this.isPooled && typeof first === "object" ? { ...first, name: "" } : first, ...rest);
      if (begin) await run("commit");
      return result;
    } catch (error) {
      failed = error as Error;
      if (begin)
        failed = await run("rollback").then(
          () => undefined,
          (failure: Error) => failure,
        );
      throw error;
    } finally {
      client.release(failed);
    }
  }) as pg.Pool["query"];

  /** Returns the statement that sets a transaction's limit; nothing where the connection has that limit. */
  #limitStatement(): string {
    const { usual, wanted } = this.#limit;
    return wanted() === (this.isPooled ? 0 : usual) ? "" : `; set local statement_timeout = '${wanted()}s'`;
  }

  /** Finds out whether a pooler is in front of the database. Sets the limit on the connection, or at the start of Prisma's transactions. */
  async #begin(client: pg.PoolClient): Promise<void> {
    const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
    // A pooler tells each client a number of its own, by which it may cancel.
    const isPooled = rows[0]?.pid !== (client as unknown as { processID: number }).processID;
    if (isPooled && !this.isPooled)
      log.info("a connection pooler is in front of the database: limits are set by transaction");
    this.isPooled = isPooled;
    if (!isPooled && this.#limit.usual > 0) await client.query(`set statement_timeout = '${this.#limit.usual}s'`);
    const run: RunQuery = (...values) => Reflect.apply(pg.Client.prototype.query, client, values);
    const adapted: RunQuery = (first, ...rest) =>
      run(
        typeof first === "object" && first.text === "BEGIN"
          ? { ...first, text: `BEGIN${this.#limitStatement()}` }
          : first,
        ...rest,
      );
    client.query = adapted as typeof client.query;
  }
}
