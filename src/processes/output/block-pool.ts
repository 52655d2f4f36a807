/** What goes to a file with one write: enough to spread what each write costs. */
export const BLOCK_BYTES = 256 * 1024;
/** Blocks that wait to be used again; a flood of one process uses two at a time. */
const SPARE_BLOCKS = 8;

/** Blocks of memory that are used again, by all processes of a server: output makes no garbage, and idle ones hold none. */
export class BlockPool {
  readonly #spare: Buffer[] = [];

  take(): Buffer {
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
  }

  give(block: Buffer): void {
    if (block.length === BLOCK_BYTES && this.#spare.length < SPARE_BLOCKS) this.#spare.push(block);
  }
}
