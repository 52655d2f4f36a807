/** Who gets what a process prints on one of its outputs. */
export interface OutputTaker {
  /** Gets bytes, valid until it returns. False stops the source until it is resumed. */
  readonly take: (bytes: Buffer) => boolean;
  /** Told once: after the last byte, when nobody holds the other side any more, or the source was closed. */
  readonly closed: () => void;
}

/** One output of a process, which is being read. */
export interface OutputSource {
  resume(): void;
  /** Lets go of it; what is printed from then on meets a closed pipe. */
  close(): void;
}

/** Begins to read; the first bytes come later, never before it returns. */
export type OpenSource = (taker: OutputTaker) => OutputSource;
