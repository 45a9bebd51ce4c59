import { maxPictureBytes, type Picture } from "../adapters/pictures.ts";
import { type Api, HttpError } from "../server/api.ts";

const MiB = 1024 * 1024;
/** Pictures are asked about together, once there are so many or they have so many bytes. */
const [maxAsked, maxAskedBytes] = [500, 8 * MiB];
/** Of pictures that wait to be sent. */
const maxHeldBytes = 16 * MiB;
const maxConcurrentUploads = 4;
/** What the server answers about one picture, and not about what is sent to it. */
const refusals = new Set([400, 413, 415]);

/** A hash to ask about where it only matters whether the server answers. */
const noPicture = "0".repeat(64);

/** Pictures that were sent, and those that the server had; and those that it refused. */
export type SentPictures = { pictures: number; pictureBytes: number; refusedPictures: number };

/**
 * Sends the pictures that the server has not got: it is asked by their hashes, once a run. A server that knows no pictures gets none.
 * Its memory is bounded where `waitForCapacity` is awaited between pictures.
 */
export class PictureSender {
  readonly #api: Api;
  #waiting: Picture[] = [];
  #waitingBytes = 0;
  #heldBytes = 0;
  /** Those that were taken in this run. */
  readonly #taken = new Set<string>();
  #work: Promise<void> = Promise.resolve();
  #hasAsked = false;
  #isKnown = true;
  sent: SentPictures = { pictures: 0, pictureBytes: 0, refusedPictures: 0 };

  constructor(api: Api) {
    this.#api = api;
  }

  /** Begins a run: what the server had until now may be deleted by now. */
  begin(): void {
    this.#taken.clear();
    this.sent = { pictures: 0, pictureBytes: 0, refusedPictures: 0 };
  }

  add(picture: Picture): void {
    if (!this.#isKnown || this.#taken.has(picture.sha256)) return;
    this.#taken.add(picture.sha256);
    this.#waiting.push(picture);
    this.#waitingBytes += picture.bytes;
    this.#heldBytes += picture.bytes;
    if (this.#waiting.length >= maxAsked || this.#waitingBytes >= maxAskedBytes) this.#start();
  }

  /** Waits until more may be added. @throws where sending has failed permanently */
  async waitForCapacity(): Promise<void> {
    if (this.#heldBytes > maxHeldBytes) await this.flush();
  }

  /** Whether the server takes pictures. @throws as `flush` */
  async isTaking(): Promise<boolean> {
    await this.flush();
    if (!this.#hasAsked) await this.#ask([]);
    return this.#isKnown;
  }

  /** Waits until all that were added are stored, or refused. @throws where sending has failed permanently */
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
    this.#work.catch(() => {}); // `flush` throws it
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
      for (const { bytes } of group) this.#heldBytes -= bytes;
    }
  }

  /** Those that the server has not got, and would take. */
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
