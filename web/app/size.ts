/** So often a client is told of a new size at most. */
const QUIET_MS = 100;
/** In a chat the page is no higher: what is below is scrolled to. */
const MAX_HEIGHT = 720;

export interface Size {
  readonly [name: string]: number;
  readonly width: number;
  readonly height: number;
}

/** Tells how much room the page needs, when that has changed. Until the result is called. */
export function followSize(tell: (size: Size) => void): () => void {
  let last = '';
  let timer: ReturnType<typeof setTimeout> | undefined;
  const measure = (): void => {
    timer = undefined;
    const { width, height } = document.body.getBoundingClientRect();
    const size = { width: Math.ceil(width), height: Math.min(MAX_HEIGHT, Math.ceil(height)) };
    const now = `${size.width} ${size.height}`;
    if (now === last) return;
    last = now;
    tell(size);
  };
  const observer = new ResizeObserver(() => (timer ??= setTimeout(measure, QUIET_MS)));
  observer.observe(document.body);
  return () => {
    clearTimeout(timer);
    observer.disconnect();
  };
}
