import packageFile from '../../package.json' with { type: 'json' };

/** This package's version, as the protocol, the commands and the receipts name it. */
export const VERSION: string = packageFile.version;
