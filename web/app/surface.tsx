import type { ComponentChildren } from 'preact';
import { StartHint } from '../views/start-hint.js';
import { SurfaceContext, type Surface } from '../views/surface.js';
import type { Host } from './host.js';
import { Always } from './no-rules.js';
import { HostContext } from './open-board.js';
import { Plan } from './plain-plan.js';

/** In a chat: its client notifies its person, and what is about one task is in the browser. */
const chatSurface: Surface = {
  HeadActions: () => null,
  StartHint,
  Plan,
  Always,
  FileActions: () => null,
  TerminalView: () => null,
};

/** What is inside is shown by the client of a chat. */
export function ChatSurface({
  host,
  children,
}: {
  readonly host: Host;
  readonly children: ComponentChildren;
}) {
  return (
    <HostContext.Provider value={host}>
      <SurfaceContext.Provider value={chatSurface}>{children}</SurfaceContext.Provider>
    </HostContext.Provider>
  );
}
