/** What reads a project for its receipt: loaded while the agent runs. */
export async function loadReceiptParts() {
  const [{ ProjectSnapshots }, { gitRunner }, { AllowedRoots }] = await Promise.all([
    import('../../git/state/project-snapshots.js'),
    import('../../git/run/run-git.js'),
    import('../../projects/allowed-roots.js'),
  ]);
  return { ProjectSnapshots, gitRunner, AllowedRoots };
}
