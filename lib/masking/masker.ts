// Runs in the decoding thread, too: no database, no environment.
import { createHmac } from "node:crypto";
import { listProjectSigns, type ProjectAlias } from "#lib/reader/project";
import { isObject } from "#lib/reader/tools/describe";
import { Echoes } from "#lib/secrets/echoes";
import { findSecrets, type Secret } from "#lib/secrets/find-secrets";
import { makePlaceholder } from "#lib/secrets/kinds";
import { changeTexts, maskByContext, replaceSecrets, unescapeText } from "#lib/secrets/mask";

/** What its user decided of one secret: `mask` or `keep`; in one trace where it has a key, otherwise everywhere. */
export type Ruling = { kind: string; mark: string; verdict: "mask" | "keep"; source?: string; sourceId?: string };

/**
 * What is masked in a user's sessions. `stamp` tells one policy from another; `key` makes the marks of the user's secrets.
 * `masks` is whether all that is certain to be a secret is masked, unless a ruling says otherwise.
 */
export type MaskingPolicy = {
  stamp: string;
  key: Uint8Array;
  masks: boolean;
  rulings: readonly Ruling[];
  /** What the projects are known by in whose sessions it does not; a folder is one of `machine`, which sends them. */
  unmasked?: readonly ProjectAlias[];
  machine?: string;
};

/** A trace that is masked: its key, and what tells its project. */
export type MaskedTrace = {
  source: string;
  sourceId: string;
  project?: unknown;
  metadata?: unknown;
  machine?: string | null;
};

/** Whether something may be masked by a policy at all: otherwise nothing need be looked for. */
export const masksAny = ({ masks, rulings }: MaskingPolicy): boolean =>
  masks || rulings.some(({ verdict }) => verdict === "mask");

/** Whether a trace is of a project in whose sessions nothing is masked: the strongest of what tells its project has to say so. */
function isUnmasked({ unmasked = [], machine }: MaskingPolicy, trace: MaskedTrace): boolean {
  if (unmasked.length === 0) return false;
  const [sign] = listProjectSigns({
    project: typeof trace.project === "string" ? trace.project : null,
    machine: trace.machine ?? machine ?? null,
    metadata: isObject(trace.metadata) ? trace.metadata : null,
  });
  return unmasked.some(
    ({ kind, machine, value }) =>
      kind === sign?.kind && machine === sign.machine && (value === sign.value || value === sign.former),
  );
}

/** A secret's eight hexadecimal digits: the same for the same secret of a user, and not to be searched for without the key. */
export const makeMark = (key: Uint8Array, value: string | Uint8Array): string =>
  createHmac("sha256", key).update(value).digest("hex").slice(0, 8);

/** So many marks are kept: a text that repeats a secret a million times has it hashed once. */
const maxMarks = 10_000;

type SecretVerdicts = Map<string, Ruling["verdict"]>;

/** The verdicts of a policy: everywhere, and by trace. */
type PolicyVerdicts = { everywhere: SecretVerdicts; inTraces: Map<string, SecretVerdicts> };

/** Verdicts by policy, made once: a batch may have a thousand traces, and a policy ten thousand rulings. */
const decidedByPolicy = new WeakMap<MaskingPolicy, PolicyVerdicts>();

function readDecided(policy: MaskingPolicy): PolicyVerdicts {
  const known = decidedByPolicy.get(policy);
  if (known) return known;
  const decided: PolicyVerdicts = { everywhere: new Map(), inTraces: new Map() };
  for (const { kind, mark, verdict, source, sourceId } of policy.rulings) {
    const key = sourceId === undefined ? undefined : makeKey({ source, sourceId });
    const own = key === undefined ? decided.everywhere : (decided.inTraces.get(key) ?? new Map());
    if (key !== undefined) decided.inTraces.set(key, own);
    own.set(`${kind}:${mark}`, verdict);
  }
  decidedByPolicy.set(policy, decided);
  return decided;
}

const makeKey = ({ source, sourceId }: { source?: string | undefined; sourceId: string }): string =>
  JSON.stringify([source, sourceId]);

/** Masks the texts of one trace by its user's policy. */
export class Masker {
  readonly #policy: MaskingPolicy;
  readonly #masks: boolean;
  readonly #echoes = new Echoes();
  readonly #decided: PolicyVerdicts;
  readonly #own: SecretVerdicts | undefined;
  readonly #marks = new Map<string, string>();

  readonly #seen: ((kind: string, mark: string) => void) | undefined;

  /**
   * @param trace its key; without it what was decided for single traces does not count.
   * @param seen where it is given, everything that may be a secret is masked, and told.
   */
  constructor(policy: MaskingPolicy, trace?: MaskedTrace, seen?: (kind: string, mark: string) => void) {
    this.#policy = policy;
    this.#masks = policy.masks && !(trace && isUnmasked(policy, trace));
    this.#seen = seen;
    this.#decided = readDecided(policy);
    this.#own = trace && this.#decided.inTraces.get(makeKey(trace));
  }

  /** The text with what is to be masked replaced by `[redacted:KIND:xxxxxxxx]`. */
  text(text: string): string {
    const found = findSecrets(text).filter((secret) => this.#isMasked(secret, text.slice(secret.start, secret.end)));
    return replaceSecrets(text, found, this.#replace);
  }

  readonly #replace = (kind: string, value: string): string => {
    const mark = this.mark(value);
    this.#seen?.(kind, mark);
    const placeholder = makePlaceholder(kind, mark);
    this.#echoes.see(kind, value, placeholder);
    return placeholder;
  };

  /** Whether values were masked so far that may stand elsewhere in their trace, where they can't be told from other words. */
  get hasEchoes(): boolean {
    return this.#echoes.areSome;
  }

  /** A value of JSON without what was masked so far anywhere in its trace. */
  withoutEchoes<T>(value: T): T {
    return this.#echoes.without(value);
  }

  /** Whether `text` would change a text. */
  wouldMask(text: string): boolean {
    return findSecrets(text).some((secret) => this.#isMasked(secret, text.slice(secret.start, secret.end)));
  }

  /** A value of JSON with all its texts and names masked, and what only stands beside them tells to be a secret. */
  value<T>(value: T): T {
    const find = (json: string) =>
      findSecrets(json).filter((secret) => this.#isMasked(secret, unescapeText(json.slice(secret.start, secret.end))));
    return maskByContext(
      changeTexts(value, (text) => this.text(text)),
      find,
      this.#replace,
    );
  }

  /** A secret's mark. */
  mark(value: string): string {
    const known = this.#marks.get(value);
    if (known !== undefined) return known;
    const mark = makeMark(this.#policy.key, value);
    if (this.#marks.size < maxMarks) this.#marks.set(value, mark);
    return mark;
  }

  /** Whether single secrets were decided of, by their values. */
  get #hasVerdicts(): boolean {
    return this.#decided.everywhere.size > 0 || this.#own !== undefined;
  }

  #isMasked({ kind, certain }: Secret, value: string): boolean {
    const byDefault = this.#seen !== undefined || (certain && this.#masks);
    if (!this.#hasVerdicts) return byDefault;
    const id = `${kind}:${this.mark(value)}`;
    const verdict = this.#own?.get(id) ?? this.#decided.everywhere.get(id);
    return verdict === undefined ? byDefault : verdict === "mask";
  }
}
