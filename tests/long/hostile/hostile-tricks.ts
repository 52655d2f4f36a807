import { appendFile, chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitPlace } from '../../git/git-harness.js';

/** One way in which a repository makes git run a program of its choice. `program` writes the canary. */
export interface Trick {
  readonly name: string;
  /** True when plain `git status`, `diff`, `log` or `show` runs it without a terminal: the test proves that it would. */
  readonly bites?: true;
  /** The first version of git that knows it. */
  readonly since?: readonly [major: number, minor: number];
  /** True when it can be set beside others, and more than once. */
  readonly inHarmony?: true;
  set(place: GitPlace, program: string): Promise<void>;
  /** What an agent does in its worktree beside that. */
  setInWorktree?(place: GitPlace, program: string, worktree: string): Promise<void>;
}

async function config(place: GitPlace, text: string): Promise<void> {
  await appendFile(join(place.repo, '.git', 'config'), text);
}

async function attributes(place: GitPlace, line: string): Promise<void> {
  await writeFile(join(place.repo, '.git', 'info', 'attributes'), `${line}\n`);
}

async function hook(folder: string, program: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const names = [
    'post-index-change',
    'pre-commit',
    'reference-transaction',
    'fsmonitor-watchman',
    'post-checkout',
  ];
  for (const name of names) {
    const path = join(folder, name);
    await writeFile(path, `#!/bin/sh\nexec "${program}"\n`);
    await chmod(path, 0o755);
  }
}

/** All that git announces to hooks (githooks(5)). */
const EVENTS: readonly string[] = [
  'applypatch-msg',
  'commit-msg',
  'post-applypatch',
  'post-checkout',
  'post-commit',
  'post-index-change',
  'post-merge',
  'post-rewrite',
  'pre-applypatch',
  'pre-auto-gc',
  'pre-commit',
  'pre-merge-commit',
  'pre-rebase',
  'prepare-commit-msg',
  'reference-transaction',
  'sendemail-validate',
];

