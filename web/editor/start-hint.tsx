/** How a person starts a task without a chat client: by the button above. */
export function StartHint() {
  return <>press “New task…”</>;
}
