import type { Project } from '../project.js';

export interface Release {
  readonly project: Project;
  /** The folder of the artefacts. */
  readonly folder: string;
  /** An empty folder for what a check unpacks. */
  readonly work: string;
}

/** Faults of one part of a release, each a sentence; none when it is right. */
export type Check = (release: Release) => Promise<string[]>;
