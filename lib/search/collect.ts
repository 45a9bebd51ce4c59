import { randomInt } from "node:crypto";
import { maxDocuments, type Postings, postingOf, sort } from "#lib/search/block";
import { composed, forEachTerm } from "#lib/search/terms";

/** Seeds the places of terms: a text of 8 MB made to collide in them would take minutes to collect. */
const secret = randomInt(2 ** 31) * 2 + 1;

/**
 * A set of terms above 0, by open addressing: JavaScript's own set allocates an object for each number of 40 bits. One is used
 * for all documents and keeps its memory.
 */
class TermSet {
  private places = new Float64Array(2 ** 13);
  size = 0;

  add(term: number): void {
    const mask = this.places.length - 1;
    let at = Math.imul(term, secret) >>> Math.clz32(mask);
    for (let found = this.places[at]; found !== 0; found = this.places[at]) {
      if (found === term) return;
      at = (at + 1) & mask;
    }
    this.places[at] = term;
    this.size += 1;
    if (this.size * 2 > this.places.length) this.grow();
  }

  /** Writes a posting of each term to `target` from an index on, and empties the set. @returns the index after them */
  drain(target: Postings, from: number, slot: number): number {
    let at = from;
    for (const term of this.places) if (term !== 0) target[at++] = postingOf(term, slot);
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

/** A part of a trace as the index knows it: its messages from a position on. */
export type Document = { traceId: string; firstPosition: number; slot: number };

/** The content of a block to be written. */
export type Draft = { documents: Document[]; postings: Postings };

/** Bounds of a document, so that no search reads much text for one hit. */
const maxMessages = 2000;
const maxCharacters = 2 ** 21;
/** Bounds of a draft: 16 MiB of postings in memory. */
const maxPostings = 2 ** 21;

/** Collects the terms of traces into drafts of blocks, one trace after the other. */
export class Collector {
  readonly drafts: Draft[] = [];
  private documents: Document[] = [];
  private postings = new Float64Array(2 ** 16);
  private count = 0;
  private open: { document: Document; messages: number; characters: number } | undefined;
  private readonly terms = new TermSet();
  private readonly addTerm = (term: number) => this.terms.add(term);

  /** Begins a trace with the searchable texts beside its messages. */
  begin(traceId: string, texts: string[]): void {
    this.startDocument(traceId, 0);
    for (const text of texts) forEachTerm(composed(text), this.addTerm);
  }

  /** Adds a message, in the order of positions, to the trace that was begun last. */
  add(traceId: string, position: number, content: string): void {
    const { messages, characters } = this.open ?? { messages: 0, characters: 0 };
    if (messages >= maxMessages || characters >= maxCharacters) this.startDocument(traceId, position);
    if (!this.open) throw new Error("a message was added before its trace was begun");
    this.open.messages += 1;
    this.open.characters += content.length;
    forEachTerm(composed(content), this.addTerm);
  }

  /** Ends the last trace. @returns the drafts of all */
  finish(): Draft[] {
    this.endDocument();
    this.endDraft();
    return this.drafts;
  }

  private startDocument(traceId: string, firstPosition: number): void {
    this.endDocument();
    if (this.documents.length === maxDocuments || this.count >= maxPostings) this.endDraft();
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
    this.drafts.push({ documents: this.documents, postings: sort(this.postings.subarray(0, this.count)) });
    this.documents = [];
    this.count = 0;
  }

  private reserve(more: number): void {
    if (this.count + more <= this.postings.length) return;
    const larger = new Float64Array(Math.max(this.count + more, this.postings.length * 2));
    larger.set(this.postings.subarray(0, this.count));
    this.postings = larger;
  }
}
