/** Of one message to the board. */
const MAX_BYTES = 32 * 1024;

/** Sends what is typed in its order, one message at a time; what is typed meanwhile is sent together. */
export class TypedKeys {
  readonly #send: (keys: Buffer) => Promise<void>;
  #waiting = Buffer.alloc(0);
  #isSending = false;

  /** `send` never rejects. */
  constructor(send: (keys: Buffer) => Promise<void>) {
    this.#send = send;
  }

  type(text: string): void {
    this.#waiting = Buffer.concat([this.#waiting, Buffer.from(text)]);
    if (!this.#isSending) void this.#sendAll();
  }

  /** What waits is never sent. */
  drop(): void {
    this.#waiting = Buffer.alloc(0);
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    while (this.#waiting.length > 0) {
      const keys = this.#waiting.subarray(0, MAX_BYTES);
      this.#waiting = this.#waiting.subarray(keys.length);
      await this.#send(keys);
    }
    this.#isSending = false;
  }
}
