// Links sub-agents, forks and continued sessions to the session that they came from (docs/decisions/0044).
import "server-only";
import type { PoolClient } from "pg";
import { joinColumns } from "#lib/ledger/columns";
import {
  chooseParent,
  getTraceKey,
  isAgentsFile,
  later,
  listAncestors,
  maxDepth,
  type Named,
  namedParent,
  type Relation,
  readLineSession,
  sessionIn,
  startedSession,
} from "#lib/ledger/kinship";
import type { ColumnsByTrace, Finding, LedgerPart } from "#lib/ledger/part";
import {
  clearDeleted,
  findAwaiting,
  findByKey,
  findChildren,
  findContinued,
  findMoved,
  findStarts,
  type LatestActivity,
  raiseLatest,
  readLatestBelow,
  readLatestWithout,
  readRelatives,
  type StoredRelative,
} from "#lib/ledger/sql/parents";

type FoundParents = {
  named: Named | undefined;
  continuedIn: string | undefined;
  starts: Map<string, number>;
};

type ParentFinding = Finding<FoundParents>;

type Link = { relation: Relation | null; parentId: string | null; position: number | null };

const noLink: Link = { relation: null, parentId: null, position: null };

type KnownRelative = StoredRelative & { read?: ParentFinding };

export const parentsPart: LedgerPart<FoundParents> = {
  begin(trace) {
    const starts = new Map<string, number>();
    let named = namedParent(trace);
    const isFile = isAgentsFile(trace);
    return {
      see(message) {
        const session = startedSession(message);
        if (session && !starts.has(session)) starts.set(session, message.position);
        if (named || !isFile) return;
        const starter = readLineSession(message);
        if (starter) named = { sourceId: starter, relation: "subagent" };
      },
      found: () => ({ named, continuedIn: sessionIn(trace.metadata, "continuedIn"), starts }),
    };
  },

  async write(tx, userId, traces) {
    const family = await Family.read(tx, userId, traces);
    await family.link();
    return family.columns();
  },

  async remove(tx, userId, traceIds) {
    const children = await findChildren(tx, userId, traceIds);
    const left = await clearDeleted(tx, userId, traceIds);
    const latest = await readLatestBelow(tx, userId, left);
    const columns: ColumnsByTrace = new Map();
    for (const id of left) columns.set(id, { childrenAt: latest.get(id) ?? null });
    for (const id of children) columns.set(id, { ...columns.get(id), parentId: null, parentPosition: null });
    return columns;
  },
};

class Family {
  readonly #tx: PoolClient;
  readonly #userId: string;
  readonly #known = new Map<string, KnownRelative>();
  readonly #parents = new Map<string, { parent: KnownRelative; relation: Relation } | undefined>();
  /** Not stored yet; by key and by the key that a trace continues in. */
  readonly #readByKey = new Map<string, KnownRelative>();
  readonly #readByContinued = new Map<string, KnownRelative>();
  readonly #links = new Map<string, Link>();
  readonly #latest = new Map<string, Date>();
  #lowered = new Map<string, LatestActivity>(); // former ancestors of traces that moved

  private constructor(tx: PoolClient, userId: string) {
    this.#tx = tx;
    this.#userId = userId;
  }

  static async read(tx: PoolClient, userId: string, traces: ParentFinding[]): Promise<Family> {
    const family = new Family(tx, userId);
    const reads = new Map(traces.map((read) => [read.trace.id, read]));
    for (const stored of await readRelatives(tx, userId, [...reads.keys()])) {
      const read = reads.get(stored.id);
      if (read) family.#addRead(stored, read);
    }
    return family;
  }

