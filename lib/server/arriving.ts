import type { IncomingMessage } from "node:http";

/**
 * Requests whose bodies have not come whole. Next holds what has arrived of each, so there are only so many: one more ends the oldest of
 * the network that has the most.
 */
export class Arriving {
  readonly #max: number;
  readonly #networks = new Map<IncomingMessage, string>();

  constructor(max: number) {
    this.#max = max;
  }

  enter(request: IncomingMessage, network: string): void {
    if (this.#networks.size >= this.#max) this.#makeRoom();
    this.#networks.set(request, network);
    request.once("close", () => this.#networks.delete(request));
  }

  #makeRoom(): void {
    for (const request of this.#networks.keys()) if (request.complete) this.#networks.delete(request);
    if (this.#networks.size < this.#max) return;
    const byNetwork = Map.groupBy(this.#networks.keys(), (request) => this.#networks.get(request));
    const [most] = [...byNetwork.values()].sort((a, b) => b.length - a.length);
    const [oldest] = most ?? [];
    if (!oldest) return;
    this.#networks.delete(oldest);
    oldest.destroy();
  }
}
