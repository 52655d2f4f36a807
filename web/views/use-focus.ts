import { useEffect, useRef } from 'preact/hooks';

/** A ref for the field of a box that opens: it takes the focus, so that no letter that is typed then is a key of the page. */
export function useFocus<T extends HTMLElement>() {
  const field = useRef<T>(null);
  useEffect(() => field.current?.focus(), []);
  return field;
}
