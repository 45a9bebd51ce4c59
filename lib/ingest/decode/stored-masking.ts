import { type MaskedTrace, Masker, type MaskingPolicy } from "#lib/masking/masker";

export type StoredMessage = { position: number; content: string; metadata: string | null };

export type Masking = { policy: MaskingPolicy; trace: MaskedTrace };

export type MaskingOperations = {
  mask(input: { begun?: Masking; messages: StoredMessage[] }): MaskedMessages;
  maskTexts(texts: Record<string, unknown>): MaskedTexts;
};

type MaskedMessages = { changed: StoredMessage[]; moreBytes: number };

/** `hasEchoes` means that messages may repeat what was masked. */
type MaskedTexts = { texts: Record<string, unknown>; isChanged: boolean; hasEchoes: boolean };

class StoredMasking {
  readonly #masker: Masker;

  constructor({ policy, trace }: Masking) {
    this.#masker = new Masker(policy, trace);
  }

  messages(messages: StoredMessage[]): MaskedMessages {
    const sums: MaskedMessages = { changed: [], moreBytes: 0 };
    for (const message of messages) {
      const masked = this.#message(message);
      if (!masked) continue;
      sums.changed.push(masked);
      sums.moreBytes += countBytes(masked) - countBytes(message);
    }
    return sums;
  }

  texts(texts: Record<string, unknown>): MaskedTexts {
    const masked = this.#masker.withoutEchoes(this.#masker.value(texts));
    const isChanged = JSON.stringify(masked) !== JSON.stringify(texts);
    return { texts: masked, isChanged, hasEchoes: this.#masker.hasEchoes };
  }

  #message({ position, content, metadata }: StoredMessage): StoredMessage | undefined {
    const before = metadata === null ? null : JSON.parse(metadata);
    const masked = this.#masker.withoutEchoes({
      content: this.#masker.text(content),
      metadata: this.#masker.value(before),
    });
    const json = masked.metadata === null ? null : JSON.stringify(masked.metadata);
    const isSame = masked.content === content && (json === null || json === JSON.stringify(before));
    return isSame ? undefined : { position, content: masked.content, metadata: json };
  }
}

const countBytes = ({ content, metadata }: StoredMessage): number =>
  Buffer.byteLength(content) + Buffer.byteLength(metadata ?? "");

export function makeMasking(): MaskingOperations & { endMasking: () => void } {
  let masking: StoredMasking | undefined;
  const begun = () => {
    if (!masking) throw new Error("no trace is being masked");
    return masking;
  };
  return {
    mask({ begun: next, messages }) {
      if (next) masking = new StoredMasking(next);
      return begun().messages(messages);
    },
    maskTexts: (texts) => begun().texts(texts),
    endMasking() {
      masking = undefined;
    },
  };
}
