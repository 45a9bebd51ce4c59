// Runs in the decoding thread, too: no database, no environment.
import { createHmac } from "node:crypto";
import { Echoes } from "#common/secrets/echoes";
import { findSecrets, type Secret } from "#common/secrets/find-secrets";
import { makePlaceholder } from "#common/secrets/kinds";
import { changeTexts, maskByContext, replaceSecrets, unescapeText } from "#common/secrets/mask";
import { listProjectSigns, type ProjectAlias } from "#lib/transcript/project";
import { isObject } from "#lib/transcript/tools/describe";

export type Ruling = { kind: string; mark: string; verdict: "mask" | "keep"; source?: string; sourceId?: string };

/**
 * `stamp` differs between policies; `key` makes the user's marks; `masks` masks all certain secrets that no ruling
 * keeps.
 */
export type MaskingPolicy = {
  stamp: string;
  key: Uint8Array;
  masks: boolean;
  rulings: readonly Ruling[];
  /** Projects that are not masked; a folder belongs to `machine`. */
  unmasked?: readonly ProjectAlias[];
  machine?: string;
};

export type MaskedTrace = {
  source: string;
  sourceId: string;
  project?: unknown;
  metadata?: unknown;
  machine?: string | null;
};

/** Otherwise nothing has to be searched. */
export const masksAny = ({ masks, rulings }: MaskingPolicy): boolean =>
  masks || rulings.some(({ verdict }) => verdict === "mask");

/** Only the trace's strongest project identifier counts. */
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

/** A mark is the same for the same secret of a user, and useless without the key. */
export const makeMark = (key: Uint8Array, value: string | Uint8Array): string =>
  createHmac("sha256", key).update(value).digest("hex").slice(0, 8);

/** A text may repeat a secret a million times. */
const maxMarks = 10_000;

type SecretVerdicts = Map<string, Ruling["verdict"]>;

type PolicyVerdicts = { everywhere: SecretVerdicts; inTraces: Map<string, SecretVerdicts> };

/** A batch may have a thousand traces, and a policy ten thousand rulings. */
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

export class Masker {
  readonly #policy: MaskingPolicy;
  readonly #masks: boolean;
  readonly #echoes = new Echoes();
  readonly #decided: PolicyVerdicts;
  readonly #own: SecretVerdicts | undefined;
  readonly #marks = new Map<string, string>();

  readonly #seen: ((kind: string, mark: string) => void) | undefined;

  /**
   * @param trace without it, rulings on single traces do not count
   * @param seen receives every possible secret, and all are masked
   */
  constructor(policy: MaskingPolicy, trace?: MaskedTrace, seen?: (kind: string, mark: string) => void) {
    this.#policy = policy;
    this.#masks = policy.masks && !(trace && isUnmasked(policy, trace));
    this.#seen = seen;
    this.#decided = readDecided(policy);
    this.#own = trace && this.#decided.inTraces.get(makeKey(trace));
  }

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

  /** A value that only its context identified may occur elsewhere. */
  get hasEchoes(): boolean {
    return this.#echoes.areSome;
  }

  withoutEchoes<T>(value: T): T {
    return this.#echoes.without(value);
  }

  wouldMask(text: string): boolean {
    return findSecrets(text).some((secret) => this.#isMasked(secret, text.slice(secret.start, secret.end)));
  }

  value<T>(value: T): T {
    const find = (json: string) =>
      findSecrets(json).filter((secret) => this.#isMasked(secret, unescapeText(json.slice(secret.start, secret.end))));
    return maskByContext(
      changeTexts(value, (text) => this.text(text)),
      find,
      this.#replace,
    );
  }

  mark(value: string): string {
    const known = this.#marks.get(value);
    if (known !== undefined) return known;
    const mark = makeMark(this.#policy.key, value);
    if (this.#marks.size < maxMarks) this.#marks.set(value, mark);
    return mark;
  }

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
