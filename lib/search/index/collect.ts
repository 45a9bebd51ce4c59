import { randomInt } from "node:crypto";
import { makePosting, maxDocuments, type Postings, sort } from "#lib/search/index/posting";
import { type Described, describe, type Spoken } from "#lib/search/index/speaker";
import { beginScan, composed, type Field, hashFact, inField, scanTerms, type Visit } from "#lib/search/index/terms";
import { Vocabulary } from "#lib/search/index/vocabulary";

/** Without a random seed, an 8 MB text could be made to collide and take minutes. */
const secret = randomInt(2 ** 31) * 2 + 1;

/** A `Set` would allocate an object for each 40-bit number. */
class TermSet {
  private places = new Float64Array(2 ** 13);
  size = 0;

  add(term: number): boolean {
    const mask = this.places.length - 1;
    let at = Math.imul(term, secret) >>> Math.clz32(mask);
    for (let found = this.places[at]; found !== 0; found = this.places[at]) {
      if (found === term) return false;
      at = (at + 1) & mask;
    }
    this.places[at] = term;
    this.size += 1;
    if (this.size * 2 > this.places.length) this.grow();
    return true;
  }

  drain(target: Postings, from: number, slot: number): number {
    let at = from;
    for (const term of this.places) if (term !== 0) target[at++] = makePosting(term, slot);
    if (this.places.length > 2 ** 16) this.places = new Float64Array(2 ** 13);
    else this.places.fill(0);
    this.size = 0;
    return at;
  }

  private grow(): void {
    const old = this.places;
    this.places = new Float64Array(old.length * 4);
    this.size = 0;
    for (const term of old) if (term !== 0) this.add(term);
  }
}

export type Document = { traceId: string; firstPosition: number; slot: number };

export type Draft = { documents: Document[]; postings: Postings; vocabulary: Vocabulary };

/** Bounds how much text a search reads for one hit. */
const maxMessages = 2000;
const maxCharacters = 2 ** 21;
/** 16 MiB in memory. */
const maxPostings = 2 ** 21;

/** About 10 ms if every word is new. */
const stepCharacters = 2 ** 15;

const nobody = { role: null, metadata: null };

/** Run by eachInSlices (lib/core/concurrency/slices.ts). */
type Steps = Generator<undefined, void>;

/** Only one draft is in memory, however long a trace is. */
export class Collector {
  private documents: Document[] = [];
  private postings = new Float64Array(2 ** 16);
  private count = 0;
  private open: { document: Document; messages: number; characters: number } | undefined;
  private readonly terms = new TermSet();
  private vocabulary = new Vocabulary();
  private full: Draft[] = [];

  private readonly most: number;

  constructor(most: number = maxPostings) {
    this.most = most;
  }

  *begin(traceId: string, title: string | null, texts: string[]): Steps {
    this.startDocument(traceId, 0);
    if (title) yield* this.addText(title, "title");
    for (const text of texts) yield* this.addText(text, "any");
  }

  /** Messages must come in order of position. */
  *add(traceId: string, position: number, content: string, said: Omit<Spoken, "content"> = nobody): Steps {
    const { messages, characters } = this.open ?? { messages: 0, characters: 0 };
    if (messages >= maxMessages || characters >= maxCharacters) this.startDocument(traceId, position);
    if (!this.open) throw new Error("a message was added before its trace was begun");
    this.open.messages += 1;
    this.open.characters += content.length;
    const { speaker, facts, isEcho }: Described = describe({ ...said, content });
    if (!isEcho) yield* this.addText(content, speaker === "person" ? "person" : "any");
    for (const fact of facts) this.terms.add(hashFact(fact));
  }

  takeFull(): Draft[] {
    const full = this.full;
    this.full = [];
    return full;
  }

  finish(): Draft[] {
    this.endDocument();
    this.endDraft();
    return this.takeFull();
  }

  private *addText(text: string, field: Field): Steps {
    const whole = composed(text);
    const add: Visit = (term, start, end) => {
      const isNew = this.terms.add(term);
      if (isNew && start !== undefined && end !== undefined) this.vocabulary.add(term, whole, start, end);
      if (field !== "any") this.terms.add(inField(term, field));
    };
    for (const scan = beginScan(); scan.at < whole.length; yield)
      scanTerms(whole, scan, Math.min(whole.length, scan.at + stepCharacters), add);
  }

  private startDocument(traceId: string, firstPosition: number): void {
    this.endDocument();
    if (this.documents.length === maxDocuments || this.count >= this.most) this.endDraft();
    const document = { traceId, firstPosition, slot: this.documents.length };
    this.open = { document, messages: 0, characters: 0 };
  }

  private endDocument(): void {
    if (!this.open) return;
    const { document } = this.open;
    this.reserve(this.terms.size);
    this.count = this.terms.drain(this.postings, this.count, document.slot);
    this.documents.push(document);
    this.open = undefined;
  }

  private endDraft(): void {
    if (this.documents.length === 0) return;
    const postings = sort(this.postings.subarray(0, this.count));
    this.full.push({ documents: this.documents, postings, vocabulary: this.vocabulary });
    this.documents = [];
    this.vocabulary = new Vocabulary();
    this.count = 0;
  }

  private reserve(more: number): void {
    if (this.count + more <= this.postings.length) return;
    const larger = new Float64Array(Math.max(this.count + more, this.postings.length * 2));
    larger.set(this.postings.subarray(0, this.count));
    this.postings = larger;
  }
}
