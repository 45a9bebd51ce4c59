import { maxPictureBytes, type Picture } from "../adapters/pictures.ts";
import { type Api, HttpError } from "../server/api.ts";

const MiB = 1024 * 1024;
/** The server is asked about this many pictures, or bytes, together. */
const [maxAsked, maxAskedBytes] = [500, 8 * MiB];
const maxBytesInMemory = 16 * MiB;
const maxConcurrentUploads = 4;
/** Statuses that concern one picture and not the account. */
const refusals = new Set([400, 413, 415]);

/** A hash that only tests whether the server answers. */
const noPicture = "0".repeat(64);

export type SentPictures = { pictures: number; pictureBytes: number; refusedPictures: number };

/** Memory is bounded if the caller awaits `waitForCapacity` between pictures. */
export class PictureSender {
  readonly #api: Api;
  #waiting: Picture[] = [];
  #waitingBytes = 0;
  #bytesInMemory = 0;
  readonly #taken = new Set<string>();
  #work: Promise<void> = Promise.resolve();
  #hasAsked = false;
  #isKnown = true;
  sent: SentPictures = { pictures: 0, pictureBytes: 0, refusedPictures: 0 };

  constructor(api: Api) {
    this.#api = api;
  }

  /** Starts a run: earlier pictures may have been deleted on the server. */
  begin(): void {
    this.#taken.clear();
    this.sent = { pictures: 0, pictureBytes: 0, refusedPictures: 0 };
  }

  add(picture: Picture): void {
    if (!this.#isKnown || this.#taken.has(picture.sha256)) return;
    this.#taken.add(picture.sha256);
    this.#waiting.push(picture);
    this.#waitingBytes += picture.bytes;
    this.#bytesInMemory += picture.bytes;
    if (this.#waiting.length >= maxAsked || this.#waitingBytes >= maxAskedBytes) this.#start();
  }

  async waitForCapacity(): Promise<void> {
    if (this.#bytesInMemory > maxBytesInMemory) await this.flush();
  }

  async isTaking(): Promise<boolean> {
    await this.flush();
    if (!this.#hasAsked) await this.#ask([]);
    return this.#isKnown;
  }

  flush(): Promise<void> {
    this.#start();
    return this.#work;
  }

  #start(): void {
    const group = this.#waiting;
    if (group.length === 0) return;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#work = this.#work.then(() => this.#send(group));
    this.#work.catch(() => {});
  }

  async #send(group: Picture[]): Promise<void> {
    try {
      const missing = this.#isKnown ? await this.#ask(group) : [];
      const rest = missing[Symbol.iterator]();
      const sendNext = async () => {
        for (const picture of rest) await this.#sendOne(picture);
      };
      await Promise.all(Array.from({ length: maxConcurrentUploads }, sendNext));
    } finally {
      for (const { bytes } of group) this.#bytesInMemory -= bytes;
    }
  }

  async #ask(group: Picture[]): Promise<Picture[]> {
    const json = { hashes: group.length > 0 ? group.map(({ sha256 }) => sha256) : [noPicture] };
    try {
      const { body } = await this.#api.request("/api/pictures/missing", { method: "POST", json });
      const missing = new Set(Array.isArray(body.missing) ? body.missing : []);
      const maxBytes = typeof body.maxBytes === "number" ? body.maxBytes : maxPictureBytes;
      return group.filter(({ sha256, bytes }) => missing.has(sha256) && bytes <= maxBytes);
    } catch (error) {
      if (!(error instanceof HttpError) || error.status !== 404) throw error;
      this.#isKnown = false;
      return [];
    } finally {
      this.#hasAsked = true;
    }
  }

  async #sendOne({ sha256, mediaType, bytes, data }: Picture): Promise<void> {
    try {
      const { status } = await this.#api.request(`/api/pictures/${sha256}`, {
        method: "PUT",
        body: { bytes: data, encoding: "identity" },
        headers: { "Content-Type": mediaType },
      });
      if (status !== 201) return;
      this.sent.pictures++;
      this.sent.pictureBytes += bytes;
    } catch (error) {
      if (!(error instanceof HttpError) || !refusals.has(error.status)) throw error;
      this.sent.refusedPictures++;
    }
  }
}
