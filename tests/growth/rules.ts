// What a distributed database (Citus) refuses of a statement, found by PostgreSQL's own parser without any database, so that a
// new offender fails where the extension is not installed. Each rule was seen to be refused by Citus 13.2.
import { loadModule, parseSync } from "libpg-query";
import { tenantTables } from "#lib/db/tenant-tables";

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Fields = { [key: string]: Json };

await loadModule();

const isTenant = (table: string) => (tenantTables as readonly string[]).includes(table);

/** Evaluated anew for each row or call: the nodes' copies of a row would differ. */
const volatile = new Set([
  "clock_timestamp",
  "gen_random_uuid",
  "nextval",
  "random",
  "timeofday",
  "uuidv7",
  "pg_advisory_xact_lock",
]);
/** These depend on settings of the session, which nodes may have otherwise. */
const formatting = new Set(["concat", "concat_ws", "format", "jsonb_build_array", "to_char"]);
/** The same within a statement, but not on every node. */
const stable = new Set(["now", "transaction_timestamp", "statement_timestamp"]);

/**
 * Why a distributed database would refuse a statement.
 *
 * @returns undefined where it would not, as for all that names no tenant table, or that is no statement on rows.
 */
export function findRefusal(sql: string): string | undefined {
  if (!tenantTables.some((table) => sql.includes(table))) return undefined;
  for (const { stmt } of parseSync(sql).stmts as unknown as { stmt: Fields }[]) {
    const refusal = refusalOfStatement(stmt);
    if (refusal) return refusal;
  }
  return undefined;
}

function refusalOfStatement(statement: Fields): string | undefined {
  const copied = statement.CopyStmt as Fields | undefined;
  if (copied?.query) return refusalOfStatement(copied.query as Fields);
  const rows = ["SelectStmt", "InsertStmt", "UpdateStmt", "DeleteStmt"];
  if (!rows.some((kind) => kind in statement)) return undefined;
  const tables = listTables(statement);
  const tenants = tables.filter(isTenant);
  if (tenants.length === 0) return undefined;
  const local = tables.find((table) => !isTenant(table));
  if (local) return `${tenants[0]} is on the nodes, ${local} on the coordinator: one statement can't have both`;
  if (find(statement, (node) => getFunction(node) === "current_setting"))
    return "a setting of the session is not known on the nodes: take it as a parameter";
  if (find(statement, isTimeoutSet))
    return "a timeout of this session ends no wait on a node: lock with NOWAIT, and ask again";
  const levels = listLevels(statement);
  const joined = new Set(levels.flatMap((level) => [...boundAliases(level).any])); // a subquery may name what is around it
  for (const level of levels) {
    const refusal = refusalOfLevel(level, tenants.length > 1 ? joined : undefined);
    if (refusal) return refusal;
  }
  return undefined;
}

const isTimeoutSet = (node: Fields) =>
  getFunction(node) === "set_config" && JSON.stringify((node.FuncCall as Fields).args).includes("_timeout");

/** A query level: a statement or subquery with its own FROM. */
type Level = { kind: string; fields: Fields; isNested: boolean };

/** @param joined the aliases that any level has by user_id, where several tables must be */
function refusalOfLevel(level: Level, joined: Set<string> | undefined): string | undefined {
  const { kind, fields, isNested } = level;
  const relations = listTenants(level);
  if (relations.length === 0) return undefined;
  const writes = kind !== "SelectStmt";
  const refusal = writes ? refusalOfWrite(kind, fields) : undefined;
  if (refusal || kind === "InsertStmt") return refusal;
  const { single } = boundAliases(level);
  const several = relations.find(({ alias }) => !single.has(alias));
  if (several && fields.lockingClause) return `rows of ${several.table} are locked, but not of one user (user_id = …)`;
  if (several && writes && isNested)
    return `${several.table} is written within a WITH, but not of one user (user_id = …)`;
  const [written] = relations;
  if (writes && !isNested && written && several === written && !isGiven(level, written))
    return `rows of several users of ${written.table} are written at once: go user by user (user_id = …)`;
  const apart = joined && relations.find(({ alias }) => !joined.has(alias));
  return apart && `${apart.table} is joined or compared, but not by user_id`;
}

/**
 * Whether the users are those of rows that come as parameters, as a batch of uploads does. Citus takes other writes of several
 * users, too, but then locks rows of all nodes until the last has committed.
 */
function isGiven(level: Level, { alias }: Relation): boolean {
  const functions = findAll(level.fields.fromClause ?? null, (node) => "RangeFunction" in node);
  return functions.length > 0 && boundAliases(level).any.has(alias);
}

