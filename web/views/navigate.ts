import { useEffect } from 'preact/hooks';
import { ANY_TASK_ID_PATTERN } from '../../src/base/ids.js';

/** The id in the address of a task; undefined for another address. */
export function taskInLink(address: string): string | undefined {
  const [, taskId = ''] = address.split(/^#\//);
  return ANY_TASK_ID_PATTERN.test(taskId) ? taskId : undefined;
}

let navigate = (taskId: string | undefined): void => {
  location.hash = taskId === undefined ? '#/' : `#/${taskId}`;
};

/** Opens tasks in another way, where the page has no address of its own. */
export function navigateBy(open: (taskId: string | undefined) => void): void {
  navigate = open;
}

export function openTaskPage(taskId: string | undefined): void {
  navigate(taskId);
}

/** The address of the form for a new task. */
export const NEW_TASK = '#/new';

export function openNewTask(): void {
  location.hash = NEW_TASK;
}

/** Follows links to tasks by `open`, where the address of the page is not its own. */
export function useTaskLinks(open: (taskId: string) => void): void {
  useEffect(() => {
    const follow = (event: MouseEvent): void => {
      const link = event.target instanceof Element ? event.target.closest('a') : null;
      const taskId = taskInLink(link?.getAttribute('href') ?? '');
      if (taskId === undefined) return;
      // An editor would look for such a place in the page.
      event.stopPropagation();
      event.preventDefault();
      open(taskId);
    };
    addEventListener('click', follow, { capture: true });
    return () => removeEventListener('click', follow, { capture: true });
  }, []);
}
