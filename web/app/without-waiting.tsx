import { createElement, type ComponentChildren, type ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** A part of the page that the page holds itself: it is there a moment later. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;
  return function Loaded(props: Props) {
    const [part, setPart] = useState(() => loaded);
    useEffect(() => {
      if (part !== undefined) return;
      void load().then((found) => {
        loaded = found;
        setPart(() => found);
      });
    }, []);
    return part === undefined ? null : createElement(part, props);
  };
}

/** Nothing in it is waited for. */
export function Suspense({ children }: { readonly children: ComponentChildren }) {
  return <>{children}</>;
}