const listTenants = ({ kind, fields }: Level) => listRelations(kind, fields).filter(({ table }) => isTenant(table));

/** Rules for what an UPDATE, DELETE or INSERT computes. */
function refusalOfWrite(kind: string, fields: Fields): string | undefined {
  const returned = find(
    fields.returningClause ?? null,
    (node) => getFunction(node) === "pg_column_size" || isDateAsText(node),
  );
  if (returned)
    return "RETURNING calls a function that is not immutable: return columns, and compute in what reads them";
  const conflict = (fields.onConflictClause as Fields | undefined)?.OnConflictClause ?? fields.onConflictClause;
  const set = kind === "UpdateStmt" ? fields.targetList : ((conflict as Fields | undefined)?.targetList ?? null);
  const computed: Json[] = [set ?? null, kind === "InsertStmt" ? null : (fields.whereClause ?? null)];
  for (const part of computed) {
    if (find(part, (node) => "SetToDefault" in node)) return "a column is set to its default";
    const called = find(part, (node) => volatile.has(getFunction(node) ?? ""));
    if (called) return `${getFunction(called)}() is evaluated for each row; take it as a parameter`;
    const branch = find(part, (node) => ("CoalesceExpr" in node || "CaseExpr" in node) && hasTime(node));
    if (branch) return "the time stands within COALESCE or CASE; take it as a parameter, or use LEAST or GREATEST";
    const moved = find(part, isMoved);
    if (moved)
      return "an interval is added to a column, which depends on the time zone; take the result as a parameter";
    const varying = find(part, (node) => formatting.has(getFunction(node) ?? "") && hasColumn(node));
    if (varying) return `${getFunction(varying)}() of a column depends on settings; use an operator such as ||`;
    const call = find(part, (node) => "FuncCall" in node && !isTime(node) && hasTime(node) && hasColumn(node));
    if (call) return `${getFunction(call)}() gets both the time and a column; take the time as a parameter`;
  }
  return undefined;
}

const isTime = (node: Fields) => "SQLValueFunction" in node || stable.has(getFunction(node) ?? "");
/** A cast to text of what was cast to a date, which is written as the session has it set. */
function isDateAsText(node: Fields): boolean {
  const { typeName, arg } = (node.TypeCast ?? {}) as { typeName?: Json; arg?: Fields };
  const inner = arg?.TypeCast as Fields | undefined;
  const names = (type: Json | undefined) => JSON.stringify(type ?? null);
  return names(typeName).includes('"text"') && names(inner?.typeName).includes('"date"');
}
/** A column plus or minus an interval. */
function isMoved(node: Fields): boolean {
  const { name, lexpr, rexpr } = (node.A_Expr ?? {}) as Fields;
  const sign = (name as { String: { sval: string } }[] | undefined)?.[0]?.String.sval ?? "";
  return ["+", "-"].includes(sign) && getColumn(lexpr ?? null).length > 0 && isInterval((rexpr ?? {}) as Fields);
}

function isInterval(node: Fields): boolean {
  const type = (node.TypeCast as Fields | undefined)?.typeName as
    | { names?: { String: { sval: string } }[] }
    | undefined;
  return getFunction(node) === "make_interval" || type?.names?.at(-1)?.String.sval === "interval";
}

const hasTime = (node: Json) => find(node, isTime) !== undefined;
const hasColumn = (node: Json) => find(node, (inner) => "ColumnRef" in inner) !== undefined;

function getFunction(node: Fields): string | undefined {
  const names = ((node.FuncCall as Fields | undefined)?.funcname ?? []) as { String: { sval: string } }[];
  return names.at(-1)?.String.sval;
}

/** The first node that a condition holds for, from the outside in. */
function find(node: Json, holds: (node: Fields) => boolean): Fields | undefined {
  if (node === null || typeof node !== "object") return undefined;
  if (!Array.isArray(node) && holds(node)) return node;
  for (const inner of Object.values(node)) {
    const found = find(inner, holds);
    if (found) return found;
  }
  return undefined;
}

function findAll(node: Json, holds: (node: Fields) => boolean, found: Fields[] = []): Fields[] {
  if (node === null || typeof node !== "object") return found;
  if (!Array.isArray(node) && holds(node)) found.push(node);
  for (const inner of Object.values(node)) findAll(inner, holds, found);
  return found;
}

/** The tables that a statement names, but for the names of its WITH clauses. */
function listTables(statement: Fields): string[] {
  const named = new Set(
    findAll(statement, (node) => "CommonTableExpr" in node).map(({ CommonTableExpr: cte }) => (cte as Fields).ctename),
  );
  const relations = findAll(statement, (node) => "relname" in node).map(
    (node) => node as { relname: string; schemaname?: string },
  );
  return relations.filter(({ relname, schemaname }) => schemaname || !named.has(relname)).map(({ relname }) => relname);
}

