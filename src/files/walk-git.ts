import { gitWalks } from '../base/git-slots.js';
import type { Disposable } from '../base/lifecycle.js';
import { hasGitAbove, type FolderGit, type OpenGit } from './git-listing.js';

/** The ways in which git is run during one walk; they end with it. */
export class WalkGit {
  readonly #openGit: OpenGit;
  readonly #signal: AbortSignal;
  readonly #opened: Promise<FolderGit>[] = [];
  #top: Promise<FolderGit> | undefined;
  #turn: Promise<Disposable> | undefined;

  constructor(openGit: OpenGit, signal: AbortSignal) {
    this.#openGit = openGit;
    this.#signal = signal;
  }

  /** In the folder at `path`, to which `place` leads. Throws GIT_FAILED. */
  in(path: string, place: string): Promise<FolderGit> {
    const opening = this.#open(hasGitAbove(path) ? place : undefined);
    // Whoever asked for it hears of a fault.
    opening.catch(() => undefined);
    this.#opened.push(opening);
    return opening;
  }

  /** In the first folder of the walk: the same one each time. Throws GIT_FAILED. */
  inTop(path: string, place: string): Promise<FolderGit> {
    this.#top ??= this.in(path, place);
    return this.#top;
  }

  async #open(place: string | undefined): Promise<FolderGit> {
    if (place !== undefined) {
      this.#turn ??= gitWalks.take(this.#signal);
      await this.#turn;
    }
    return this.#openGit(place, this.#signal);
  }

  /** Once none of its git runs any more. */
  async dispose(): Promise<void> {
    for (const opening of await Promise.allSettled(this.#opened))
      if (opening.status === 'fulfilled') await opening.value.dispose();
    const [turn] = await Promise.allSettled([this.#turn]);
    if (turn.status === 'fulfilled') turn.value?.dispose();
  }
}
