import type { ReceiptService } from '../../src/tasks/task-receipts.js';

/** Where a test needs the services and no receipt is there. */
export const noReceipts: ReceiptService = { receiptOf: async () => undefined };
