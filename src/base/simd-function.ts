/** A function that works on sixteen bytes at once, and the memory that it sees. */
export interface SimdFunction {
  readonly memory: ArrayBuffer;
  /** Its arguments and result are as its text (`.wat`) says; addresses are offsets in `memory`. */
  readonly call: (...numbers: number[]) => number;
}

/** The size of a page of WebAssembly memory. */
const PAGE_BYTES = 65_536;
export const SIMD_BYTES = 16;

/**
 * The function of an assembled module, with memory of its own. `module` is its bytes in base64. Undefined where the processor
 * has no such instructions, or no address space for the memory can be had.
 */
export function simdFunction(module: string, memoryBytes: number): SimdFunction | undefined {
  const bytes = Buffer.from(module, 'base64');
  if (!WebAssembly.validate(bytes)) return undefined;
  const pages = Math.max(1, Math.ceil(memoryBytes / PAGE_BYTES));
  let memory: WebAssembly.Memory;
  try {
    memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  } catch (fault) {
    if (fault instanceof RangeError) return undefined;
    throw fault;
  }
  const { f: call } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { m: { m: memory } }).exports;
  if (call === undefined) throw new Error('An assembled module exports no function.');
  return { memory: memory.buffer, call };
}
