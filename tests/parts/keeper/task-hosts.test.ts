import { describeTaskHost } from '../../contracts/task-host.js';
import { bundleKeeper, openHost } from '../../keeper/open-host.js';

const keeper = bundleKeeper();

describeTaskHost('a keeper process', () => openHost({ kind: 'keeper', keeperEntry: keeper() }));
describeTaskHost('in process', () => openHost({ kind: 'in process', keeperEntry: keeper() }));
