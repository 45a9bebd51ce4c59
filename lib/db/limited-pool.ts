import "server-only";
import pg from "pg";
import { log } from "#lib/log";

type Callback = Parameters<pg.Pool["connect"]>[0];
type Query = (...values: unknown[]) => Promise<pg.QueryResult>;

/** `seconds` how long a statement may take by default, 0 for as long as it needs; `wanted` how long it may right now. */
type Limit = { seconds: number; wanted: () => number };

/**
 * A pool whose statements end in time, also behind a pooler in transaction mode (PgBouncer). There a connection has another
 * backend for each transaction: what is set on it reaches others' statements, so nothing is; a statement with a limit is put
 * into a transaction, whose settings end with it. So is one with another limit than its connection's.
 */
export class LimitedPool extends pg.Pool {
  readonly #limit: Limit;
  #learning: Promise<boolean> | undefined;
  /** Whether a pooler in transaction mode may be in front of PostgreSQL. Known after the first connection. */
  isPooled = false;

  constructor(options: pg.PoolConfig, limit: Limit) {
    super({ ...options, ...(limit.seconds > 0 && { statement_timeout: limit.seconds * 1000 }) });
    this.#limit = limit;
    this.on("connect", (client) => this.#adapt(client));
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<pg.PoolClient> | undefined {
    const connecting = this.learn().then(() => super.connect());
    if (!callback) return connecting;
    connecting.then(
      (client) => callback(undefined, client, client.release),
      (error) => callback(error, undefined, () => {}),
    );
    return undefined;
  }

  override query = (async (...values: unknown[]) => {
    await this.learn();
    const query = super.query.bind(this) as unknown as Query;
    return this.#isLimited() ? query(...values) : this.#within(values);
  }) as pg.Pool["query"];

  /** Learns from the first connection what is in front of the database. @returns `isPooled` */
  learn(): Promise<boolean> {
    this.#learning ??= this.#ask().catch((error) => {
      this.#learning = undefined;
      throw error;
    });
    return this.#learning;
  }

  async #ask(): Promise<boolean> {
    const client = await super.connect().catch((error: Error) => {
      // PgBouncer takes only the start-up parameters that it knows or is told to ignore.
      if (!/unsupported startup parameter/i.test(error.message) || !this.options.statement_timeout) throw error;
      delete this.options.statement_timeout;
      this.isPooled = true;
      return super.connect();
    });
    try {
      const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
      // A pooler tells each client a number of its own, by which it may cancel.
      this.isPooled ||= rows[0]?.pid !== (client as unknown as { processID: number }).processID;
    } finally {
      client.release();
    }
    if (this.isPooled) log.info("a connection pooler is in front of the database: settings are made by transaction");
    return this.isPooled;
  }

  /** Whether connections have the limit that is wanted right now. */
  #isLimited(): boolean {
    return this.#limit.wanted() === (this.isPooled ? 0 : this.#limit.seconds);
  }

  #setLimit = () => `set local statement_timeout = '${this.#limit.wanted()}s'`;

  async #within(values: unknown[]): Promise<pg.QueryResult> {
    const client = await this.connect();
    let broken: Error | undefined;
    try {
      await client.query(`begin; ${this.#setLimit()}`);
      const result = await (client.query as unknown as Query).apply(client, values);
      await client.query("commit");
      return result;
    } catch (error) {
      await client.query("rollback").catch((failure: Error) => {
        broken = failure;
      });
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /**
   * Changes what libraries send on a connection: the limit begins with Prisma's transactions, and behind a pooler no statement
   * has a name (rate-limiter-flexible's have), under which the next backend would not know it.
   */
  #adapt(client: pg.PoolClient): void {
    const query: Query = (...values) => Reflect.apply(pg.Client.prototype.query, client, values);
    client.query = ((first: string | pg.QueryConfig | pg.Submittable, ...rest: unknown[]) => {
      if (typeof first === "string" || "submit" in first) return query(first, ...rest);
      const text = first.text === "BEGIN" && !this.#isLimited() ? `BEGIN; ${this.#setLimit()}` : first.text;
      return query({ ...first, text, ...(this.isPooled && { name: undefined }) }, ...rest);
    }) as typeof client.query;
  }
}
