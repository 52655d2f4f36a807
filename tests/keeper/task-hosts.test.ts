import { describeTaskHost } from '../contracts/task-host.js';
import { openHost } from './open-host.js';

describeTaskHost('a keeper process', () => openHost({ kind: 'keeper' }));
describeTaskHost('a spare keeper', () => openHost({ kind: 'spare keeper' }));
describeTaskHost('in process', () => openHost({ kind: 'in process' }));
