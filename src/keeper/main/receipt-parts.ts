/** What looks at a project for its receipt: loaded beside the running agent. */
export async function loadReceiptParts() {
  const [{ ProjectSnapshots }, { gitRunner }, { AllowedRoots }] = await Promise.all([
    import('../../git/state/project-snapshots.js'),
    import('../../git/run/run-git.js'),
    import('../../projects/allowed-roots.js'),
  ]);
  return { ProjectSnapshots, gitRunner, AllowedRoots };
}
