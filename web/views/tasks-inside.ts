import { useEffect } from 'preact/hooks';
import type { Store } from '../store.js';
import { navigateBy } from './app.js';

const TASK_LINK = /^#\/(task_[0-9a-f]{20})$/;

/** Opens tasks inside a page whose address is not its own: links to them are followed here. */
export function useTasksInside(store: Store): void {
  useEffect(() => {
    navigateBy((taskId) => store.open(taskId));
    const follow = (event: MouseEvent): void => {
      const link = event.target instanceof Element ? event.target.closest('a') : null;
      const taskId = TASK_LINK.exec(link?.getAttribute('href') ?? '')?.[1];
      if (taskId === undefined) return;
      // An editor would look for such a place in the page.
      event.stopPropagation();
      event.preventDefault();
      store.open(taskId);
    };
    addEventListener('click', follow, { capture: true });
    return () => removeEventListener('click', follow, { capture: true });
  }, [store]);
}
