import type { Project } from '../release/project.js';
import type { Place, StartedServer } from './place.js';

export interface KindContext {
  readonly project: Project;
  /** The folder of the release. */
  readonly release: string;
  readonly place: Place;
}

/** A way in which a new user gets the bridge. */
export interface Kind {
  readonly name: string;
  /** Types what the pages say; how the client then starts the server. */
  install(context: KindContext): Promise<StartedServer>;
  /** Types what the pages say for the end. */
  uninstall(context: KindContext): Promise<void>;
}
