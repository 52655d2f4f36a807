import { describeTaskHost } from '../../contracts/task-host.js';
import { bundleKeeper, openHost } from '../../keeper/open-host.js';

const keeper = bundleKeeper();

describeTaskHost('a keeper process', () => openHost({ keeperEntry: keeper() }));
