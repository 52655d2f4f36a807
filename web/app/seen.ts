/** Tells whether somebody can see this page: its tab is in front, and it is not scrolled away. Until the result is called. */
export function isSeen(tell: (seen: boolean) => void): () => void {
  let isNear = true;
  const look = (): void => tell(isNear && document.visibilityState === 'visible');
  const observer = new IntersectionObserver((entries) => {
    isNear = entries.at(-1)?.isIntersecting ?? true;
    look();
  });
  observer.observe(document.documentElement);
  document.addEventListener('visibilitychange', look);
  look();
  return () => {
    observer.disconnect();
    document.removeEventListener('visibilitychange', look);
  };
}
