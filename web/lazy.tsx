import type { ComponentChildren, ComponentType } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

/** When the page has been drawn. */
const SOON_MS = 500;

/**
 * A part of the page that is large, and loaded when it is shown first; `of` are its props, and `fallback` is shown until then. What `preact/compat` has for this
 * brings five kilobytes with it. With `isSoon` it is loaded soon after the page in any case: a page that stays open has it, whatever becomes of its board.
 */
export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
  isSoon = false,
): ComponentType<{ readonly of: P; readonly fallback: ComponentChildren }> {
  let loaded: ComponentType<P> | undefined;
  const ignored = (): void => undefined;
  // What fails now is tried again when it is shown.
  if (isSoon) setTimeout(() => void load().then((part) => (loaded = part), ignored), SOON_MS);
  return function Lazy({ of: props, fallback }) {
    const [isFailed, setIsFailed] = useState<boolean>();
    useLayoutEffect(() => {
      if (loaded !== undefined) return;
      const show = (part: ComponentType<P>): void => {
        loaded = part;
        setIsFailed(false);
      };
      load().then(show, () => setIsFailed(true));
    }, []);
    if (isFailed === true)
      return <p class="error">This part of the page could not be loaded. Load the page again.</p>;
    const Part = loaded;
    return Part === undefined ? <>{fallback}</> : <Part {...props} />;
  };
}
