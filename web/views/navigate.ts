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