function listLevels(statement: Json, isNested = false, found: Level[] = []): Level[] {
  if (statement === null || typeof statement !== "object") return found;
  if (Array.isArray(statement)) {
    for (const inner of statement) listLevels(inner, isNested, found);
    return found;
  }
  for (const [kind, fields] of Object.entries(statement)) {
    const isLevel = /^(Select|Insert|Update|Delete)Stmt$/.test(kind) || ["larg", "rarg"].includes(kind);
    const isQuery = isLevel && fields !== null && typeof fields === "object" && !Array.isArray(fields);
    if (
      isQuery &&
      !("RangeVar" in fields || "JoinExpr" in fields || "RangeSubselect" in fields || "RangeFunction" in fields)
    )
      found.push({ kind: kind.endsWith("Stmt") ? kind : "SelectStmt", fields, isNested });
    listLevels(fields, isNested || isQuery, found);
  }
  return found;
}

type Relation = { table: string; alias: string };

/** The tables of a level's own FROM, USING, or target. */
function listRelations(kind: string, fields: Fields): Relation[] {
  const own: Json[] = [fields.fromClause ?? null, fields.usingClause ?? null];
  const found: Relation[] = [];
  const add = (node: Fields) =>
    found.push({
      table: node.relname as string,
      alias: ((node.alias as Fields | undefined)?.aliasname ?? node.relname) as string,
    });
  if (kind !== "SelectStmt" && fields.relation) add(fields.relation as Fields);
  const walk = (node: Json) => {
    if (node === null || typeof node !== "object") return;
    if (Array.isArray(node)) return node.forEach(walk);
    if (node.RangeVar) add(node.RangeVar as Fields);
    const join = node.JoinExpr as Fields | undefined;
    for (const side of join ? [join.larg, join.rarg] : []) walk(side ?? null);
  };
  own.forEach(walk);
  return found;
}

/** The aliases whose `user_id` a condition of the level equates: with anything, and with what is no column. */
function boundAliases(level: Level): { any: Set<string>; single: Set<string> } {
  const { fields } = level;
  const [any, single] = [new Set<string>(), new Set<string>()];
  const named = (column: string[]) =>
    column.length > 1 ? [column.at(-2) as string] : listTenants(level).map(({ alias }) => alias);
  const see = (column: string[], other: string[]) => {
    if (column.at(-1) !== "user_id") return;
    for (const alias of named(column)) {
      any.add(alias);
      if (other.length === 0) single.add(alias);
    }
  };
  const walk = (condition: Json) => {
    if (condition === null || typeof condition !== "object" || Array.isArray(condition)) return;
    const bool = condition.BoolExpr as Fields | undefined;
    if (bool?.boolop === "AND_EXPR") (bool.args as Json[]).forEach(walk);
    for (const [left, right] of equated((condition.A_Expr ?? {}) as Fields)) {
      see(getColumn(left), getColumn(right));
      see(getColumn(right), getColumn(left));
    }
  };
  walk(fields.whereClause ?? null);
  const joins = findAll([fields.fromClause ?? null, fields.usingClause ?? null], (node) => "JoinExpr" in node);
  for (const { JoinExpr: join } of joins) {
    walk((join as Fields).quals ?? null);
    const using = ((join as Fields).usingClause ?? []) as { String: { sval: string } }[];
    if (using.some(({ String: name }) => name.sval === "user_id")) see(["user_id"], ["user_id"]);
  }
  return { any, single };
}

/** What a comparison says to be equal: one pair, or those of two rows in parentheses. */
function equated({ kind, name, lexpr, rexpr }: Fields): [Json, Json][] {
  const isEquals = (name as { String: { sval: string } }[] | undefined)?.[0]?.String.sval === "=";
  if (!isEquals || (kind !== "AEXPR_OP" && kind !== "AEXPR_IN")) return [];
  const [left, right] = [getParts(lexpr ?? null), getParts(rexpr ?? null)];
  return left.map((part, place) => [part, right[place] ?? null]);
}

const getParts = (node: Json): Json[] =>
  ((node as Fields | null)?.RowExpr as { args: Json[] } | undefined)?.args ?? [node];

/** A column's name in parts; empty for what is no column. */
function getColumn(node: Json): string[] {
  const fields = ((node as Fields | null)?.ColumnRef as Fields | undefined)?.fields as
    | { String?: { sval: string } }[]
    | undefined;
  return (fields ?? []).flatMap(({ String: part }) => (part ? [part.sval] : []));
}
