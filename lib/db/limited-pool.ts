import "server-only";
import pg from "pg";
import { log } from "#lib/log";

type Query = (first: string | pg.QueryConfig, ...rest: unknown[]) => Promise<pg.QueryResult>;

/** How many seconds a statement may take: `usual` on a connection, `wanted` right now. 0 is as long as it needs. */
type Limit = { usual: number; wanted: () => number };

/**
 * A pool whose statements end in time, also behind a pooler in transaction mode (PgBouncer). There a connection has another backend
 * for each transaction, and what is set on it reaches others: so nothing is, no statement has a name, and each runs in a transaction
 * that sets its limit. So does, anywhere, one with another limit than its connection's.
 */
export class LimitedPool extends pg.Pool {
  /** Whether such a pooler may be in front of PostgreSQL. Known once there was a connection. */
  isPooled = false;
  readonly #limit: Limit;

  constructor(options: pg.PoolConfig, limit: Limit) {
    super(options);
    this.#limit = limit;
    this.options.onConnect = (client) => this.#begin(client as pg.PoolClient);
  }

  override query = (async (first: string | pg.QueryConfig, ...rest: unknown[]) => {
    const client = await this.connect();
    const run: Query = client.query.bind(client);
    const begin = this.#set();
    let failed: Error | undefined;
    try {
      if (begin) await run(`begin${begin}`);
      const result = await run(this.isPooled && typeof first === "object" ? { ...first, name: "" } : first, ...rest);
      if (begin) await run("commit");
      return result;
    } catch (error) {
      failed = error as Error;
      if (begin) failed = await run("rollback").then(() => undefined, Object);
      throw error;
    } finally {
      client.release(failed);
    }
  }) as pg.Pool["query"];

  /** Sets the limit of a transaction; nothing where its connection has it. */
  #set(): string {
    const { usual, wanted } = this.#limit;
    return wanted() === (this.isPooled ? 0 : usual) ? "" : `; set local statement_timeout = '${wanted()}s'`;
  }

  /** Learns what is in front of the database, and sets the limit: on the connection, or as Prisma's transactions begin. */
  async #begin(client: pg.PoolClient): Promise<void> {
    const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
    // A pooler tells each client a number of its own, by which it may cancel.
    const isPooled = rows[0]?.pid !== (client as unknown as { processID: number }).processID;
    if (isPooled && !this.isPooled)
      log.info("a connection pooler is in front of the database: limits are set by transaction");
    this.isPooled = isPooled;
    if (!isPooled && this.#limit.usual > 0) await client.query(`set statement_timeout = '${this.#limit.usual}s'`);
    const run: Query = (...values) => Reflect.apply(pg.Client.prototype.query, client, values);
    const adapted: Query = (first, ...rest) =>
      run(
        typeof first === "object" && first.text === "BEGIN" ? { ...first, text: `BEGIN${this.#set()}` } : first,
        ...rest,
      );
    client.query = adapted as typeof client.query;
  }
}
