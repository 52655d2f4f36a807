// Pure.
/** Calls `make` on the first call and caches its result. When it throws, all waiting callers get the error, and the next call tries again. */
export function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let making: Promise<T> | undefined;
  return () => {
    making ??= make().catch((error: unknown) => {
      // The cause (a full or missing disk) may be repaired before the next call.
      making = undefined;
      throw error;
    });
    return making;
  };
}
