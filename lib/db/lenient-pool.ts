import "server-only";
import pg from "pg";
import { log } from "#lib/log";

type Callback = Parameters<pg.Pool["connect"]>[0];

/**
 * A pool that goes without `statement_timeout` where a pooler in front of PostgreSQL refuses it: PgBouncer takes only the
 * start-up parameters that it knows or is told to ignore.
 */
export class LenientPool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<pg.PoolClient> | undefined {
    const connecting = super.connect().catch((error: Error) => {
      if (!/unsupported startup parameter/i.test(error.message) || !this.options.statement_timeout) throw error;
      log.warn("the database's pooler takes no statement_timeout: only heavy reads are limited in time");
      delete this.options.statement_timeout;
      return super.connect();
    });
    if (!callback) return connecting;
    connecting.then(
      (client) => callback(undefined, client, client.release),
      (error) => callback(error, undefined, () => {}),
    );
    return undefined;
  }
}