export const tricks: readonly Trick[] = [
  {
    name: 'hooks in its settings',
    bites: true,
    since: [2, 54],
    inHarmony: true,
    set: (place, program) =>
      config(
        place,
        EVENTS.map(
          (event) =>
            `[hook "x.${event}"]\n\tevent = ${event}\n\tcommand = ${program} ${event}\n\tenabled = true\n\tparallel = true\n` +
            `[hook "${event}"]\n\tenabled = true\n`,
        ).join(''),
      ),
  },
  {
    name: 'every kind of driver',
    bites: true,
    inHarmony: true,
    set: async (place, program) => {
      await config(
        place,
        `[core]\n\tfsmonitor = ${program}\n[diff]\n\texternal = ${program}\n` +
          `[filter "evil"]\n\tclean = ${program}\n\tsmudge = ${program}\n\tprocess = ${program}\n\trequired = true\n` +
          `[diff "evil"]\n\tcommand = ${program}\n\ttextconv = ${program}\n` +
          `[merge "evil"]\n\tdriver = ${program}\n[merge]\n\tdefault = evil\n\tautoStash = true\n\tverifySignatures = true\n`,
      );
      await attributes(place, '* filter=evil diff=evil merge=evil');
    },
  },
  {
    name: 'commands of trailers, bundles, maintenance and signatures',
    inHarmony: true,
    set: (place, program) =>
      config(
        place,
        `[trailer "x"]\n\tcommand = ${program}\n\tcmd = ${program}\n\tifMissing = add\n[trailer]\n\tifMissing = add\n` +
          `[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = ${program}\n\tformat = ssh\n[gpg "ssh"]\n\tprogram = ${program}\n\tdefaultKeyCommand = ${program}\n` +
          `[user]\n\tsigningKey = x\n[gc]\n\tauto = 1\n\trecentObjectsHook = ${program}\n[maintenance]\n\tauto = true\n` +
          `[uploadpack]\n\tpackObjectsHook = ${program}\n[fetch]\n\tbundleURI = ext::${program}\n[interactive]\n\tdiffFilter = ${program}\n`,
      ),
  },
  {
    name: 'hooks in the repository, also post-index-change',
    bites: true,
    set: (place, program) => hook(join(place.repo, '.git', 'hooks'), program),
  },
  {
    name: 'core.hooksPath',
    bites: true,
    set: async (place, program) => {
      await hook(join(place.repo, 'tools'), program);
      await config(place, '[core]\n\thooksPath = tools\n');
    },
  },
  {
    name: 'a diff driver’s command',
    bites: true,
    set: async (place, program) => {
      await config(place, `[diff "evil"]\n\tcommand = ${program}\n`);
      await place.write('.gitattributes', '* diff=evil\n');
    },
  },
  {
    name: 'textconv',
    bites: true,
    set: async (place, program) => {
      await config(place, `[diff "evil.with.dots"]\n\ttextconv = ${program}\n\tcachetextconv = true\n`);
      await attributes(place, '* diff=evil.with.dots');
    },
  },
  {
    name: 'a smudge filter',
    bites: true,
    set: async (place, program) => {
      await config(place, `[FILTER "evil"]\n\tsmudge = ${program}\n\tclean = ${program}\n`);
      await attributes(place, '* filter=evil');
    },
  },
  {
    name: 'a process filter in .gitattributes',
    bites: true,
    set: async (place, program) => {
      await config(place, `[filter "evil"]\n\tprocess = ${program}\n\trequired = true\n`);
      await place.write('.gitattributes', '* filter=evil\n');
    },
  },
  {
    name: 'a filter whose name holds a line end',
    bites: true,
    set: async (place, program) => {
      await config(place, `[filter "a.b = c"]\n\tclean = ${program}\n`);
      await attributes(place, '* "filter=a.b = c"');
      await config(place, `[filter.old]\n\tclean = ${program}\n`);
      await attributes(place, '* filter=old');
    },
  },
  {
    name: 'core.attributesFile',
    bites: true,
    set: async (place, program) => {
      await writeFile(join(place.repo, '.git', 'mine'), '* filter=evil diff=evil\n');
      await config(place, `[core]\n\tattributesFile = ${join(place.repo, '.git', 'mine')}\n`);
      await config(place, `[filter "evil"]\n\tclean = ${program}\n[diff "evil"]\n\ttextconv = ${program}\n`);
    },
  },
  {
    name: 'include.path',
    bites: true,
    inHarmony: true,
    set: async (place, program) => {
      const lines = `[core]\n\tfsmonitor = ${program}\n[filter "far"]\n\tclean = ${program}\n`;
      await writeFile(join(place.repo, '.git', 'more'), lines);
      await config(place, '[include]\n\tpath = more\n');
      await attributes(place, '* filter=far');
    },
  },
  {
    name: 'includeIf',
    bites: true,
    set: async (place, program) => {
      await writeFile(join(place.repo, '.git', 'more'), `[filter "far"]\n\tprocess = ${program}\n`);
      await config(place, '[includeIf "onbranch:main"]\n\tpath = more\n');
      await attributes(place, '* filter=far');
    },
  },
  {
    name: 'config.worktree',
    bites: true,
    set: async (place, program) => {
      await place.git('config', 'core.repositoryFormatVersion', '1');
      await config(place, '[extensions]\n\tworktreeConfig = true\n');
      const lines = `[core]\n\tfsmonitor = ${program}\n[filter "tree"]\n\tclean = ${program}\n`;
      await writeFile(join(place.repo, '.git', 'config.worktree'), lines);
      await attributes(place, '* filter=tree');
    },
  },
  {
    name: 'ssh, proxy, credential and askpass programs',
    set: (place, program) =>
      config(
        place,
        `[core]\n\tsshCommand = ${program}\n\tgitProxy = ${program}\n\taskPass = ${program}\n` +
          `[credential]\n\thelper = !${program}\n[url "ext::${program} "]\n\tinsteadOf = a\n`,
      ),
  },
  {
    name: 'pagers and editors',
    set: (place, program) =>
      config(
        place,
        `[core]\n\tpager = ${program}\n\teditor = ${program}\n[sequence]\n\teditor = ${program}\n` +
          `[pager]\n\tdiff = ${program}\n\tstatus = ${program}\n\tlog = ${program}\n\tshow = ${program}\n\tconfig = ${program}\n`,
      ),
  },
  {
    name: 'aliases of the commands',
    set: (place, program) =>
      config(
        place,
        `[alias]\n\tstatus = !${program}\n\tdiff = !${program}\n\tlog = !${program}\n\tdiff-tree = !${program}\n`,
      ),
  },
  {
    name: 'gpg.program with log.showSignature',
    set: async (place, program) => {
      await config(
        place,
        `[log]\n\tshowSignature = true\n[gpg]\n\tprogram = ${program}\n[gpg "ssh"]\n\tprogram = ${program}\n`,
      );
    },
  },
  {
    name: 'a submodule with an update command and its own fsmonitor',
    bites: true,
    set: async (place, program) => {
      await place.gitIn(place.root, 'init', '--quiet', 'sub');
      await place.gitIn(join(place.root, 'sub'), 'commit', '--quiet', '--allow-empty', '-m', 'first');
      await place.git('submodule', '--quiet', 'add', join(place.root, 'sub'), 'sub');
      await place.git('commit', '--quiet', '-m', 'a submodule');
      await appendFile(
        join(place.repo, '.git', 'modules', 'sub', 'config'),
        `[core]\n\tfsmonitor = ${program}\n[diff]\n\texternal = ${program}\n`,
      );
      await config(
        place,
        `[submodule]\n\trecurse = true\n[submodule "sub"]\n\tupdate = !${program}\n\tignore = none\n` +
          '[diff]\n\tsubmodule = diff\n\tignoreSubmodules = none\n[status]\n\tsubmoduleSummary = true\n',
      );
      await writeFile(join(place.repo, 'sub', 'new'), '');
    },
    // At the commit that is recorded: git then asks whether anything else is different in it.
    setInWorktree: async (place, program, worktree) => {
      await place.gitIn(worktree, 'clone', '--quiet', join(place.root, 'sub'), 'sub');
      await place.gitIn(join(worktree, 'sub'), 'config', 'core.fsmonitor', program);
      await writeFile(join(worktree, 'sub', 'new'), '');
    },
  },
  {
    name: 'a promised object that is fetched by a program',
    set: async (place, program) => {
      await config(
        place,
        `[core]\n\trepositoryFormatVersion = 1\n\talternateRefsCommand = ${program}\n[extensions]\n\tpartialClone = origin\n` +
          `[remote "origin"]\n\turl = ${place.repo}\n\tpromisor = true\n\tuploadpack = ${program}\n\tvcs = evil\n` +
          '[protocol]\n\tallow = always\n[protocol "file"]\n\tallow = always\n[protocol "ext"]\n\tallow = always\n',
      );
    },
  },
  {
    name: 'mailmap, order and ignore files that are links to devices',
    set: async (place) => {
      await symlink('/dev/zero', join(place.repo, '.git', 'zero'));
      const file = join(place.repo, '.git', 'zero');
      await config(
        place,
        `[mailmap]\n\tfile = ${file}\n[log]\n\tmailmap = true\n[diff]\n\torderFile = ${file}\n`,
      );
    },
  },
];