  #addRead(stored: StoredRelative, read: ParentFinding): void {
    const { found, from } = read;
    // In files of an older version only the first messages, which are not read again, name the session.
    const kept = from > 0 && isAgentsFile(read.trace) ? stored.named : undefined;
    const continuedIn = found.continuedIn ?? null;
    const known: KnownRelative = { ...stored, named: found.named ?? kept, continuedIn, read };
    this.#known.set(known.id, known);
    this.#readByKey.set(getTraceKey(known), known);
    if (continuedIn !== null)
      this.#readByContinued.set(getTraceKey({ source: known.source, sourceId: continuedIn }), known);
  }

  get #reads(): (KnownRelative & { read: ParentFinding })[] {
    return [...this.#known.values()].filter(
      (one): one is KnownRelative & { read: ParentFinding } => one.read !== undefined,
    );
  }

  /** Returns one object per trace, so that what was read now is not lost. */
  #know(stored: StoredRelative): KnownRelative {
    const known = this.#known.get(stored.id) ?? stored;
    this.#known.set(stored.id, known);
    return known;
  }

  async link(): Promise<void> {
    const reads = this.#reads;
    const awaiting = await this.#findAwaiting();
    const candidates = [...reads, ...awaiting];
    await this.#findParents(candidates);
    const isRoot = new Set<string>();
    for (const one of candidates) for (const root of this.#findCycle(one)) isRoot.add(root.id);
    const moved = await findMoved(this.#tx, this.#userId, ...this.#readPlaces());
    const all = [...new Set([...candidates, ...moved.map((one) => this.#know(one))])];
    await this.#placeLinks(all, isRoot);
    for (const id of isRoot) this.#links.set(id, noLink);
    this.#lowered = await this.#readFormerAncestors();
    await this.#raiseAncestors(candidates, isRoot);
  }

  async #findAwaiting(): Promise<KnownRelative[]> {
    const reads = this.#reads;
    const next = reads.flatMap(({ source, continuedIn }) =>
      continuedIn === null ? [] : [{ source, sourceId: continuedIn }],
    );
    const found = [
      ...(await findAwaiting(this.#tx, this.#userId, reads)),
      ...(await findByKey(this.#tx, this.#userId, next)),
    ];
    return found.map((one) => this.#know(one)).filter(({ read }) => !read);
  }

  async #findParents(traces: KnownRelative[]): Promise<void> {
    let level = traces;
    for (let depth = 0; depth <= maxDepth && level.length > 0; depth += 1) {
      const open = level.filter(({ id }) => !this.#parents.has(id));
      const byKey = await this.#lookUp(open);
      const continued = await this.#lookUpContinued(open);
      for (const one of open) this.#parents.set(one.id, chooseParent(one, byKey, continued));
      level = open.flatMap((one) => this.#parents.get(one.id)?.parent ?? []);
    }
  }

  async #lookUp(traces: KnownRelative[]): Promise<Map<string, KnownRelative>> {
    const keys = traces.flatMap(({ source, named }) => (named ? [{ source, sourceId: named.sourceId }] : []));
    const unknown = new Map(
      keys.filter((key) => !this.#readByKey.has(getTraceKey(key))).map((key) => [getTraceKey(key), key]),
    );
    const found = (await findByKey(this.#tx, this.#userId, [...unknown.values()])).map((one) => this.#know(one));
    return new Map([...this.#readByKey, ...found.map((one) => [getTraceKey(one), one] as const)]);
  }

  async #lookUpContinued(traces: KnownRelative[]): Promise<Map<string, KnownRelative>> {
    const keys = traces.filter(({ named }) => named?.relation !== "subagent");
    const found = (await findContinued(this.#tx, this.#userId, keys)).map((one) => this.#know(one));
    const valid = found.filter((one) => one.continuedIn !== null);
    const entries = valid.map(
      (one) => [getTraceKey({ source: one.source, sourceId: one.continuedIn ?? "" }), one] as const,
    );
    return new Map([...entries, ...this.#readByContinued]);
  }

  readonly #findParent = (one: KnownRelative): KnownRelative | undefined => this.#parents.get(one.id)?.parent;

  #findCycle(one: KnownRelative): KnownRelative[] {
    const parent = this.#findParent(one);
    if (!parent || listAncestors(one, this.#findParent).length > 0) return [];
    const circle = [one];
    for (let at: KnownRelative | undefined = parent; at && at.id !== one.id; at = this.#findParent(at)) {
      if (circle.length > maxDepth) return [one];
      circle.push(at);
    }
    return circle;
  }

  #readPlaces(): [{ id: string; from: number }[], string[]] {
    const reads = this.#reads.map(({ id, read }) => ({ id, from: read.from, starts: read.found.starts }));
    return [reads, [...new Set(reads.flatMap(({ starts }) => [...starts.keys()]))]];
  }

  async #placeLinks(traces: KnownRelative[], isRoot: ReadonlySet<string>): Promise<void> {
    const placed = traces.map((one) => {
      const kin = isRoot.has(one.id) ? undefined : this.#findKin(one);
      return { one, kin, position: kin ? this.#positionIn(one, kin.parent) : null };
    });
    const unknown = placed.flatMap(({ kin, position }) => (kin && position === undefined ? [kin.parent.id] : []));
    const starts = await findStarts(this.#tx, this.#userId, [...new Set(unknown)]);
    for (const { one, kin, position } of placed) {
      const parentId = kin?.parent.id ?? null;
      const found = parentId === null ? null : (starts.get(parentId)?.get(one.sourceId) ?? null);
      const at = position === undefined ? found : position;
      this.#links.set(one.id, { relation: kin?.relation ?? null, parentId, position: at });
    }
  }

  #findKin(one: KnownRelative): { parent: KnownRelative; relation: Relation } | undefined {
    if (this.#parents.has(one.id)) return this.#parents.get(one.id);
    const parent = one.parentId === null ? undefined : this.#known.get(one.parentId);
    return parent && { parent, relation: one.named?.relation ?? "subagent" };
  }

  #positionIn(one: KnownRelative, { id, read }: KnownRelative): number | null | undefined {
    const start = read?.found.starts.get(one.sourceId);
    const isLinked = one.parentId === id;
    const before = isLinked ? one.parentPosition : null;
    if (before !== null && !(read && before >= read.from)) return before;
    if (start !== undefined) return start;
    return isLinked || read?.from === 0 ? null : undefined;
  }

  async #raiseAncestors(candidates: KnownRelative[], isRoot: ReadonlySet<string>): Promise<void> {
    const ids = this.#reads.map(({ id }) => id).filter((id) => !this.#lowered.has(id));
    for (const [id, at] of await readLatestBelow(this.#tx, this.#userId, ids)) this.#raise(id, at);
    for (const [id, { below }] of this.#lowered) if (below) this.#raise(id, below);
    const findLinkedParent = (one: KnownRelative) => (isRoot.has(one.id) ? undefined : this.#findParent(one));
    for (const one of candidates) {
      const { latest } = this.#lowered.get(one.id) ?? { latest: one.latestAt };
      const at = later(latest, this.#latest.get(one.id));
      if (at) for (const { id } of listAncestors(one, findLinkedParent)) this.#raise(id, at);
    }
    const others = [...this.#latest].filter(([id]) => !this.#known.get(id)?.read);
    await raiseLatest(this.#tx, this.#userId, new Map(others));
  }

  async #readFormerAncestors(): Promise<Map<string, LatestActivity>> {
    const moved = [...this.#links].flatMap(([id, { parentId }]) => {
      const former = this.#known.get(id)?.parentId ?? null;
      return former === null || former === parentId ? [] : [{ id, former }];
    });
    const [parents, ids] = [moved.map(({ former }) => former), moved.map(({ id }) => id)];
    return readLatestWithout(this.#tx, this.#userId, parents, ids);
  }

  #raise(id: string, at: Date): void {
    this.#latest.set(id, later(at, this.#latest.get(id)));
  }

  columns(): ColumnsByTrace {
    const own = this.#reads.map(({ id, named, continuedIn }) => {
      const { relation, parentId, position } = this.#links.get(id) ?? noLink;
      const columns = {
        parentSourceId: named?.sourceId ?? null,
        parentRelation: relation ?? named?.relation ?? null,
        parentId,
        parentPosition: position,
        continuedIn,
        childrenAt: this.#latest.get(id) ?? null,
      };
      return [id, columns] as const;
    });
    const others = [...this.#links].flatMap(([id, { relation, parentId, position }]) => {
      const one = this.#known.get(id);
      const parentRelation = relation ?? one?.named?.relation ?? null;
      const isSame = one?.parentId === parentId && one.parentPosition === position && !isOther(one, parentRelation);
      return !one || one.read || isSame ? [] : [[id, { parentId, parentPosition: position, parentRelation }] as const];
    });
    const lowered = [...this.#lowered.keys()].map((id) => [id, { childrenAt: this.#latest.get(id) ?? null }] as const);
    const columns: ColumnsByTrace = new Map([...own, ...others]);
    joinColumns(columns, new Map(lowered));
    return columns;
  }
}

const isOther = ({ named }: KnownRelative, relation: string | null): boolean =>
  named !== undefined && named.relation !== relation;
