/** What `make` gives, made once when first asked for. What it throws, all that wait get; the next one tries again. */
export function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let making: Promise<T> | undefined;
  return () => {
    making ??= make().catch((error: unknown) => {
      // A full or missing disk may be mended meanwhile.
      making = undefined;
      throw error;
    });
    return making;
  };
}
