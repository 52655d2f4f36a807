import { createContext, type ComponentChildren, type ComponentType } from 'preact';
import { useContext, useLayoutEffect, useState } from 'preact/hooks';

const Fallback = createContext<ComponentChildren>(null);

/** Shows `fallback` until its parts are loaded. */
export function Suspense({
  fallback,
  children,
}: {
  readonly fallback: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  return <Fallback.Provider value={fallback}>{children}</Fallback.Provider>;
}

/** A part of the page that is loaded when it is shown first. What `preact/compat` has of this name brings five kilobytes with it. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | undefined;
  return function Lazy(props: P) {
    const fallback = useContext(Fallback);
    const [isFailed, setIsFailed] = useState(false);
    const [, redraw] = useState(0);
    useLayoutEffect(() => {
      if (loaded !== undefined) return;
      load().then(
        (part) => {
          loaded = part;
          redraw(1);
        },
        () => setIsFailed(true),
      );
    }, []);
    if (isFailed) return <p class="error">This part of the page could not be loaded. Load the page again.</p>;
    const Part = loaded;
    return Part === undefined ? <>{fallback}</> : <Part {...props} />;
  };
}
