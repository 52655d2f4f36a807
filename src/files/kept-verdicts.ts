import type { AllowedPath } from '../projects/allowed-roots.js';
import type { GitRun } from './git-listing.js';
import { JudgedFolders } from './judged-folders.js';
import { Verdicts } from './verdicts.js';
import { ruleInputs, type RuleInputs } from './rule-inputs.js';

/** Folders that are searched; the one used last comes last. */
const MAX_FOLDERS = 4;
/** Of those that were searched once. */
const MAX_SEARCHED = 64;
/** For what git may read besides all that is looked at. */
const LIFETIME_MS = 10 * 60_000;
/** Where nothing can be kept, git is not asked again why at each search. */
const RETRY_MS = 60_000;

interface Kept {
  readonly untilMs: number;
  /** Undefined where nothing can be kept. */
  readonly rules?: { readonly inputs: RuleInputs; readonly folders: JudgedFolders };
}

/**
 * What git said of files when a folder was searched, for the next search and the next page: the start of git and its work are a
 * part of each. Kept from the second search of a folder on, for who searches once may never again.
 */
export class KeptVerdicts {
  readonly #now: () => number;
  readonly #kept = new Map<AllowedPath, Kept>();
  readonly #searched = new Set<AllowedPath>();

  /** `now`: milliseconds since the epoch, as the times of files are. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Of the folder at `path`, which is on the file system `dev`; undefined where nothing is kept. Call it before git is asked. */
  async of(path: AllowedPath, dev: number, run: GitRun): Promise<Verdicts | undefined> {
    const kept = this.#kept.get(path);
    this.#kept.delete(path);
    if (kept !== undefined && this.#now() < kept.untilMs && kept.rules?.inputs.isSame() !== false) {
      this.#put(path, kept);
      return this.#begun(kept);
    }
    if (!this.#searched.has(path)) {
      if (this.#searched.size >= MAX_SEARCHED) this.#searched.clear();
      this.#searched.add(path);
      return undefined;
    }
    const nowMs = this.#now();
    const inputs = await ruleInputs(path, run, nowMs);
    const made: Kept =
      inputs === undefined
        ? { untilMs: nowMs + RETRY_MS }
        : { untilMs: nowMs + LIFETIME_MS, rules: { inputs, folders: new JudgedFolders(dev, this.#now) } };
    this.#put(path, made);
    return this.#begun(made);
  }

  #begun({ rules }: Kept): Verdicts | undefined {
    const nowMs = this.#now();
    return rules && new Verdicts(rules.folders, nowMs, rules.inputs.watched(nowMs));
  }

  #put(path: AllowedPath, kept: Kept): void {
    this.#kept.set(path, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_FOLDERS && oldest !== undefined) this.#kept.delete(oldest);
  }
}
