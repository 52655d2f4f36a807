import { ownCommand } from '../text/own-command.js';

/** How a person starts a task without a chat client. */
export function StartHint() {
  return (
    <>
      run <code>{ownCommand('run "…"')}</code> in a project
    </>
  );
}
