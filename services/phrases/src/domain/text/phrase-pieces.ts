import type { Phrase } from "../phrase.ts";
import type { PhraseText } from "./phrase-text.ts";

/** Least characters of every piece but the last: many small pieces would make more garbage. */
const pieceCharsMin = 128 * 1024;

/**
 * The text of a dictionary in pieces of 128 Ki characters and up to one phrase more. A piece is not
 * a whole batch, because a batch of 200 of the longest phrases has 11 MB of text.
 */
export class PhrasePieces {
  readonly #text: PhraseText;
  readonly #batches: AsyncIterator<Iterable<Phrase>>;
  #batch: Iterator<Phrase> | undefined;
  #piece: string;
  #lead = "";
  #hasEnded = false;

  /** @param batches all phrases in order; a batch is fetched after the one before was written */
  constructor(text: PhraseText, batches: AsyncIterator<Iterable<Phrase>>) {
    this.#text = text;
    this.#batches = batches;
    this.#piece = text.head;
  }

  /** Whether all text was written. One more `take` may return its rest. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Writes until a piece is full or a batch has ended; fetches at most one batch. */
  async extend(): Promise<void> {
    this.#batch ??= await this.#fetch();
    if (this.#batch) this.#write(this.#batch);
    else {
      this.#piece += this.#text.tail;
      this.#hasEnded = true;
    }
  }

  /** Takes a full piece, or the rest once all text was written; undefined when there is neither. */
  take(): Buffer | undefined {
    if (this.#piece === "" || (this.#piece.length < pieceCharsMin && !this.#hasEnded)) return undefined;
    const bytes = Buffer.from(this.#piece);
    this.#piece = "";
    return bytes;
  }

  async #fetch(): Promise<Iterator<Phrase> | undefined> {
    const { done, value } = await this.#batches.next();
    return done ? undefined : value[Symbol.iterator]();
  }

  #write(batch: Iterator<Phrase>): void {
    while (this.#piece.length < pieceCharsMin) {
      const { done, value: phrase } = batch.next();
      if (done) {
        this.#batch = undefined;
        return;
      }
      this.#piece += this.#lead + this.#text.write(phrase);
      this.#lead = this.#text.separator;
    }
  }
}
